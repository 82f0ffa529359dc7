"""Stage 0: what a run came to, wherever its events came from and wherever its verdicts went."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mopsus.model.errors import Diagnostic, MopsusError, TraceError
from mopsus.model.unseen import Unseen


@dataclass(frozen=True, slots=True)
class ComponentCounts:
    """The events of a component, or of the group that it leads: how many of each kind."""

    component: str
    function: str | None
    """What it runs, if that is known."""
    monitored: bool
    events: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Heard:
    """What a run over logs of components has heard."""

    undecided: Mapping[str, Mapping[str, int]]
    """By spec and property, how many components had no final verdict."""
    components: tuple[ComponentCounts, ...] | None = None
    """If somebody asked."""


@dataclass(frozen=True, slots=True)
class Debugged:
    """How a program ended under a debugger, and where and why it was stopped last, if that was for good."""

    status: int | None
    """As its parent sees it: a signal's number negated; None if it was stopped."""
    reason: str = ""
    location: str | None = None
    backtrace: tuple[str, ...] = ()
    children: tuple[tuple[int, int | None, str], ...] = ()
    """Its children that were watched, too: each one's process, status and reason of its stop."""

    @property
    def stopped(self) -> bool:
        """Return whether it was stopped before its end."""
        return self.status is None and bool(self.reason)


@dataclass(slots=True)
class RunResult:
    """What a run found beside its verdicts. Every source gives one, and leaves out what it does not know."""

    sources: list[str] = field(default_factory=list)
    """Where the events came from, as verdicts name it."""
    stats: dict[str, Any] = field(default_factory=dict)
    """Each spec's own counts, as its monitor gives them: `mopsus.monitor.stats.Stats`."""
    rows: int = 0
    """Events that came. A log that is read both as rows and for its components counts twice."""
    ignored: int = 0
    """Events that no spec mentions."""
    violations: int = 0
    """Counted by sources that may stop after some number of them."""
    bad_rows: int = 0
    """Rows that were left out; one that several specs could not use counts once for each."""
    bad: list[TraceError] = field(default_factory=list)
    """The first few of them."""
    warnings: list[Diagnostic] = field(default_factory=list)
    unseen: list[Unseen] = field(default_factory=list)
    """What the run could not see, or never saw."""
    error: MopsusError | Diagnostic | None = None
    """What stopped the run early, or, as a diagnostic, how monitoring broke down; what came before was processed."""
    interrupted: bool = False
    torn: bool = False
    """It was interrupted, or left, in the midst of a block, so that the monitors may stand at different rows."""
    full: bool = False
    """The run ended because it had found as many violations as were asked for."""
    elapsed_s: float = 0.0
    program: int | None = None
    """The exit status of the program that was run, if its status is that of the command."""
    heard: Heard | None = None
    """Only of runs over logs of components."""
    debugged: Debugged | None = None
    """Only of runs under a debugger."""

    @property
    def broken_off(self) -> bool:
        """Return whether the run ended before its time. It then says why; what might still have come is not unseen."""
        return self.error is not None or self.interrupted or self.full
