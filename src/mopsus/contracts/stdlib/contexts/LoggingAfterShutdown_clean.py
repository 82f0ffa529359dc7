"""The end of logging comes last."""

import logging

logging.warning("working")
logging.warning("done")
logging.shutdown()
