"""What became of a debugging session, as plain data, for the way out of the process of a debugger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mopsus.interactive.crash import PROGRAM, was_asked
from mopsus.interactive.follow import Child
from mopsus.model import Fault, Severity, Unseen, Verdict

INTERRUPTION = "interrupted"
"""The reason of a stop that somebody asked for who does not sit at the prompt."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Where and why the program was stopped for good: by a scenario or verdict, a signal, or the developer's own
    point."""

    reason: str
    location: str | None
    backtrace: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Doubt:
    """An event that never happened, as far as can be seen, and why it may have happened all the same."""

    spec: str
    event: str
    why: str

    @property
    def text(self) -> str:
        return f"{self.spec}: event {self.event} never happened, as far as can be seen: {self.why}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of all monitors of a session."""

    verdicts: tuple[Verdict, ...] = ()
    stats: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By spec: the fields of `mopsus.monitor.Stats`."""
    status: int | None = None
    """Of the program, as its parent sees it (a signal's number negated); None: it was still there."""
    stop: Stop | None = None
    error: str | None = None
    """Why the session could not go on, if it could not."""
    warnings: Sequence[str] = ()
    faults: tuple[Fault, ...] = ()
    """Errors in the code of properties, scenarios and callbacks."""
    unseen: Sequence[Unseen] = ()
    children: Sequence[Child] = ()
    """Processes that had sessions of their own, whose findings are among these."""
    doubts: Sequence[Doubt] = ()
    started: int = 0
    """Programs that it started, which nobody watched."""

    @property
    def said(self) -> list[str]:
        """All that is to be said although it is no finding."""
        were = "programs that it started were" if self.started > 1 else "program that it started was"
        programs = [f"{self.started:,} {were} not watched"] if self.started else []
        return [*self.warnings, *(each.text for each in self.doubts), *programs]

    @property
    def was_interrupted(self) -> bool:
        """Did somebody end it, or what it had left behind, who does not sit at the prompt?"""
        if self.stop is not None and self.status is None:
            return self.stop.reason == INTERRUPTION
        return any(each.reason == INTERRUPTION for each in self.children)


def joined(program: Outcome, children: Mapping[int, Outcome]) -> Outcome:
    """The outcome of a program with those of its children, by process. What one of them has seen is seen, but what one
    of them has lost is lost."""
    found = [program, *children.values()]
    verdicts = [*program.verdicts]
    for process, outcome in children.items():
        told = f"In child process {process}."
        for each in outcome.verdicts:
            meant = each.spec == PROGRAM and was_asked(outcome.status)
            severity = Severity.WARNING if meant else each.severity
            verdicts.append(replace(each, severity=severity, remarks=(*each.remarks, told)))
    ends = [Child(process, each.status, each.stop.reason if each.stop else "") for process, each in children.items()]
    errors = [f"child process {process}: {each.error}" for process, each in children.items() if each.error is not None]
    unseen = set[Unseen].intersection(*({_unhinted(each) for each in outcome.unseen} for outcome in found))
    plain = {each for outcome in found for each in outcome.unseen if not each.hint}
    lost = dict.fromkeys(each for outcome in found for each in outcome.unseen if each.elsewhere or each.lost)
    stats = {spec: _sum([each.stats[spec] for each in found if spec in each.stats]) for spec in program.stats}
    return replace(
        program,
        verdicts=tuple(verdicts),
        stats=stats,
        warnings=tuple(dict.fromkeys([*(text for each in found for text in each.warnings), *errors])),
        unseen=tuple(
            _unhinted(each) if _unhinted(each) in plain else each
            for each in dict.fromkeys((*program.unseen, *lost))
            if each in lost or _unhinted(each) in unseen
        ),
        children=tuple(ends),
        faults=tuple(fault for each in found for fault in each.faults),
        doubts=tuple(
            doubt
            for doubt in dict.fromkeys(doubt for each in found for doubt in each.doubts)
            if not stats[doubt.spec]["seen"].get(doubt.event)
        ),
        started=sum(each.started for each in found),
    )


def _unhinted(unseen: Unseen) -> Unseen:
    """The same in whichever process: one may have looked for what another one had no need of."""
    return replace(unseen, hint="")


def _sum(stats: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Counts of one spec in several processes."""
    total: dict[str, Any] = {}
    for name in dict.fromkeys(name for each in stats for name in each):
        values = [each[name] for each in stats if name in each]
        total[name] = _sum(values) if isinstance(values[0], Mapping) else sum(values)
    return total
