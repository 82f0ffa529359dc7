"""It is tried; and what is asked about one file does not matter for another."""

import os
import tempfile

os.access(os.path.dirname(__file__), os.R_OK)
os.access(tempfile.gettempdir(), os.W_OK)
with tempfile.NamedTemporaryFile("w") as file:
    file.write("made in that folder, whose name stands for it")
try:
    with open(__file__) as file:
        file.read()
except PermissionError:
    pass
