"""Both ends of a pipe are closed, one of them twice."""

import os

reading, writing = os.pipe()
os.close(reading)
os.close(writing)
try:
    os.close(writing)  # violation
except OSError:
    pass
