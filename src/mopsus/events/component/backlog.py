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
    """An event that waits. `acted`: it is a fork, and its child is known already."""

    number: int
    occurrence: Occurrence
    acted: bool


class Backlog:
    """The waiting events by component. `limit` is how many there may be in all."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._queues: dict[Pid, deque[Waiting]] = {}
        self._ready: list[tuple[int, Pid]] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __contains__(self, component: Pid) -> bool:
        """Must an event of this component wait behind others of it?"""
        return component in self._queues

    def queues(self) -> Iterator[tuple[Pid, deque[Waiting]]]:
        """Who waits, with what, in the order of their first events."""
        yield from sorted(self._queues.items(), key=lambda item: item[1][0].number)

    def put(self, waiting: Waiting) -> list[tuple[Pid, deque[Waiting]]]:
        """Let an event wait. To make room, components may have to go: who, with what.

        Those with the most events go, until half of the room is free: so the queues are sorted once for many events.
        """
        self._queues.setdefault(waiting.occurrence.subject, deque()).append(waiting)
        self._count += 1
        gone: list[tuple[Pid, deque[Waiting]]] = []
        if self._count > self._limit:
            for component, queue in sorted(self._queues.items(), key=lambda item: -len(item[1])):
                if self._count <= self._limit // 2:
                    break
                gone.append((component, queue))
                self._count -= len(queue)
                del self._queues[component]
        return gone

    def release(self, component: Pid) -> None:
        """The events of this component can be delivered now."""
        queue = self._queues.get(component)
        if queue:
            heappush(self._ready, (queue[0].number, component))

    def take(self) -> Waiting | None:
        """The earliest event of all components released, if there is one. Say `took` when it has been delivered."""
        while self._ready:
            number, component = heappop(self._ready)
            queue = self._queues.get(component)
            if queue and queue[0].number == number:
                self._count -= 1
                # An emptied queue stays until then: what is posted meanwhile must come after this event.
                return queue.popleft()
        return None

    def took(self, component: Pid, *, more: bool) -> None:
        """Its event was delivered. Without `more` it is over, and what it still has keeps waiting."""
        queue = self._queues.get(component)
        if queue:
            if more:
                heappush(self._ready, (queue[0].number, component))
        elif queue is not None:
            del self._queues[component]
