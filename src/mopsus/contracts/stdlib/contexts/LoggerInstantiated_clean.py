"""A logger of a class of its own comes from getLogger(), too."""

import logging


class ShopLogger(logging.Logger):
    pass


logging.setLoggerClass(ShopLogger)
logging.getLogger("shop").debug("a customer")
