"""The end of logging comes last; handlers may be replaced before."""

import logging
import logging.config

logging.warning("working")
logging.config.dictConfig({"version": 1})
logging.warning("done")
logging.shutdown()
