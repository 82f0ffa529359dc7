"""It is tried; and what is asked about one file does not matter for another."""

import os

os.access(os.path.dirname(__file__), os.R_OK)
try:
    with open(__file__) as file:
        file.read()
except PermissionError:
    pass
