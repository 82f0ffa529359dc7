"""The wrapper has nothing left to write to."""

import io

text = io.TextIOWrapper(io.BytesIO())
binary = text.detach()
try:
    text.write("one")  # violation
except ValueError:
    pass
