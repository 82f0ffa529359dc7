"""Wrong by the distance from Greenwich."""

import warnings
from datetime import datetime

warnings.simplefilter("ignore")
now = datetime.utcnow()
now.timestamp()  # violation
