"""Blocks close their files."""

import os

with open(os.devnull, "w") as file:
    file.write("one")
other = open(os.devnull)
other.close()
del other
