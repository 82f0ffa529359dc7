"""Stage 4: what different processes tell, by when it happened: a send comes before the recv of its message.

Every process has a ring of its own, and its events carry the time of the machine. With envelopes, a send is in its ring
before anybody can take the message. So of whatever happened until some moment, all that it follows from is in the rings
at that moment: whoever reads them afterwards, and passes on in the order of time what happened until then, passes on
causes before their effects. What happened later waits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from heapq import heappop, heappush
from itertools import count
from typing import Protocol

from mopsus.events.component.occurrence import Occurrence
from mopsus.model.term import Pid


class Sink(Protocol):
    """Who wants to hear of the program."""

    def post(self, occurrence: Occurrence) -> None:
        """Something happened."""

    def join(self, init: Occurrence) -> None:
        """A component was there already; this is how it had begun."""

    def lose(self, components: Mapping[Pid, int]) -> None:
        """Events of these components were lost, so many of each as far as that is known (0: it is not)."""


class InOrder:
    """A sink before another one."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._waiting: list[tuple[float, int, Callable[[Occurrence], None], Occurrence]] = []
        self._numbers = count()

    def post(self, occurrence: Occurrence) -> None:
        """Something happened."""
        self._wait(self._sink.post, occurrence)

    def join(self, init: Occurrence) -> None:
        """A component was there already."""
        self._wait(self._sink.join, init)

    def lose(self, components: Mapping[Pid, int]) -> None:
        """Events were lost; nothing is gained by waiting."""
        self._sink.lose(components)

    def _wait(self, take: Callable[[Occurrence], None], occurrence: Occurrence) -> None:
        when = time.time() if occurrence.time is None else occurrence.time
        heappush(self._waiting, (when, next(self._numbers), take, occurrence))

    def release(self, until: float | None) -> None:
        """Pass on what happened until then, or everything."""
        while self._waiting and (until is None or self._waiting[0][0] <= until):
            _, _, take, occurrence = heappop(self._waiting)
            take(occurrence)
