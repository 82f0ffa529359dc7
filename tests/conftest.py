"""Random tests draw the same cases in every `make test`, so a change is judged by itself.

`MOPSUS_RANDOM=1`, which `make test-all` sets, draws others each time. How long a case takes says more about what else
the machine does than about the code, so it fails no test.
"""

from __future__ import annotations

import os
import signal

from hypothesis import HealthCheck, settings

# Who runs tests behind a shell may have these ignored, and so would all programs that tests send them to.
for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, handler)

UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

settings.register_profile("repeatable", UNTIMED, derandomize=True)
settings.register_profile("random", UNTIMED, print_blob=True)
settings.load_profile("random" if os.environ.get("MOPSUS_RANDOM") else "repeatable")
