"""A file that was opened to be read is written to."""

import os

with open(os.devnull) as file:
    try:
        file.write("one")  # violation
    except OSError:
        pass
