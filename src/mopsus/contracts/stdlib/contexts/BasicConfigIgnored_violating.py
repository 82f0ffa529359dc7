"""The first message has configured logging already."""

import logging

logging.warning("starting")
logging.basicConfig(level=logging.INFO)  # violation
