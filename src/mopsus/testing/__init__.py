"""Watching a test run against specs: what the pytest plugin does once a spec is given.

`watch` runs where tests run: it weaves, tells which test caused what, and lets tests fail. `findings` runs where
results are shown: it gathers, leaves out what the baseline accepts, and reports. Without pytest-xdist both are in one
process; with it, verdicts travel as plain data (`wire`).
"""

from mopsus.testing.start import configure, start

__all__ = ["configure", "start"]
