"""When an event happened that the agent noted: it reads the processor's own clock, which takes next to no time, and we
know how that goes with the clock on the wall."""

from __future__ import annotations

from collections.abc import Callable

from mopsus._core import Monitor
from mopsus.interactive.stepper import Clock


class Ticking:
    """The processor's clock against `elapsed`, the seconds since the program began."""

    def __init__(self, elapsed: Callable[[], float]) -> None:
        self._elapsed = elapsed
        self._first_ticks, self._first_seconds = Monitor.ticks(), elapsed()

    def now(self) -> Clock:
        """What it shows now. A tick takes as long as it has taken since we began to look."""
        ticks, seconds = Monitor.ticks(), self._elapsed()
        passed = ticks - self._first_ticks
        return Clock(ticks, seconds, (seconds - self._first_seconds) / passed if passed > 0 else 0.0)
