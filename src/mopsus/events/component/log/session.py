"""Stage 4: the monitors of a run over logs of components, fed with blocks of lines."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from mopsus.events.component.dispatch import Account, Dispatcher, Feed, Orphan, Roots
from mopsus.events.component.feed import PointcutFeed, make_feed
from mopsus.events.component.log.direct import DirectReader
from mopsus.events.component.log.events import EventReader
from mopsus.events.component.log.merge import MergedBlock
from mopsus.events.component.log.narrate import Narrator
from mopsus.events.component.log.read import LogBlock
from mopsus.events.component.log.undecided import Undecided
from mopsus.events.component.occurrence import Function, Occurrence
from mopsus.events.component.unseen import find_unseen
from mopsus.events.trace.session import Counts, OnVerdict
from mopsus.model import Spec, Unseen, Verdict
from mopsus.model.term import Pid
from mopsus.monitor import Monitor
from mopsus.spec.component import is_hml

MOST_ACCOUNTS = 100_000

OpenMonitor = Callable[[Spec, OnVerdict], Monitor]


@dataclass(frozen=True, slots=True)
class Watched:
    """One spec of a run, what monitors it, what it wants to hear, and who is undecided."""

    spec: Spec
    monitor: Monitor
    feed: Feed
    undecided: Undecided | None
    """Nothing if the spec is not one of components as a whole."""


@dataclass(frozen=True, slots=True)
class Dispatching:
    """How components become known, who hears of whom, and what is wanted beside verdicts."""

    roots: Roots = "auto"
    groups: bool = False
    replay: bool = False
    """Wait as long as `delayed by` says."""
    accounts: bool = False
    """Are the counts of each component wanted?"""
    at_end: bool = False
    """Shall the monitors be able to say how components stand at the end?"""
    tell: Callable[[str], None] | None = None
    """Hears of everything that monitors hear of."""
    is_root: Callable[[Pid], bool] | None = None
    """Who knows the whole log can say who has neither fork nor init."""


class ComponentSession:
    """Reads events from blocks, and gives them to the monitors of some specs."""

    def __init__(
        self,
        specs: Sequence[Spec],
        open_monitor: OpenMonitor,
        on_verdict: OnVerdict,
        reader: EventReader,
        dispatching: Dispatching,
    ) -> None:
        self._reader = reader
        self._dispatching = dispatching
        self._asking: list[PointcutFeed] = []
        """Those to which it matters what components run."""
        self.watched = [self._watch(spec, open_monitor, on_verdict) for spec in specs]
        self.accounts: list[Account] = []
        """Of the components that are over, if they are wanted; only so many, because a log may be endless."""
        self.dispatcher = Dispatcher(
            [each.feed for each in self.watched],
            groups=dispatching.groups,
            roots=dispatching.roots,
            on_end=self._note_end if dispatching.accounts else None,
            is_root=dispatching.is_root,
        )
        self._direct: DirectReader | None = None
        if dispatching.tell is None and all(each.undecided is not None for each in self.watched):
            monitors = [each.monitor for each in self.watched]
            self._direct = DirectReader(monitors, self.dispatcher, reader, self._post)
        self.orphans: list[Orphan] = []
        self.beginnings: Counter[str] = Counter()
        """How often each log began: more than once if it was replaced or truncated."""

    def _note_end(self, account: Account) -> None:
        if len(self.accounts) < MOST_ACCOUNTS:
            self.accounts.append(account)

    def _watch(self, spec: Spec, open_monitor: OpenMonitor, on_verdict: OnVerdict) -> Watched:
        undecided: Undecided | None = None

        def take(verdict: Verdict) -> None:
            if undecided is not None:
                undecided.decide(verdict)
            if self._dispatching.tell is not None:
                self._dispatching.tell(str(verdict))
            on_verdict(verdict)

        monitor = open_monitor(spec, take)
        feed = make_feed(spec, monitor)
        if isinstance(feed, PointcutFeed) and feed.asks:
            self._asking.append(feed)
        if is_hml(spec):
            feed = undecided = Undecided(spec, feed, keep=self._dispatching.at_end)
        if self._dispatching.tell is not None:
            feed = Narrator(spec, feed, self._dispatching.tell)
        return Watched(spec, monitor, feed, undecided)

    @property
    def rows(self) -> int:
        """Events read."""
        return self.dispatcher.posted + (self._direct.delivered if self._direct is not None else 0)

    @property
    def ignored(self) -> int:
        """Events that no monitor has heard of."""
        heard = self.dispatcher.heard + (self._direct.heard if self._direct is not None else 0)
        return self.rows - heard - self.dispatcher.waiting

    @property
    def bad_rows(self) -> int:
        """Events that a monitor could not use."""
        return sum(each.monitor.stats().bad_rows for each in self.watched)

    @property
    def stats(self) -> dict[str, Counts]:
        """The counts of each spec."""
        return {each.spec.name: each.monitor.stats() for each in self.watched}

    def feed(self, block: LogBlock | MergedBlock) -> None:
        """Let the monitors hear of every event of a block."""
        if isinstance(block, MergedBlock):
            for occurrence, delay in block.events:
                self._post(occurrence, delay)
            return
        if block.begins:
            self.beginnings[block.source] += 1
            self._reader.begin(block)
        if self._direct is not None and self._reader.text:
            self._direct.feed(block)
            return
        for occurrence, delay in self._reader.events(block):
            self._post(occurrence, delay)

    def _post(self, occurrence: Occurrence, delay: int) -> None:
        if delay and self._dispatching.replay:
            time.sleep(delay / 1000)
        self.dispatcher.post(occurrence)

    def finish(self) -> None:
        """All is read: nothing more becomes known."""
        self._reader.finish()
        if self._direct is not None:
            self._direct.finish()
        self.orphans = self.dispatcher.finish()
        if self._dispatching.accounts:
            self.accounts += self.dispatcher.accounts()

    def learn(self, find: Callable[[], Iterable[tuple[Pid, Function]]]) -> None:
        """Say beforehand what components run, if it matters to somebody: their forks may stand behind their events."""
        if self._asking:
            for component, function in find():
                for feed in self._asking:
                    feed.learn(component, function)

    def undecided(self) -> dict[str, dict[str, int]]:
        """By spec and property, how many components it is about have no final verdict."""
        return {each.spec.name: dict(each.undecided.count()) for each in self.watched if each.undecided is not None}

    def unseen(self) -> list[Unseen]:
        """What of the specs was not seen."""
        hint = "look at the modules and functions in the lines of `fork` and `init`"
        return [
            unseen
            for each in self.watched
            for unseen in find_unseen(each.spec, each.monitor.machines, each.monitor.stats().occurred, hint)
        ]

    def close(self) -> None:
        """Close the monitors."""
        self._direct = None
        for each in self.watched:
            each.monitor.close()
