"""Stage 4: components watched from within: every event is judged where it happens, before the component goes on.

It is the dispatcher without the waiting: in one process nothing is heard of a component before its fork. A component
that runs in another process is judged there, by monitors of that process.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from mopsus import _core
from mopsus.events.component import hooks
from mopsus.events.component.dispatch import Feed
from mopsus.events.component.hooks.wiring import Undo
from mopsus.events.component.identity import ELSEWHERE
from mopsus.events.component.occurrence import Function, Kind, Occurrence
from mopsus.model.term import Pid


class Inline:
    """Gives what components of this process do to feeds, from `start` to `stop`.

    With `groups`, a component that a feed does not select joins the group of its parent. With `keep`, messages of which
    it says False are left out.
    """

    def __init__(self, feeds: Sequence[Feed], *, groups: bool = False, keep: hooks.Keep | None = None) -> None:
        self._all = [feed for feed in feeds if feed.selects(None)]
        self._feeds = [feed for feed in feeds if not feed.selects(None)]
        self._groups, self._keep = groups, keep
        self._routes: dict[Pid, list[tuple[Feed, Pid]]] = {}
        """By component, who hears of it, and as whose doing."""
        self._members: dict[tuple[int, Pid], int] = {}
        """By feed and leader, how many are alive in the group."""
        self._undo: Undo | None = None

    def start(self) -> None:
        """Listen from now on."""
        subjects = None if self._all else self._routes
        self._undo = hooks.install(self.emit, keep=self._keep, subjects=subjects)

    def stop(self) -> None:
        """Listen no more. Safe to call twice."""
        undo, self._undo = self._undo, None
        if undo is not None:
            undo()

    def emit(self, kind: Kind, subject: Pid, other: Pid | None, data: object) -> None:
        """Something happened."""
        if kind is Kind.EXIT and subject in ELSEWHERE:
            return  # what it did before was judged where it was
        route = self._routes.get(subject)
        if route is None and not self._all and (kind is Kind.SEND or kind is Kind.RECV):
            return
        occurrence = Occurrence(kind, subject, other, data)
        for feed in self._all:
            feed.event(subject, occurrence)
        if kind is Kind.INIT and route is None:
            route = self._begin(subject, occurrence, [])
        for feed, component in route or ():
            feed.event(component, occurrence)
        if kind is Kind.FORK and other is not None and other not in ELSEWHERE:
            self._begin(other, occurrence, route or [])
        elif kind is Kind.EXIT:
            self._end(subject)

    def _begin(self, pid: Pid, cause: Occurrence, parent: list[tuple[Feed, Pid]]) -> list[tuple[Feed, Pid]]:
        """A component becomes known: see who hears of it."""
        function = cast(Function, cause.data)
        route = []
        for feed in self._feeds:
            if feed.selects(function):
                feed.start(pid, function, cause)
                route.append((feed, pid))
            elif self._groups:
                route += [(each, leader) for each, leader in parent if each is feed]
        for feed, leader in route:
            self._members[id(feed), leader] = self._members.get((id(feed), leader), 0) + 1
        if route or self._groups:
            self._routes[pid] = route
        return route

    def _end(self, pid: Pid) -> None:
        for feed in self._all:
            feed.end(pid)
        for feed, leader in self._routes.pop(pid, ()):
            self._members[id(feed), leader] -= 1
            if not self._members[id(feed), leader]:
                del self._members[id(feed), leader]
                feed.end(leader)


_core.hide(Inline.emit.__code__)
_core.hide(Inline._begin.__code__)
