"""Makes `strategies` importable: tests are imported by path, so their folder is on no path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
