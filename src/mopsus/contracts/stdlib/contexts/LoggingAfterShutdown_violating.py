"""The last words come too late."""

import logging

logging.warning("working")
logging.shutdown()
logging.warning("done")  # violation
