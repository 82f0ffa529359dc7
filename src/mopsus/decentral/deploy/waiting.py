"""How client and hosts wait, and what they take for silence."""

from __future__ import annotations

import asyncio
import contextlib
from time import monotonic

LONGEST_S = 0.5
"""Nobody waits longer at a time; what seems to have taken longer was a process that did not run."""


class Clock:
    """Time as this process has lived through it: while it was stopped, it could not have heard anybody."""

    def __init__(self) -> None:
        self.now = 0.0
        self._last = monotonic()

    def tick(self) -> float:
        """What time it is, at least once in each round of a loop that waits."""
        last, self._last = self._last, monotonic()
        self.now += min(self._last - last, 2 * LONGEST_S)
        return self.now


async def wait_at_most(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, but no longer."""
    # Not asyncio.wait_for: up to Python 3.11, a task that is cancelled when its time is over would go on.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(min(seconds, LONGEST_S)):
            await event.wait()
