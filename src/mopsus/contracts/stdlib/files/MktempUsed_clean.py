"""The file comes with its name."""

import os
import tempfile

number, path = tempfile.mkstemp()
os.close(number)
os.unlink(path)
