"""The clock stays as it was patched."""

import time
from unittest.mock import patch

clock = patch("time.time", return_value=0)
clock.start()  # violation
time.time()
