"""Stage 6: the report that a person reads in a terminal: each finding once, explained, then one line about the run.

rich is imported only when there is a finding to show: it costs more time than a small check.
All text reaches it as `Text`, never as markup, and after `printable`, so that no value of a
trace can colour, move or rewrite anything.
"""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mopsus.model import Severity, Verdict, WitnessEvent
from mopsus.model.result import Debugged
from mopsus.model.text import default_message, printable, short_path, show_binding, show_place, show_time, source_of
from mopsus.report.output import Output
from mopsus.report.reporter import Destination, Format, Options
from mopsus.report.summary import PRESUMED, Summary, count, fault_details, fault_line, summary_line
from mopsus.verdict import Explanation, Group, Groups

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
    from rich.text import Text

    from mopsus.model import Fault
    from mopsus.verdict import Ending, Explanation, Group

WIDTH_OF_FILES = 120
WIDTH_OF_PLACES = 36
CODE_STYLE = "green"
PLACE, FOLDED = 1, (4, 6)
"""Columns of a timeline: where a step happened, and those that may go over several lines."""
STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.NOTE: "bold cyan"}


class TerminalReporter:
    """Shows findings at the end, or with `live` as they come; ends with the summary line."""

    def __init__(self, destination: Destination, options: Options, groups: Groups | None = None) -> None:
        """`groups`: findings that are known already."""
        self._output = Output(destination)
        self._options = options
        self._groups = groups if groups is not None else Groups()

    def add(self, verdict: Verdict) -> None:
        group = self._groups.add(verdict)
        if not self._options.live or self._options.quiet:
            return
        if group.count == 1:
            self._show(self._finding(group, Summary(tuple(self._options.specs.values()))))
        else:
            self._output.write(f"{verdict.severity.value}: {default_message(verdict)} ({group.count:,} so far)\n")
        self._output.flush()

    def finish(self, summary: Summary) -> None:
        options = self._options
        if not options.quiet:
            if not options.live:
                for group in self._groups:
                    self._show(self._finding(group, summary))
            for fault in summary.faults:
                self._show(_fault(fault))
            if summary.endings is not None:
                self._show(_endings(summary.endings))
            if summary.debugged is not None and summary.debugged.stopped:
                self._output.write(_stop(summary.debugged))
        self._show_notices(summary)
        if not options.quiet or self._groups.violations or not summary.trusted or summary.faults:
            self._output.write(summary_line(summary, self._groups) + "\n")
        self._output.commit()

    def _show_notices(self, summary: Summary) -> None:
        notices = [each for each in summary.notices if not (self._options.quiet and each.warning)]
        if notices:
            from mopsus.spec.diagnostics import render_all  # a spec's parser loads it anyway, a clean run need not

            self._output.write(render_all(notices) + "\n\n")

    def _show(self, parts: Iterator[RenderableType]) -> None:
        console = self._console()
        for part in parts:
            console.print(part)
        console.print()
        text = console.file.getvalue() if isinstance(console.file, io.StringIO) else ""
        # rich pads lines to the full width; trailing blanks only get in the way of copying.
        self._output.write("\n".join(line.rstrip() for line in text.split("\n")))

    def _console(self) -> Console:
        """A console that renders to a string as the destination would want it.

        Not straight to the destination, because rich ends the process when a pipe breaks.
        """
        from rich.console import Console

        colour = self._options.colour
        terminal = self._output.stream.isatty() if colour is None else colour
        width = self._options.width or (shutil.get_terminal_size().columns if terminal else WIDTH_OF_FILES)
        return Console(
            file=io.StringIO(), force_terminal=terminal, width=width, highlight=False, markup=False, emoji=False
        )

    def _finding(self, group: Group, summary: Summary) -> Iterator[RenderableType]:
        from rich.padding import Padding
        from rich.text import Text

        key, first = group.key, group.examples[0]
        style = STYLES[group.severity]
        title = Text.assemble(
            (group.severity.value, style),
            "  ",
            (printable(key.spec), "bold"),
            (f"/{printable(key.property)}", "dim"),
            "  ",
            (printable(key.category), style),
        )
        if group.count > 1:
            title.append(f"  {count(group.count, 'time')}")
        yield title
        if doc := summary.spec(key.spec).doc:
            yield Padding(Text(printable(doc, 1000), "cyan"), (0, 0, 0, 2))
        binding, place = show_binding(first.binding), show_place(first)
        if about := "  ".join(part for part in (binding, f"at {place}" if place else "") if part):
            yield Padding(Text(about), (0, 0, 0, 2))
        explanation = self._options.explain(first)
        if explanation.code:
            yield Padding(Text(explanation.code, CODE_STYLE), (0, 0, 0, 4))
        if explanation.steps:
            yield Padding(_Timeline(explanation, style), (0, 0, 0, 2))
        for remark in explanation.remarks:
            yield Padding(Text(remark, "italic"), (0, 0, 0, 2))
        if others := _others(group):
            yield Padding(Text(others, "dim"), (0, 0, 0, 2))
        for note in self._options.notes_on(group):
            yield Padding(Text(printable(note, 1000)), (0, 0, 0, 2))


FORMAT = Format("terminal", "for people, in a terminal", ".txt", TerminalReporter)


class _Timeline:
    """The steps of an explanation: a table, or where words would be cut for that, what a step is about below it."""

    def __init__(self, explanation: Explanation, style: str) -> None:
        rows = _rows(explanation, style)
        self._used = [at for at in range(len(rows[0])) if any(row[at].plain for row in rows)]
        self._rows = rows

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = sum(max(_least(row[at], whole=at not in FOLDED) for row in self._rows) + 2 for at in self._used) - 2
        yield from [self._table()] if width <= options.max_width else self._below()

    def _table(self) -> RenderableType:
        from rich.table import Table

        table = Table.grid(padding=(0, 2, 0, 0))
        for row in self._rows:
            table.add_row(*(row[at] for at in self._used))
        for at, column in zip(self._used, table.columns, strict=True):
            column.overflow, column.no_wrap = "fold", at == PLACE
        return table

    def _below(self) -> Iterator[RenderableType]:
        from rich.padding import Padding
        from rich.text import Text

        for row in self._rows:
            yield Text("  ").join(row[at] for at in self._used if at not in FOLDED and row[at].plain)
            for cell in (row[at] for at in FOLDED):
                if cell.plain:
                    yield Padding(cell, (0, 0, 0, 5))


def _least(cell: Text, *, whole: bool) -> int:
    """How wide a cell must be at least: as its longest word, or `whole`."""
    return cell.cell_len if whole else max(map(len, cell.plain.split()), default=0)


def _rows(explanation: Explanation, style: str) -> list[tuple[Text, ...]]:
    """The cells of each step: whether it is the last, where, when, what, with which values, the state, what is said."""
    from rich.text import Text

    rows: list[tuple[Text, ...]] = []
    for step in explanation.steps:
        item = step.event
        last = step is explanation.steps[-1]
        when = show_time(item.time)
        rows.append(
            (
                Text("▶" if last else " ", style),
                Text(_step_place(item, explanation.source), "dim", no_wrap=True),
                Text(f"t={when}" if when else "", "dim"),
                Text(printable(item.event), style if last else "bold"),
                _happening(item, step.code),
                Text(f"→ {printable(step.state)}" if step.state is not None else "", "magenta"),
                Text("\n".join(step.said()), "cyan"),
            )
        )
    return rows


def _step_place(item: WitnessEvent, known: str) -> str:
    """Where a step happened. A long path is that of the finding, or near, so its last part says it, whole: what is
    folded can neither be clicked nor found again."""
    place = show_place(item, known)
    return place if len(place) <= WIDTH_OF_PLACES else place.rpartition("/")[2]


def _happening(item: WitnessEvent, code: str) -> Text:
    """The values of an event and, below, the line of code that it came from."""
    from rich.text import Text

    values = show_binding(item.binding)
    return Text.assemble(values, "\n" if values and code else "", (code, CODE_STYLE))


def _endings(endings: Sequence[Ending]) -> Iterator[RenderableType]:
    """What is presumed of the undecided, by property."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    yield Text("At the end of the trace", "bold")
    table = Table.grid(padding=(0, 2, 0, 0))
    for ending in endings:
        examples = " · ".join(shown for binding in ending.examples if (shown := show_binding(binding)))
        more = " · …" if examples and ending.count > len(ending.examples) else ""
        table.add_row(
            Text(f"{printable(ending.spec)}/{printable(ending.property)}"),
            Text(PRESUMED[ending.truth]),
            Text(count(ending.count, "instance")),
            Text(examples + more, "dim"),
        )
    yield Padding(table if endings else Text("every instance is decided"), (0, 0, 0, 2))


def _fault(fault: Fault) -> Iterator[RenderableType]:
    from rich.padding import Padding
    from rich.text import Text

    title = Text.assemble(("fault", "bold red"), "  ", (printable(fault.spec), "bold"))
    if fault.count > 1:
        title.append(f"  {count(fault.count, 'time')}")
    yield title
    yield Padding(Text(fault_line(fault)), (0, 0, 0, 2))
    for line in fault_details(fault):
        yield Padding(Text(line, "dim"), (0, 0, 0, 2))


def _stop(debugged: Debugged) -> str:
    """Why and where a program was stopped."""
    place = f" at {printable(short_path(debugged.location))}" if debugged.location else ""
    frames = "".join(f"    {printable(frame, 200)}\n" for frame in debugged.backtrace)
    return f"stopped{place}: {printable(debugged.reason, 1000)}\n{frames}\n"


def _others(group: Group) -> str:
    """The further examples of a group in one line, and how many are not shown."""
    parts = []
    for example in group.examples[1:]:
        place = show_place(example, source_of(group.examples[0]))
        parts.append(" ".join(p for p in (show_binding(example.binding), f"at {place}" if place else "") if p))
    if group.more:
        parts.append(f"{group.more:,} more")
    return f"also {' · '.join(part for part in parts if part)}" if any(parts) else ""
