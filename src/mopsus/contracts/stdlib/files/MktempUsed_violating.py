"""First the name, then the file."""

import os
import tempfile

path = tempfile.mktemp()  # violation
with open(path, "w") as file:
    file.write("one")
os.unlink(path)
