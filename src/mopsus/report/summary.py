"""Stage 6: what a report knows about the run as a whole, beside its verdicts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mopsus.model import LENIENT, Diagnostic, Fault, MopsusError, Severity, Silence, Spec, Unseen
from mopsus.model.result import Debugged, Heard
from mopsus.model.text import printable, short_path, show_place, show_signal

if TYPE_CHECKING:
    from mopsus.verdict import Ending, Groups

RATED_S, RATED_EVENTS = 1.0, 10_000
"""A smaller run spends its time on starting up, so its rate would say nothing."""

HELD, VIOLATED, UNUSABLE, BROKEN, INTERRUPTED = 0, 1, 2, 3, 130
"""The exit status of whatever monitors: nothing violated; violations; the command, its input or a spec was wrong, or
nothing could have been found; monitoring itself broke down; it was ended from outside, where the command itself knows
by which signal, and ends with 128 and the number of that."""

PRESUMED = {True: "presumably true", False: "presumably false", None: "unknown"}

NAMED = 3
"""How many specs the summary line names."""

_ABANDONED = Diagnostic(
    "FAULT-002",
    "monitoring ended at the first fault; what came later was not checked",
    hint="mend the code of the spec, or go on with --on-fault report",
)

_LINK = re.compile(r"https?://[^\s<>\"']+[^\s<>\"'.,;:!?)]")


@dataclass(frozen=True, slots=True)
class RunStats:
    """What was counted: events seen, those that no spec mentions, rows skipped as bad, and each spec's own counts."""

    events: int = 0
    ignored: int = 0
    bad_rows: int = 0
    specs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Summary:
    """The run, once it is over. `error` is what stopped it early; `started` and `elapsed_s` may be unknown."""

    specs: tuple[Spec, ...] = ()
    stats: RunStats = RunStats()
    sources: tuple[str, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    error: MopsusError | Diagnostic | None = None
    """A diagnostic says how monitoring broke down, an error what could not be used."""
    elapsed_s: float | None = None
    started: datetime | None = None
    interrupted: bool = False
    unseen: tuple[Unseen, ...] = ()
    """What the run could not see, or never saw."""
    silence: Silence = LENIENT
    """How that is taken."""
    faults: tuple[Fault, ...] = ()
    """Errors in the code of specs."""
    forgiving: bool = False
    """Do faults leave the status as it is?"""
    abandoned: bool = False
    """Did monitoring end at the first fault?"""
    suppressed: int = 0
    """Verdicts that comments or settings of the project have switched off."""
    endings: tuple[Ending, ...] | None = None
    """What is presumed of instances undecided at the end; None if nobody asked, or the run did not get there."""
    heard: Heard | None = None
    """Only of runs over logs of components."""
    debugged: Debugged | None = None
    """Only of runs under a debugger."""

    @property
    def complete(self) -> bool:
        """Did the run see all there was to see?"""
        return self.error is None and not self.interrupted

    @property
    def ended_by(self) -> MopsusError | Diagnostic | None:
        """What stopped the run early, or ended its monitoring: an error, or a fault if that was wished."""
        return self.error if self.error is not None or not self.abandoned else _ABANDONED

    @property
    def refused(self) -> tuple[Unseen, ...]:
        """What was not seen and makes the run fail."""
        return tuple(filter(self.silence.refuses, self.unseen))

    @property
    def trusted(self) -> bool:
        """Does the run say all that it was asked for? If not, no violations are no good news."""
        return self.complete and not self.refused and not (self.faults and not self.forgiving)

    @property
    def notices(self) -> tuple[Diagnostic, ...]:
        """What there is to say beside verdicts: how monitoring broke down, what was not seen, and warnings.

        An error of what was given to the run is raised, and said by whoever takes it.
        """
        broken = (self.error,) if isinstance(self.error, Diagnostic) else ()
        shown = filter(self.silence.shows, self.unseen)
        abandoned = (_ABANDONED,) if self.abandoned else ()
        return (*broken, *abandoned, *(_notice(each, self.silence) for each in shown), *self.warnings)

    def spec(self, name: str) -> Spec:
        """The spec of that name; a bare one if the run did not say."""
        return self._by_name.get(name) or Spec(name)

    @cached_property
    def _by_name(self) -> dict[str, Spec]:
        return {spec.name: spec for spec in self.specs}


def _notice(unseen: Unseen, silence: Silence) -> Diagnostic:
    code = "SEEN-002" if unseen.event is None else "SEEN-003"
    if not unseen.possible:
        code = "SEEN-001"
    elif unseen.elsewhere:
        code = "SEEN-004"
    return Diagnostic(code, unseen.message, unseen.span, hint=unseen.hint, warning=not silence.refuses(unseen))


def doc_link(spec: Spec) -> str | None:
    """The first web address in a spec's documentation line."""
    found = _LINK.search(spec.doc)
    return found[0] if found else None


def count(number: int, noun: str) -> str:
    """`1 event`, `12,000 events`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def summary_line(summary: Summary, groups: Groups) -> str:
    """The run in one line: `3 violations (1 unique) in 12 events · 1 spec · 2.0 M events/s`."""
    stats = summary.stats
    found = count(groups.violations, "violation") if groups.violations else "no violations"
    if groups.violations > groups.unique_violations:
        found += f" ({groups.unique_violations:,} unique)"
    for severity in (Severity.WARNING, Severity.NOTE):
        if groups.severities[severity]:
            found += f", {count(groups.severities[severity], severity.value)}"
    parts = [f"{found} in {count(stats.events, 'event')}", count(len(summary.specs), "spec")]
    if summary.heard and (undecided := sum(sum(each.values()) for each in summary.heard.undecided.values())):
        parts.append(f"{undecided:,} undecided")
    if stats.ignored:
        parts.append(f"{stats.ignored:,} ignored")
    if stats.bad_rows:
        parts.append(f"{count(stats.bad_rows, 'bad row')} skipped")
    if refused := list(dict.fromkeys(unseen.spec for unseen in summary.refused)):
        more = f" and {len(refused) - NAMED:,} more" if len(refused) > NAMED else ""
        parts.append(f"not seen: {', '.join(map(printable, refused[:NAMED]))}{more}")
    if faults := sum(fault.count for fault in summary.faults):
        parts.append(count(faults, "fault"))
    if summary.suppressed:
        parts.append(f"{summary.suppressed:,} suppressed")
    if rate := show_rate(summary):
        parts.append(rate)
    if summary.debugged is not None and (summary.error is None or summary.debugged.status is not None):
        parts.append(_end_of_program(summary.debugged))
        if summary.debugged.children:
            parts.append(f"{len(summary.debugged.children):,} of its children watched")
    if summary.interrupted:
        parts.append("interrupted")
    if summary.error is not None:
        parts.append(f"stopped early by {summary.error.code}")
    return " · ".join(parts)


def _end_of_program(debugged: Debugged) -> str:
    if debugged.stopped:
        return f"stopped{f' at {printable(short_path(debugged.location))}' if debugged.location else ''}"
    if debugged.status is None:
        return "the program had not ended"
    if debugged.status < 0:
        return f"the program died of {show_signal(-debugged.status)}"
    return f"the program ended with {debugged.status}"


def show_rate(summary: Summary) -> str:
    """Events per second, rounded; nothing if the run was small or its time is unknown."""
    if summary.elapsed_s is None or summary.elapsed_s < RATED_S or summary.stats.events < RATED_EVENTS:
        return ""
    rate = summary.stats.events / summary.elapsed_s
    if rate >= 1e6:
        return f"{rate / 1e6:.1f} M events/s"
    return f"{rate / 1e3:.1f} k events/s" if rate >= 1e3 else f"{rate:.0f} events/s"


def fault_line(fault: Fault) -> str:
    """A fault in one line: `condition of event next: KeyError: 'x' (iterators.mop:7)`."""
    message = f": {printable(fault.message, 500)}" if fault.message else ""
    place = f" ({printable(short_path(fault.place))})" if fault.place else ""
    return f"{printable(fault.code)}: {printable(fault.error)}{message}{place}"


def fault_details(fault: Fault) -> list[str]:
    """What else there is to say about a fault, line by line: when it happened first, and how the code came there."""
    happened = []
    if fault.event is not None:
        where = show_place(fault)
        happened = [f"first at event {printable(fault.event)}{f', {where}' if where else ''}"]
    return [*happened, *(printable(line, 500) for line in fault.traceback.splitlines())]


def finding_line(finding: MopsusError | Diagnostic) -> str:
    """A warning or error in one line: `error[TRACE-003]: … (trace.csv:7:1)`."""
    kind = "warning" if isinstance(finding, Diagnostic) and finding.warning else "error"
    line = f"{kind}[{finding.code}]: {printable(finding.message, 2000)}"
    if isinstance(finding, Diagnostic) and finding.span is not None:
        span = finding.span
        line += f" ({printable(span.file)}:{span.line}:{span.column})"
    return line
