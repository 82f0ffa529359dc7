"""Removed by hand, at the end of a block, and moved elsewhere."""

import os
import shutil
import tempfile

place = tempfile.mkdtemp()
shutil.rmtree(place)
with tempfile.TemporaryDirectory() as place:
    os.rename(tempfile.mkdtemp(), os.path.join(place, "inner"))
