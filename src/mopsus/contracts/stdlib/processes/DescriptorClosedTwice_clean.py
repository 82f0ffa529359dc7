"""Every descriptor is closed once; its number may come again."""

import os

for _ in range(2):
    reading, writing = os.pipe()
    os.close(reading)
    os.close(writing)
