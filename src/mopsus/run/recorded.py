"""Recorded traces and logs of components: a source of events.

Specs about components and specs about rows are checked together. Each file is then given to the readers that can read
it: a CSV file has rows, a log in text has components, and an object of JSON lines can be either.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mopsus.events.feeding import BlockSource
from mopsus.events.trace import Format, expand, find_lines
from mopsus.events.trace.checking import Traces
from mopsus.events.trace.sources import Source as TraceFile
from mopsus.events.trace.sources import UnreadableError, detect_format, open_source, read_pieces
from mopsus.model import TraceError
from mopsus.run.messages import RunError
from mopsus.run.source import SourceKind
from mopsus.spec.component import about_components

if TYPE_CHECKING:
    from mopsus.events.component.log.read import LogFormat
    from mopsus.events.component.log.session import Dispatching
    from mopsus.events.feeding import BlockInput, Progress
    from mopsus.events.trace.session import BadRows
    from mopsus.model import Spec

_ROWS = frozenset(Format)
_LOGS = frozenset({"text", "terms", "jsonl"})


@dataclass(frozen=True, slots=True)
class LogReading:
    """How files are to be read."""

    format: str | None = None
    """`csv`, `jsonl`, `parquet` or `arrow`, of components `text`, `jsonl` or `terms`; None: each file says it."""
    bad_rows: BadRows = "stop"
    log_format: str | None = None
    """The format string of logs that Python's `logging` wrote."""
    dispatching: Dispatching | None = None
    """How components become known."""


@dataclass(slots=True)
class _Sorted:
    """Files by what they can have."""

    rows: list[TraceFile] = field(default_factory=list)
    components: list[TraceFile] = field(default_factory=list)


class RecordedFiles(BlockSource):
    """Files, read to their end."""

    def __init__(
        self,
        specs: Iterable[Spec],
        files: Sequence[str],
        how: LogReading,
        *,
        max_violations: int | None = None,
        progress: Callable[[Progress], object] | None = None,
    ) -> None:
        about = {about_components(spec) for spec in specs}
        self._format: Format | None = None
        self._of_rows: frozenset[str] | None = frozenset()
        """The names of files that have rows; None: all."""
        if about == {True, False}:
            inputs = self._both(_sort(expand(files), how), how)
        elif about == {True}:
            inputs = [_component_logs(files, how)]
        else:
            self._of_rows = None
            inputs = [self._traces(files, how)]
        lacking = "no file is a log of components" if self._of_rows else "no file has rows"
        super().__init__(*inputs, max_violations=max_violations, progress=progress, lacking=lacking)

    def _both(self, files: _Sorted, how: LogReading) -> list[BlockInput]:
        self._of_rows = frozenset(each.name for each in files.rows)
        inputs: list[BlockInput] = []
        if files.rows:
            inputs.append(self._traces(files.rows, how))
        if files.components:
            inputs.append(_component_logs(files.components, how, shared=True))
        return inputs

    def _traces(self, files: Sequence[str | TraceFile], how: LogReading) -> Traces:
        self._format = trace_format(how.format)
        return Traces(files, format=self._format, bad_rows=how.bad_rows)

    def find_lines(self, name: str, rows: Collection[int]) -> Mapping[int, int]:
        """Find the lines on which some rows of a file stand. Of a log of components every line is a row."""
        if self._of_rows is None or name in self._of_rows:
            return find_lines(name, rows, format=self._format)
        return line_is_row(name, rows)


def _component_logs(files: Sequence[str | TraceFile], how: LogReading, *, shared: bool = False) -> BlockInput:
    from mopsus.events.component.log.checking import DEFAULT, ComponentLogs

    return ComponentLogs(
        files,
        dispatching=how.dispatching or DEFAULT,
        format=log_format(how.format),
        log_format=how.log_format,
        bad_rows=how.bad_rows,
        shared=shared,
    )


def _sort(files: Iterable[TraceFile], how: LogReading) -> _Sorted:
    found = _Sorted()
    for file in files:
        formats = _formats_of(file, how)
        if formats & _ROWS:
            found.rows.append(file)
        if formats & _LOGS:
            found.components.append(file)
    return found


def _formats_of(file: TraceFile, how: LogReading) -> frozenset[str]:
    if how.log_format is not None:
        return frozenset({"text"})
    if how.format is not None and (file.path is not None or how.format != "jsonl"):
        return frozenset({how.format})
    if file.path is None:
        hint = "name a file, or check the specs about components by themselves"
        raise TraceError("standard input can be read only once", file=file.name, hint=hint, code="TRACE-002")
    from mopsus.events.component.log.read import looks_like_log

    head = _head(file)
    if looks_like_log(head):
        return frozenset({"text"})
    try:
        return frozenset({detect_format(head, file.name)})
    except TraceError:
        return frozenset({"csv"})  # what is wrong with it is said when it is read


def _head(file: TraceFile) -> bytes:
    """The first bytes, decompressed; none if it cannot be read, which is said when its turn comes."""
    try:
        with open_source(file) as opened:
            return next(read_pieces(opened, lambda count: None)[0], b"")
    except (TraceError, UnreadableError, OSError):
        return b""


def line_is_row(name: str, rows: Collection[int]) -> dict[int, int]:
    """The lines of rows of a log of components: every line is a row."""
    return {row: row for row in rows}


def log_format(format: str | None) -> LogFormat | None:
    """The format of a log of components that was asked for."""
    from mopsus.events.component.log.read import LogFormat

    if format is None:
        return None
    if format not in list(LogFormat):
        known = ", ".join(LogFormat)
        message = f"a log of components is no {format} file"
        raise RunError(message, hint=f"its formats are {known}", code="CLI-005")
    return LogFormat(format)


def trace_format(format: str | None) -> Format | None:
    """The format of a trace that was asked for."""
    if format is None:
        return None
    if format not in list(Format):
        message = f"{format} is a format of logs of components, and no spec is about them"
        raise RunError(message, hint="use csv, jsonl, parquet or arrow", code="CLI-005")
    return Format(format)


SOURCE = SourceKind("recorded", "recorded traces, and logs of components", RecordedFiles)
