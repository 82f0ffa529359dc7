"""Random tests draw the same cases in every `make test`, so a change is judged by itself.

`MOPSUS_RANDOM=1`, which `make test-all` sets, draws others each time.
"""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True)
settings.register_profile("random", print_blob=True)
settings.load_profile("random" if os.environ.get("MOPSUS_RANDOM") else "repeatable")
