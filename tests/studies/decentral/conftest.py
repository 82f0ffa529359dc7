"""The studies are found by the folder that they are in, as `python -m studies.decentral` finds them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
