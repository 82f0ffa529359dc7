"""A line is written after the end of the block."""

import os

with open(os.devnull, "w") as file:
    file.write("one\n")
try:
    file.write("two\n")  # violation
except ValueError:
    pass
