"""As many values as places."""

import logging

logging.warning("%s of %s", 1, 2)
