"""What was started is stopped."""

import time
from unittest.mock import patch

clock = patch("time.time", return_value=0)
clock.start()
time.time()
clock.stop()
patch("time.time", return_value=0).start()
patch.stopall()
