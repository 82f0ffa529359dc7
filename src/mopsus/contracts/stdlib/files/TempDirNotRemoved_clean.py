"""Removed by hand, at the end of a block or of the program, and moved elsewhere."""

import atexit
import os
import shutil
import tempfile

atexit.register(shutil.rmtree, tempfile.mkdtemp())
place = tempfile.mkdtemp()
shutil.rmtree(place)
with tempfile.TemporaryDirectory() as place:
    os.rename(tempfile.mkdtemp(), os.path.join(place, "inner"))
