"""Stage 4: events that wait until it is known whose they are.

Each component has a queue of its own, so that an event costs the same however many others wait, and what becomes
deliverable is merged by the number of its arrival.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from heapq import heappop, heappush
from typing import NamedTuple

from mopsus.events.component.occurrence import Occurrence
from mopsus.model.term import Pid


class Waiting(NamedTuple):
    """An event that waits. `acted`: if it is a fork, its child is known already."""

    number: int
    occurrence: Occurrence
    acted: bool


class Backlog:
    """The waiting events by component. `limit` is how many there may be in all."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._queues: dict[Pid, deque[Waiting]] = {}
        self._count = 0
        self._ready: list[tuple[int, Pid]] = []

    def __len__(self) -> int:
        return self._count

    def __contains__(self, component: Pid) -> bool:
        return component in self._queues

    def components(self) -> Iterator[tuple[Pid, deque[Waiting]]]:
        """Who waits, with what, in the order of their first events."""
        yield from sorted(self._queues.items(), key=lambda item: item[1][0].number)

    def put(self, waiting: Waiting) -> list[Pid]:
        """Let an event wait; the components whose events had to go to make room for it.

        Those with the most of them go, until half of the room is free: so the order of the queues by length is
        needed once for many events.
        """
        self._queues.setdefault(waiting.occurrence.subject, deque()).append(waiting)
        self._count += 1
        gone: list[Pid] = []
        if self._count > self._limit:
            for component, queue in sorted(self._queues.items(), key=lambda item: -len(item[1])):
                if self._count <= self._limit // 2:
                    break
                gone.append(component)
                self._count -= len(queue)
                del self._queues[component]
        return gone

    def release(self, component: Pid) -> None:
        """The events of this component can be delivered now."""
        queue = self._queues.get(component)
        if queue:
            heappush(self._ready, (queue[0].number, component))

    def next_ready(self) -> Waiting | None:
        """The earliest event of the components released; `advance` or `hold` says what has become of it."""
        while self._ready:
            queue = self._queues.get(self._ready[0][1])
            if queue is not None:
                return queue[0]
            heappop(self._ready)
        return None

    def advance(self) -> None:
        """The event of `next_ready` has been delivered."""
        component = heappop(self._ready)[1]
        queue = self._queues[component]
        queue.popleft()
        self._count -= 1
        if queue:
            heappush(self._ready, (queue[0].number, component))
        else:
            del self._queues[component]

    def hold(self) -> None:
        """The component of `next_ready` is over: what it still has keeps waiting."""
        heappop(self._ready)
