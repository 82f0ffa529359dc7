"""Stage 6: what a report format is, and the registry that finds formats by name.

The built-in formats are known here by module, so that the usual run does not search the
installed packages; any other name is looked up under the entry-point group `mopsus.reports`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TextIO, TypeAlias

from mopsus.model import Machine, Spec, Verdict
from mopsus.model.limits import HISTORY, MAX_LIVE
from mopsus.plugins import Plugins
from mopsus.report.messages import ReportError
from mopsus.report.output import Output

if TYPE_CHECKING:
    from mopsus.report.summary import Summary
    from mopsus.verdict import Explanation, Group, Groups

GROUP = "mopsus.reports"
BUILT_IN = {
    "terminal": "mopsus.report.terminal",
    "json": "mopsus.report.json",
    "junit": "mopsus.report.junit",
    "sarif": "mopsus.report.sarif",
    "html": "mopsus.report.html",
}

Destination: TypeAlias = "TextIO | str | os.PathLike[str]"
FindLines: TypeAlias = "Callable[[str, Collection[int]], Mapping[int, int]]"


class Sink(Protocol):
    """Is given the verdicts of a run one by one, then the summary, once; only then is a report complete.

    Verdicts may come from several threads, but never two at a time. Memory stays bounded however many come. Both
    methods raise `ReportError` when the destination cannot be written.
    """

    def add(self, verdict: Verdict) -> None:
        """Take the next verdict."""

    def finish(self, summary: Summary) -> None:
        """Complete the report. Must be the last call."""


@dataclass(frozen=True, slots=True)
class Options:
    """What is known before the run. A format uses what concerns it."""

    specs: Mapping[str, Spec] = field(default_factory=dict)
    """By name. They may become more as the run goes on, as may the machines."""
    machines: Mapping[tuple[str, str], Machine] = field(default_factory=dict)
    """By spec and property; explanations name states if the machine is here."""
    draw: Callable[[Machine], str] | None = None
    """Draws a machine as an SVG element; nothing where that cannot be done."""
    find_lines: FindLines | None = None
    """Finds the lines on which some rows of a source stand, as far as they stand on lines; None: unknown."""
    notes: Callable[[Group], Sequence[str]] | None = None
    """Gives further lines about a finding, such as who caused it."""
    history: int = HISTORY
    """The monitors' limit on witnesses."""
    max_live: int = MAX_LIVE
    """How many live monitors a spec may have at a time; 0: any number."""
    quiet: bool = False
    """Terminal: only the summary line, and only if there is something to complain about."""
    live: bool = False
    """Terminal: show each verdict when it comes, for runs without an end."""
    colour: bool | None = None
    """Terminal: None decides by the stream."""
    width: int | None = None
    """Terminal: columns; None asks the terminal."""

    def machine(self, verdict: Verdict) -> Machine | None:
        """The machine of a verdict's property, where it is known."""
        return self.machines.get((verdict.spec, verdict.property))

    def spec(self, verdict: Verdict) -> Spec | None:
        """The spec of a verdict, where it is known."""
        return self.specs.get(verdict.spec)

    def notes_on(self, group: Group) -> Sequence[str]:
        """What else there is to say about a finding."""
        return self.notes(group) if self.notes is not None else ()

    def explain(self, verdict: Verdict) -> Explanation:
        """The verdict explained with all that is known."""
        from mopsus.verdict import explain

        return explain(verdict, self.machine(verdict), self.history, self.spec(verdict))


@dataclass(frozen=True, slots=True)
class Format:
    """A report format, registered under the entry-point group `mopsus.reports`."""

    name: str
    summary: str
    suffix: str
    """Of a file that holds such a report: `.json`."""
    make: Callable[[Destination, Options], Sink]


class GroupedReporter:
    """A reporter that keeps groups of verdicts and writes all at the end."""

    def __init__(
        self, destination: Destination, options: Options, render: Callable[[Groups, Summary, Options], str]
    ) -> None:
        from mopsus.verdict import Groups

        # Opened before the run: a path that cannot be written is better known before an hour of checking.
        self._output = Output(destination)
        self._options = options
        self._render = render
        self._groups = Groups()

    def add(self, verdict: Verdict) -> None:
        self._groups.add(verdict)

    def finish(self, summary: Summary) -> None:
        self._output.write(self._render(self._groups, summary, self._options))
        self._output.commit()


def open_report(name: str, destination: Destination, options: Options | None = None) -> Sink:
    """A reporter of that format, writing to a text stream or, all at once when it is finished, to a file."""
    return load_format(name).make(destination, options or Options())


def load_format(name: str) -> Format:
    """The format of that name, built in or installed; `ReportError` if there is none or it is broken."""
    return _FORMATS.load(name)


def format_names() -> tuple[str, ...]:
    """Every format's name: the built-in ones first, then those of installed packages."""
    return _FORMATS.names()


_FORMATS = Plugins(
    what="report format",
    kind=Format,
    group=GROUP,
    built_in=BUILT_IN,
    attribute="FORMAT",
    missing=lambda message, hint: ReportError(message, hint=hint, code="REPORT-002"),
    broken=lambda message: ReportError(message, code="REPORT-003"),
)
