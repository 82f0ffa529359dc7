"""Stage 4: the monitors of a run over logs of components, fed with blocks of lines."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mopsus.events.component.dispatch import Account, Dispatcher, Feed, Orphan, Roots
from mopsus.events.component.feed import make_feed
from mopsus.events.component.log.read import EventReader, LogBlock
from mopsus.events.trace.session import Counts, OnVerdict
from mopsus.model import Diagnostic, Spec
from mopsus.monitor import Monitor

OpenMonitor = Callable[[Spec, OnVerdict], Monitor]


@dataclass(frozen=True, slots=True)
class Watched:
    """One spec of a run, what monitors it, and what it wants to hear."""

    spec: Spec
    monitor: Monitor
    feed: Feed


@dataclass(frozen=True, slots=True)
class Dispatching:
    """How components become known, and who hears of whom."""

    roots: Roots = "auto"
    groups: bool = False
    accounts: bool = False
    """Are the counts of each component wanted?"""
    replay: bool = False
    """Wait as long as `delayed by` says."""


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
        self.watched = [_watch(spec, open_monitor, on_verdict) for spec in specs]
        self.accounts: list[Account] = []
        """Of the components that are over, if they are wanted."""
        self.dispatcher = Dispatcher(
            [each.feed for each in self.watched],
            groups=dispatching.groups,
            roots=dispatching.roots,
            on_end=self.accounts.append if dispatching.accounts else None,
        )
        self.orphans: list[Orphan] = []
        self.beginnings: dict[str, int] = {}
        """How often each log began: more than once if it was replaced or truncated."""

    @property
    def rows(self) -> int:
        """Lines read."""
        return self._reader.lines

    @property
    def ignored(self) -> int:
        """Lines without an event."""
        return self._reader.passed_over

    @property
    def bad_rows(self) -> int:
        """Events that a monitor could not use."""
        return sum(each.monitor.stats().bad_rows for each in self.watched)

    @property
    def stats(self) -> dict[str, Counts]:
        """The counts of each spec."""
        return {each.spec.name: each.monitor.stats() for each in self.watched}

    def feed(self, block: LogBlock) -> None:
        """Let the monitors hear of every event of a block."""
        if block.begins:
            self.beginnings[block.source] = self.beginnings.get(block.source, 0) + 1
        for occurrence, delay in self._reader.events(block):
            if delay and self._dispatching.replay:
                time.sleep(delay / 1000)
            self.dispatcher.post(occurrence)

    def finish(self) -> None:
        """All is read: nothing more becomes known."""
        self._reader.finish()
        self.orphans = self.dispatcher.finish()
        if self._dispatching.accounts:
            self.accounts += self.dispatcher.accounts()

    def silences(self) -> list[Diagnostic]:
        """The specs that have heard of nothing."""
        return [
            Diagnostic(
                "LOG-004",
                f"spec {each.spec.name}: no component does what it is about",
                each.spec.span,
                hint="look at the modules and functions in the lines of `fork` and `init`",
                warning=True,
            )
            for each in self.watched
            if not any(each.monitor.stats().seen.values())
        ]

    def close(self) -> None:
        """Close the monitors."""
        for each in self.watched:
            each.monitor.close()


def _watch(spec: Spec, open_monitor: OpenMonitor, on_verdict: OnVerdict) -> Watched:
    monitor = open_monitor(spec, on_verdict)
    return Watched(spec, monitor, make_feed(spec, monitor))
