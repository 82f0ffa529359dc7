"""Two places, one value."""

import logging

logging.warning("%s of %s", 1)  # violation
