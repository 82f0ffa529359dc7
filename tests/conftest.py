"""Random tests draw the same cases in every `make test`, so a change is judged by itself.

`MOPSUS_RANDOM=1`, which `make test-all` sets, draws others each time. How long a case takes says more about what else
the machine does than about the code, so it fails no test.

`MOPSUS_SHUFFLE=random`, which it sets as well, runs the files, and the tests of each, in a random order; a number
instead of `random`, as the head of such a run tells it, runs them in that order again.
"""

from __future__ import annotations

import gc
import os
import random
import signal

import pytest
from hypothesis import HealthCheck, settings

# Who runs tests behind a shell may have these ignored, and so would all programs that tests send them to.
for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, handler)

UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

settings.register_profile("repeatable", UNTIMED, derandomize=True)
settings.register_profile("random", UNTIMED, print_blob=True)
settings.load_profile("random" if os.environ.get("MOPSUS_RANDOM") else "repeatable")

if os.environ.get("MOPSUS_SHUFFLE") == "random":  # workers of a distributed run inherit the number
    os.environ["MOPSUS_SHUFFLE"] = str(random.SystemRandom().randrange(1_000_000))
ORDER = os.environ.get("MOPSUS_SHUFFLE")


def pytest_collection_finish() -> None:
    """What is there before the first test is nobody's garbage: no collection need look through it."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def little_to_collect() -> None:
    """The same for what other tests have left: a test that collects often would take minutes in a long run."""
    gc.collect()
    gc.freeze()


def pytest_report_header() -> list[str]:
    """The order, so that it can be had again."""
    return [f"order: MOPSUS_SHUFFLE={ORDER}"] if ORDER else []


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Shuffle the files, and the tests in each: what several tests of a file share is made once all the same."""
    if not ORDER:
        return
    shuffled = random.Random(ORDER)
    files: dict[str, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(str(item.path), []).append(item)
    order = sorted(files)
    shuffled.shuffle(order)
    for file in order:
        shuffled.shuffle(files[file])
    items[:] = [item for file in order for item in files[file]]
