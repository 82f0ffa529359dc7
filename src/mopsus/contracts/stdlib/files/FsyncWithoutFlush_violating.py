"""The line is still in the buffer of the file object."""

import os
import tempfile

with tempfile.NamedTemporaryFile("w") as file:
    with open(file.name, "w") as copy:
        number = copy.fileno()
        copy.write("one")
        os.fsync(number)  # violation
