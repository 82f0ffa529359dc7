"""Makes `trace_support` importable: with importlib mode pytest adds no folder to the path by itself."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
