"""Where the verdicts of a run go: reports, which are found by name, and whatever else takes verdicts and the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, TypeAlias

from mopsus.report import Options, Sink, open_report

if TYPE_CHECKING:
    from mopsus.model import Fault, Verdict
    from mopsus.report.reporter import Destination

__all__ = ["Forwarder", "Report", "Sink", "Sinks", "wanted_reports"]


class Forwarder(Protocol):
    """Sends verdicts and faults to another process, which decides about them and reports."""

    def add(self, verdict: Verdict) -> None:
        """Send a verdict."""

    def add_fault(self, fault: Fault) -> None:
        """Send that code of a spec has raised an error."""


@dataclass(frozen=True, slots=True)
class Report:
    """A report that is wanted: its format, and where it goes."""

    format: str
    destination: Destination


Reports: TypeAlias = "Sequence[Report]"


@dataclass(frozen=True, slots=True)
class Sinks:
    """The sinks that a run is to have: reports, which are opened when the specs are known, and others."""

    reports: Reports = ()
    options: Options | None = None
    """How the reports are to look."""
    others: Sequence[Sink] = field(default_factory=tuple)
    """They are given a verdict when all reports have it."""

    def open(self, known: Options) -> list[Sink]:
        """Open the reports. `known` says what is known of the specs."""
        options = replace(self.options or Options(), specs=known.specs, machines=known.machines, draw=known.draw)
        return [*(open_report(each.format, each.destination, options) for each in self.reports), *self.others]


def wanted_reports(main: str, output: Destination, files: Mapping[str, Destination | None]) -> Reports:
    """List the report that goes to `output`, and those by format that go to files."""
    return [Report(main, output), *(Report(name, path) for name, path in files.items() if path is not None)]
