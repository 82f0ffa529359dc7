"""Once is enough; twice only by force."""

import logging

logging.basicConfig(level=logging.INFO)
logging.warning("starting")
logging.basicConfig(level=logging.DEBUG, force=True)
