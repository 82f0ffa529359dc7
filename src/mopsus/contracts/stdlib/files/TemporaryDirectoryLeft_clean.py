"""A block removes its folder."""

import os
import tempfile

with tempfile.TemporaryDirectory() as folder:
    os.listdir(folder)
