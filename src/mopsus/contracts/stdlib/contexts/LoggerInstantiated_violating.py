"""A logger that nobody has configured, and nobody can find."""

import logging

logger = logging.Logger("shop")  # violation
logger.warning("nothing on the shelf")
