"""Stage 4: components watched from within: every event is judged where it happens, before the component goes on.

It is the dispatcher without the waiting: in one process nothing is heard of a component before its fork. A component
that runs in another process is judged there, by monitors of that process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from mopsus.events.component import hooks
from mopsus.events.component.codec import Codec, use_codec
from mopsus.events.component.dispatch import Feed
from mopsus.events.component.feed import HmlFeed
from mopsus.events.component.hooks.hub import Events
from mopsus.events.component.hooks.wiring import Undo, hide
from mopsus.events.component.identity import ELSEWHERE
from mopsus.events.component.occurrence import Function, Kind, Occurrence
from mopsus.model.term import Pid


class Inline:
    """Gives what components of this process do to feeds, from `start` to `stop`.

    With `groups`, a component that a feed does not select joins the group of its parent. With `keep`, messages of which
    it says False are left out; `codec` makes messages of what goes through sockets meanwhile. With `envelopes`, a send
    is heard of before the recv of its message.
    """

    def __init__(
        self,
        feeds: Sequence[Feed],
        *,
        groups: bool = False,
        keep: hooks.Keep | None = None,
        codec: Codec | None = None,
        envelopes: bool = False,
    ) -> None:
        self._all = [feed for feed in feeds if feed.selects(None)]
        self._feeds = [feed for feed in feeds if not feed.selects(None)]
        self._groups, self._keep, self._codec, self._envelopes = groups, keep, codec, envelopes
        self._codec_before: Codec | None = None
        self._routes: dict[Pid, list[_Route]] = {}
        """By component, who hears of it."""
        self._subjects: dict[Pid, Events | None] = {}
        """By component, events of monitors that hear of its messages by the shortest way; None: there is none."""
        self._members: dict[_Route, int] = {}
        """How many are alive in each group."""
        self._announced: dict[Pid, Occurrence] = {}
        """The forks of components that run in other processes, or that could not be started there."""
        self._undo: Undo | None = None

    def start(self) -> None:
        """Listen from now on."""
        if self._codec is not None:
            self._codec_before = use_codec(self._codec)
        subjects = None if self._all else self._subjects
        self._undo = hooks.install(self.emit, keep=self._keep, subjects=subjects, envelopes=self._envelopes)

    def stop(self) -> None:
        """Listen no more. Safe to call twice."""
        undo, self._undo = self._undo, None
        if undo is not None:
            undo()
            if self._codec_before is not None:
                use_codec(self._codec_before)

    def emit(self, kind: Kind, subject: Pid, other: Pid | None, data: object) -> None:
        """Something happened."""
        if kind is Kind.EXIT and subject in ELSEWHERE:
            return  # what it did before was judged where it was
        route = self._routes.get(subject)
        occurrence = Occurrence(kind, subject, other, data)
        for feed in self._all:
            feed.event(subject, occurrence)
        if kind is Kind.INIT and route is None:
            route = self._begin(subject, occurrence, [])
        elif kind is Kind.EXIT and (fork := self._announced.pop(subject, None)) is not None:
            route = self._begin(subject, fork, self._routes.get(fork.subject, []))
        for each in route or ():
            each.feed.event(each.leader, occurrence)
        if kind is Kind.FORK and other is not None:
            if other in ELSEWHERE:
                self._announced = {pid: fork for pid, fork in self._announced.items() if pid in ELSEWHERE}
                self._announced[other] = occurrence
            else:
                self._begin(other, occurrence, route or [])
        elif kind is Kind.EXIT:
            self._end(subject)

    def _begin(self, pid: Pid, cause: Occurrence, parent: list[_Route]) -> list[_Route]:
        """A component becomes known: see who hears of it."""
        function = cast(Function, cause.data)
        route = []
        for feed in self._feeds:
            if feed.selects(function):
                feed.start(pid, function, cause)
                route.append(_Route(feed, pid))
            elif self._groups:
                route += [each for each in parent if each.feed is feed]
        for each in route:
            self._members[each] = self._members.get(each, 0) + 1
        if route:
            self._routes[pid] = route
            self._subjects[pid] = self._events(route)
        return route

    def _events(self, route: list[_Route]) -> Events | None:
        """The shortest way for messages."""
        if self._keep is not None or not all(isinstance(each.feed, HmlFeed) for each in route):
            return None
        return tuple((*cast(HmlFeed, each.feed).quick, str(each.leader)) for each in route)

    def _end(self, pid: Pid) -> None:
        for feed in self._all:
            feed.end(pid)
        self._subjects.pop(pid, None)
        for each in self._routes.pop(pid, ()):
            self._members[each] -= 1
            if not self._members[each]:
                del self._members[each]
                each.feed.end(each.leader)


@dataclass(frozen=True, slots=True, eq=False)
class _Route:
    """A feed that hears of a component, as the doing of the leader of its group."""

    feed: Feed
    leader: Pid


hide(Inline.emit, Inline._begin)
