"""A place that tell() has given, the beginning and the end."""

import os
import tempfile

with tempfile.TemporaryFile("w+", encoding="utf-8") as file:
    file.write("äpfel\n")
    here = file.tell()
    file.seek(0)
    file.seek(here)
    file.seek(0, os.SEEK_END)
