"""First flush, then fsync."""

import os
import tempfile

with tempfile.NamedTemporaryFile("w") as file:
    with open(file.name, "w") as copy:
        number = copy.fileno()
        copy.write("one")
        copy.flush()
        os.fsync(number)
