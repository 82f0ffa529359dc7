"""Opened for both, used for both."""

import tempfile

with tempfile.TemporaryFile("w+") as file:
    file.write("one")
    file.seek(0)
    file.read()
