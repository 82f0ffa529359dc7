"""Stage 4: the dispatcher: which component an event belongs to, and which properties want to hear of it.

It is the same one whether components are watched where they run, from another process, or from their log; so the
verdicts are the same. A component becomes known by the fork that makes it. What it does may be heard of before that
fork, because different threads, processes or files report it; then it waits until the fork has come.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias, cast

from mopsus.events.component.backlog import Backlog, Waiting
from mopsus.events.component.occurrence import Function, Kind, Occurrence
from mopsus.model.term import Pid

LIMIT = 200_000
"""How many events may wait, and how many components that are over are remembered where forks do not tell who is new."""
RECENT = 1_000
"""How many are remembered where forks do: they only serve to say of late events that they are late."""

Roots: TypeAlias = "Literal['auto'] | Iterable[Pid] | None"
Reason: TypeAlias = Literal["never forked", "no init", "after its exit", "too many waiting"]


class Feed(Protocol):
    """What one spec wants to hear of components. It is called from one thread at a time."""

    def selects(self, function: Function | None) -> bool:
        """Are components that run this function monitored?

        None is a component of which it is not known what it runs. A feed that selects it hears of every event in the
        order in which they are posted, whoever did it, with the subject as the component, and of no `start`.
        """

    def start(self, component: Pid, function: Function, cause: Occurrence) -> None:
        """A component is monitored from now on, by its fork or init; nothing that it did has been given yet."""

    def event(self, component: Pid, occurrence: Occurrence) -> None:
        """Something happened in a component, or in a member of the group that it leads."""

    def end(self, component: Pid) -> None:
        """The component, or the last member of its group, is over."""


@dataclass(slots=True)
class Account:
    """What was delivered of a component, or, with groups, of all in its group."""

    component: Pid
    """The leader of the group."""
    function: Function | None
    """What it runs, if that is known."""
    selected: bool
    """Does some spec monitor it?"""
    events: Counter[Kind] = field(default_factory=Counter)
    alive: int = 0
    """How many members are not over."""


@dataclass(frozen=True, slots=True)
class Orphan:
    """A component some of whose events reached no monitor, though they might have been meant for one."""

    component: Pid
    events: int
    first: Occurrence | None
    """The first of these events, if it was kept."""
    reason: Reason


@dataclass(slots=True)
class _Lost:
    """What is known of a component whose events were not all kept."""

    events: int
    forked: bool = False
    """Did its fork come? Else it may be a root, of which nobody wants to hear."""
    forks: bool = False


@dataclass(slots=True)
class _Component:
    account: Account
    leaders: list[Pid | None]
    """By feed, whose monitor hears of this component."""
    forked: bool
    """Has its fork come, or will none come? If not, it has made itself known by its init."""


class Dispatcher:
    """Gives what components do to the feeds, in order.

    `roots` are the components that are there from the beginning; of them it is not known what they run, unless they
    have an init. With "auto", a component becomes known by its fork or its init, whichever comes first, and those that
    have neither are the roots. None is for logs without forks: every component is a root. Who knows the whole log can
    say by `is_root` who has neither, so that nobody has to wait for its end.

    With `groups`, a component that a feed does not select joins the group of its parent, and the monitor of the
    group's leader hears of it, as in detectEr. Without, it is not monitored.

    Of each component, the events are delivered in the order in which they were posted, after the fork that made it, and
    none twice. Those of different components come in the order in which they were posted as far as they could be
    delivered. A component of which not every event could be kept is not monitored.
    """

    def __init__(
        self,
        feeds: Sequence[Feed],
        *,
        groups: bool = False,
        roots: Roots = "auto",
        limit: int = LIMIT,
        on_end: Callable[[Account], None] | None = None,
        is_root: Callable[[Pid], bool] | None = None,
    ) -> None:
        if groups and roots is None:
            raise ValueError("groups follow forks, so there must be some")
        self._feeds = [feed for feed in feeds if not feed.selects(None)]
        self._unselective = [feed for feed in feeds if feed.selects(None)]
        self._groups = groups
        self._forkless = roots is None
        self._auto = roots == "auto"
        self._eager = self._auto and not groups
        """Does a component become known by whatever says what it runs, even if its parent is not known?"""
        self._limit = limit
        self._on_end = on_end
        self._is_root = is_root if self._eager else None
        self._known: dict[Pid, _Component] = {}
        self._memory = limit if self._forkless or not self._feeds or self._is_root is not None else min(RECENT, limit)
        self._over: OrderedDict[Pid, None] = OrderedDict()
        """Those that are over, and whose forks have come; as many as are remembered."""
        self._over_unforked: OrderedDict[Pid, None] = OrderedDict()
        """Those that are over, and made themselves known by their init: their forks may come."""
        self._lost: dict[Pid, _Lost] = {}
        """Those of which not every event was kept."""
        self._orphans: list[Orphan] = []
        self._members: list[Counter[Pid]] = [Counter() for _ in self._feeds]
        """By feed, how many members are alive in the group of each leader."""
        self._backlog = Backlog(limit)
        self._draining = False
        self.posted = 0
        self.heard = 0
        """How many events some feed has heard of."""
        if roots is not None and roots != "auto":
            for root in roots:
                self._make_root(Pid(root))

    def post(self, occurrence: Occurrence) -> None:
        """Something happened. Threads must take turns to post; a feed may post while it is called."""
        self.posted += 1
        subject = occurrence.subject
        self.heard += bool(self._unselective)
        for feed in self._unselective:
            feed.event(subject, occurrence)
            if occurrence.kind is Kind.EXIT:
                feed.end(subject)
        component = self._known.get(subject) or self._recognise(occurrence)
        if component is None or subject in self._backlog:
            self._wait(occurrence)
        else:
            self._deliver(component, occurrence, acted=False)
        if len(self._backlog):
            self._drain()

    def finish(self) -> list[Orphan]:
        """Nothing more will come. Those that no fork made are roots; what is then still undelivered is told."""
        if not self._feeds:
            return []
        if self._auto:
            self._find_roots()
            self._drain()
        for pid, component in self._known.items():
            self._note_nameless(pid, component)
        for pid, queue in self._backlog.queues():
            reason: Reason = "after its exit" if self._is_over(pid) else "never forked"
            self._orphans.append(Orphan(pid, len(queue), queue[0].occurrence, reason))
        for pid, lost in self._lost.items():
            if lost.forked or not lost.forks:
                reason = "too many waiting" if lost.forked or not self._auto else "never forked"
                self._orphans.append(Orphan(pid, lost.events, None, reason))
        return self._orphans

    def leaders(self, component: Pid) -> list[str | None] | None:
        """By feed, whose monitor hears of what a component sends and receives, if that can be delivered at once.

        It stays so until the component's init or exit is posted.
        """
        known = self._known.get(component)
        return None if known is None or component in self._backlog or self._unselective else list(known.leaders)

    def is_named(self, component: Pid) -> bool:
        """Is it known what a component that is known runs, so that its init says nothing new?"""
        return self._groups or self._known[component].account.function is not None

    def credit(self, component: Pid, events: Mapping[Kind, int]) -> None:
        """Somebody else has delivered events of a component that is known."""
        known = self._known.get(component)
        if known is not None:
            known.account.events.update(events)

    def accounts(self) -> list[Account]:
        """The accounts of the components, or groups, that are not over."""
        return list({id(each.account): each.account for each in self._known.values()}.values())

    @property
    def waiting(self) -> int:
        """How many events wait for a fork."""
        return len(self._backlog)

    # ---- who is known ----

    def _is_over(self, pid: Pid) -> bool:
        return pid in self._over or pid in self._over_unforked

    def _make_root(self, pid: Pid) -> _Component:
        """Make a component known of which it is not known what it runs."""
        component = _Component(Account(pid, None, False, alive=1), [None] * len(self._feeds), forked=True)
        self._known[pid] = component
        return component

    def _find_roots(self) -> None:
        """Whoever waits and is not made by a fork that waits is a root; one that forks nobody is hardly meant to be."""
        queues = list(self._backlog.queues())
        forks = {
            pid: [each.occurrence.other for each in queue if each.occurrence.kind is Kind.FORK] for pid, queue in queues
        }
        forked = {child for children in forks.values() for child in children}
        for pid, queue in queues:
            if pid not in forked and not self._is_over(pid):
                self._make_root(pid)
                self._backlog.release(pid)
                if not forks[pid]:
                    self._orphans.append(Orphan(pid, len(queue), queue[0].occurrence, "never forked"))

    def _recognise(self, occurrence: Occurrence) -> _Component | None:
        """A component that becomes known by this event of its own."""
        subject = occurrence.subject
        if subject in self._lost or subject in self._backlog:
            return None
        # Where nobody selects components, nothing is gained by waiting.
        if (self._forkless or not self._feeds) and not self._is_over(subject):
            return self._make_root(subject)
        if self._is_root is not None and self._is_root(subject) and not self._is_over(subject):
            return self._make_root(subject)
        if self._eager and occurrence.kind is Kind.INIT:
            component = self._make_root(subject)
            component.forked = False
            return component
        return None

    def _introduce(self, parent: _Component | None, fork: Occurrence) -> None:
        """A component becomes known by its fork."""
        child = cast(Pid, fork.other)
        if self._forkless:
            return
        if child in self._lost:
            self._lost[child].forked = True
            return
        known = self._known.get(child)
        if known is not None:
            known.forked = True
            if not self._feeds:
                known.account.function = cast(Function, fork.data)
        elif child in self._over_unforked:  # it made itself known by its init
            del self._over_unforked[child]
            _remember(self._over, child, self._memory)
        else:
            component = self._make_root(child)
            if self._groups and parent is not None:
                component.leaders = list(parent.leaders)
            self._begin(child, component, fork, parent)
            self._backlog.release(child)

    def _begin(self, pid: Pid, component: _Component, cause: Occurrence, parent: _Component | None) -> None:
        """It is known now what a component runs: see who monitors it."""
        function = cast(Function, cause.data)
        selecting = [number for number, feed in enumerate(self._feeds) if feed.selects(function)]
        if selecting or parent is None or not self._groups:
            component.account.function, component.account.selected = function, bool(selecting)
        else:
            component.account = parent.account
            component.account.alive += 1
        for number in selecting:
            component.leaders[number] = pid
            self._feeds[number].start(pid, function, cause)
        for members, leader in zip(self._members, component.leaders, strict=True):
            if leader is not None:
                members[leader] += 1

    # ---- delivery ----

    def _wait(self, occurrence: Occurrence) -> None:
        subject, acted = occurrence.subject, self._eager and occurrence.kind is Kind.FORK
        if acted:
            self._introduce(None, occurrence)
        lost = self._lost.get(subject)
        if lost is not None:
            lost.events += 1
            lost.forks = lost.forks or occurrence.kind is Kind.FORK
            return
        for pid, queue in self._backlog.put(Waiting(self.posted, occurrence, acted)):
            forks = any(each.occurrence.kind is Kind.FORK for each in queue)
            self._lost[pid] = _Lost(len(queue), pid in self._known, forks)
            if pid in self._known:
                self._known[pid].leaders = [None] * len(self._feeds)

    def _drain(self) -> None:
        """Deliver what has become deliverable."""
        if self._draining:
            return
        self._draining = True
        try:
            while (waiting := self._backlog.take()) is not None:
                subject = waiting.occurrence.subject
                self._deliver(self._known[subject], waiting.occurrence, waiting.acted)
                self._backlog.took(subject, more=subject in self._known)
        finally:
            self._draining = False

    def _deliver(self, component: _Component, occurrence: Occurrence, acted: bool) -> None:
        kind, subject = occurrence.kind, occurrence.subject
        if kind is Kind.INIT and component.account.function is None and not self._groups:
            self._begin(subject, component, occurrence, None)
        component.account.events[kind] += 1
        heard = False
        for feed, leader in zip(self._feeds, component.leaders, strict=True):
            if leader is not None:
                heard = True
                feed.event(leader, occurrence)
        self.heard += heard and not self._unselective
        if kind is Kind.FORK and not acted:
            self._introduce(component, occurrence)
        elif kind is Kind.EXIT:
            self._end(subject, component)

    def _end(self, subject: Pid, component: _Component) -> None:
        self._known.pop(subject, None)
        if component.forked:
            _remember(self._over, subject, self._memory)
        else:
            _remember(self._over_unforked, subject, self._limit)
        self._note_nameless(subject, component)
        for feed, members, leader in zip(self._feeds, self._members, component.leaders, strict=True):
            if leader is not None:
                members[leader] -= 1
                if not members[leader]:
                    del members[leader]
                    feed.end(leader)
        component.account.alive -= 1
        if not component.account.alive and self._on_end is not None:
            self._on_end(component.account)

    def _note_nameless(self, pid: Pid, component: _Component) -> None:
        """A component of which nobody says what it runs cannot be monitored. One that forks others may be a root."""
        account = component.account
        if account.function is not None or len(self._orphans) >= self._limit:
            return
        if self._forkless:
            self._orphans.append(Orphan(pid, account.events.total(), None, "no init"))
        elif self._is_root is not None and not account.events[Kind.FORK]:
            self._orphans.append(Orphan(pid, account.events.total(), None, "never forked"))


def _remember(over: OrderedDict[Pid, None], pid: Pid, most: int) -> None:
    """Add one to those that are over, and forget the oldest of too many."""
    over[pid] = None
    if len(over) > most:
        over.popitem(last=False)
