"""Stage 4: the monitors of a run, fed with batches: every spec sees every row, in one pass.

All specs stop at the same row: when one of them cannot use a row, none sees a later one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import reduce
from typing import Any, Literal, Protocol, TypeAlias

from mopsus._core import Columns
from mopsus.events.trace import masks
from mopsus.events.trace.arrow import Array, Table, require
from mopsus.events.trace.batches import ROW, TraceBatch, plain_batch
from mopsus.events.trace.needs import EVENT, LOCATION, RELEASE, THREAD, TIME, needs_of
from mopsus.events.trace.recognise import Recogniser, TraceEvent, rows_of
from mopsus.events.trace.rows import Rows
from mopsus.events.trace.survey import Survey
from mopsus.model import Scalar, Spec, TraceError, Unseen, Verdict
from mopsus.model.text import show_value
from mopsus.model.unseen import with_conditions

BadRows: TypeAlias = Literal["stop", "skip"]


class Counts(Protocol):
    """What a run asks of a monitor's statistics."""

    @property
    def bad_rows(self) -> int: ...

    @property
    def seen(self) -> Mapping[str, int]: ...

    @property
    def occurred(self) -> Mapping[str, int]: ...


class TraceMonitor(Protocol):
    """What a run asks of a monitor; `mopsus.monitor.Monitor` is one."""

    def run(self, data: Columns | Table, *, source: str, first_row: int, bad_rows: BadRows) -> None: ...

    def row(
        self,
        event: str,
        values: Mapping[str, Scalar],
        *,
        time: int | float | None,
        thread: Scalar,
        location: str | None,
        source: str,
        row: int | None,
    ) -> None: ...

    def stats(self) -> Counts: ...

    def snapshot(self) -> dict[str, Any]: ...

    def restore(self, data: Mapping[str, Any], /) -> None: ...

    def close(self) -> None: ...


OnVerdict: TypeAlias = "Callable[[Verdict], None]"
OpenMonitor: TypeAlias = "Callable[[Spec, OnVerdict], TraceMonitor]"

_SAME_WORD = 0.8
"""How much two names have in common, as `difflib` sees it, if one is likely to be the other."""


@dataclass(slots=True)
class Watcher:
    """One spec of a run: how its events are found, and what monitors them."""

    spec: Spec
    monitor: TraceMonitor
    recogniser: Recogniser
    bad_rows: int = 0
    parameters: Mapping[str, tuple[str, ...]] = field(init=False)

    def __post_init__(self) -> None:
        self.parameters = {event.name: event.parameters for event in self.spec.events}

    def lacks(self, batch: TraceBatch, row: int | None, event: str, parameter: str) -> TraceError:
        """The error for a row that has no value for what its event needs, in the words of the trace."""
        column = self.recogniser.column(event, parameter)
        if column in batch.absent:
            message = f"there is no column `{column}`, which event `{event}` needs"
            hint = "add it, or name it by `bind`"
        else:
            where = "" if column == parameter else f", which is `{column}`"
            message = f"event `{event}` has no value for `{parameter}`{where}"
            hint = "give one, or leave such rows out with `--bad-rows skip`"
        return TraceError(message, file=batch.source, row=row, column=column, hint=hint)


class Sorter:
    """Passes verdicts on; those of several specs about one batch in the order of its rows.

    A batch that gives more than `MOST` of them gives the further ones as they come, because memory must stay bounded.
    """

    MOST = 1000

    def __init__(self, pass_on: OnVerdict) -> None:
        self._pass_on = pass_on
        self._kept: list[Verdict] | None = None

    def take(self, verdict: Verdict) -> None:
        if self._kept is None:
            self._pass_on(verdict)
            return
        self._kept.append(verdict)
        if len(self._kept) >= self.MOST:
            self._give_out()

    @contextmanager
    def sorting(self, wanted: bool) -> Iterator[None]:
        """Within it, one batch is monitored."""
        self._kept = [] if wanted else None
        try:
            yield
        finally:
            self._give_out()

    def _give_out(self) -> None:
        kept, self._kept = self._kept or [], None
        for verdict in sorted(kept, key=lambda verdict: verdict.row or 0):
            self._pass_on(verdict)


class Session:
    """Feeds batches to the monitors of some specs."""

    def __init__(
        self, specs: Sequence[Spec], open_monitor: OpenMonitor, on_verdict: OnVerdict, bad_rows: BadRows
    ) -> None:
        nameless = not needs_of(specs).named_only
        self._sorter = Sorter(on_verdict)
        self.watchers = [
            Watcher(spec, open_monitor(spec, self._sorter.take), Recogniser(spec, nameless=nameless)) for spec in specs
        ]
        self.rows = 0
        self.ignored = 0
        """Rows that are no event of any spec."""
        self._bad_rows = bad_rows
        self._names: list[str] = []
        """Some of the event names that occur, for messages."""
        self._first: TraceBatch | None = None

    def close(self) -> None:
        """Close the monitors."""
        for watcher in self.watchers:
            watcher.monitor.close()

    def snapshot(self) -> dict[str, Any]:
        """Where all monitors stand, as plain data."""
        return {watcher.spec.name: watcher.monitor.snapshot() for watcher in self.watchers}

    def restore(self, data: Mapping[str, Any]) -> None:
        """Take over what `snapshot` gave, before the first batch."""
        for watcher in self.watchers:
            watcher.monitor.restore(data[watcher.spec.name])

    @property
    def bad_rows(self) -> int:
        """Rows left out because some spec could not use them, counted once for each such spec."""
        return sum(watcher.bad_rows + watcher.monitor.stats().bad_rows for watcher in self.watchers)

    @property
    def stats(self) -> dict[str, Counts]:
        """The counts of each spec."""
        return {watcher.spec.name: watcher.monitor.stats() for watcher in self.watchers}

    def unseen(self, survey: Survey, left_out: Mapping[str, TraceError]) -> list[Unseen]:
        """What of the specs could not be seen in the traces that were surveyed, or never was.

        `left_out` are the traces no row of which could be used.
        """
        counts = self.stats
        found = (
            each
            for watcher in self.watchers
            for each in survey.unseen(watcher.spec, counts[watcher.spec.name].occurred, self._example, left_out)
        )
        return with_conditions(map(self._with_spelling, found), counts)

    def _with_spelling(self, unseen: Unseen) -> Unseen:
        """An event that never occurred may be one of those that no spec mentions, in another spelling."""
        if unseen.event is None or unseen.reason or not unseen.possible:
            return unseen
        known = {name for watcher in self.watchers for name in watcher.recogniser.names}
        others = [name for name in self._names if name not in known]
        near = get_close_matches(unseen.event, others, n=1, cutoff=_SAME_WORD)
        return replace(unseen, reason=f"did you mean `{near[0]}`, which no spec mentions?") if near else unseen

    def _example(self) -> str:
        """What came instead of events that were looked for."""
        shown = ", ".join(f"`{name}`" for name in self._names[:8]) + (", …" if len(self._names) > 8 else "")
        if shown:
            return f"the events of the trace are {shown}"
        return "" if self._first is None else _first_row(self._first)

    def feed(self, batch: TraceBatch) -> None:
        """Let every monitor see the rows of a batch.

        `TraceError` at a row that a spec cannot use, when bad rows stop the run; no monitor has then seen that
        row or a later one.
        """
        self._names = self._names or _event_names(batch)
        self._first = self._first or batch
        if isinstance(batch.data, Columns) and self._as_they_are(batch, batch.data):
            self._feed_columns(batch, batch.data)
            return
        batch = plain_batch(batch)
        if isinstance(batch.data, Rows):
            self._feed_rows(batch, batch.data)
        else:
            self._feed_table(batch)

    def _as_they_are(self, batch: TraceBatch, columns: Columns) -> bool:
        """Can every monitor take the columns as they are, and all stop at the same row?"""
        if not all(watcher.recogniser.takes(columns) for watcher in self.watchers):
            return False
        complete = not batch.absent and not any(map(columns.null_count, columns.column_names))
        return complete or len(self.watchers) == 1 or self._bad_rows == "skip"

    def _feed_columns(self, batch: TraceBatch, columns: Columns) -> None:
        error = self._run(batch, [columns] * len(self.watchers))
        rows = columns.num_rows if error is None else (error.row or batch.first_row) - batch.first_row
        self.rows += rows
        self.ignored += rows - columns.count(EVENT, _names([watcher.recogniser for watcher in self.watchers]), rows)
        if error is not None:
            raise error

    def _feed_table(self, batch: TraceBatch) -> None:
        tables = [watcher.recogniser.table(batch) for watcher in self.watchers]
        error = self._first_incomplete(batch, tables) if self._bad_rows == "stop" and len(tables) > 1 else None
        if error is not None:
            tables = [_rows_before(table, batch, error.row or 0) for table in tables]
        if self._bad_rows == "skip":
            tables = [_without_incomplete(watcher, table) for watcher, table in zip(self.watchers, tables, strict=True)]
        failure = self._run(batch, tables)
        if failure is not None and error is None:  # said by a monitor, which knows nothing of columns
            lacking = self._first_incomplete(batch, tables)
            failure = lacking if lacking is not None and lacking.row == failure.row else failure
        error = failure or error
        table: Table = batch.data
        if error is not None:
            table = _rows_before(table, batch, error.row or batch.first_row)
        self.rows += table.num_rows
        self.ignored += table.num_rows - count_used(table, [watcher.recogniser for watcher in self.watchers])
        if error is not None:
            raise error

    def _run(self, batch: TraceBatch, data: Sequence[Columns | Table]) -> TraceError | None:
        """Give each monitor its data; what is wrong with a row, if something is."""
        with self._sorter.sorting(len(data) > 1):
            try:
                for watcher, part in zip(self.watchers, data, strict=True):
                    watcher.monitor.run(part, source=batch.source, first_row=batch.first_row, bad_rows=self._bad_rows)
            except TraceError as failure:
                return failure
        return None

    def _first_incomplete(self, batch: TraceBatch, tables: Sequence[Table]) -> TraceError | None:
        """The first row that lacks a value which one of the specs needs."""
        pc = require("pyarrow.compute", "an Arrow table")
        first: TraceError | None = None
        for watcher, table in zip(self.watchers, tables, strict=True):
            for event, name, lacking in _lacking(watcher, table):
                at = pc.index(lacking, True).as_py()
                if at >= 0 and (first is None or _number(table, batch, at) < (first.row or 0)):
                    first = watcher.lacks(batch, _number(table, batch, at), event, name)
        return first

    def _feed_rows(self, batch: TraceBatch, rows: Rows) -> None:
        numbers = batch.numbers or range(batch.first_row, batch.first_row + len(rows))
        for number, row in zip(numbers, rows_of(rows), strict=True):
            found = [list(watcher.recogniser.events(row)) for watcher in self.watchers]
            errors = [
                _incomplete(watcher, batch, number, events)
                for watcher, events in zip(self.watchers, found, strict=True)
            ]
            if self._bad_rows == "stop":
                for first in filter(None, errors):
                    raise first
            for watcher, events, error in zip(self.watchers, found, errors, strict=True):
                watcher.bad_rows += error is not None
                if error is None:
                    self._feed_row(watcher, events, row, batch.source, number)
            self.rows += 1
            self.ignored += not any(found)

    @staticmethod
    def _feed_row(
        watcher: Watcher, events: Sequence[TraceEvent], row: Mapping[str, Scalar], source: str, number: int
    ) -> None:
        location, time = row.get(LOCATION), row.get(TIME)
        for event in events:
            watcher.monitor.row(
                event.name,
                event.values,
                time=time if isinstance(time, int | float) and not isinstance(time, bool) else None,
                thread=row.get(THREAD),
                location=location if isinstance(location, str) else None,
                source=source,
                row=number,
            )


def count_used(table: Table, recognisers: Sequence[Recogniser]) -> int:
    """How many rows are an event of some spec."""
    if all(recogniser.plain for recogniser in recognisers):
        return masks.count_names(table, _names(recognisers))
    pc = require("pyarrow.compute", "an Arrow table")
    used = reduce(pc.or_, (recogniser.mask(table) for recogniser in recognisers))
    return int(pc.sum(used).as_py() or 0)


def _names(recognisers: Sequence[Recogniser]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for recogniser in recognisers for name in recogniser.names))


def _lacking(watcher: Watcher, table: Table) -> Iterator[tuple[str, str, Array]]:
    """For each event and parameter that some row may lack: which of the rows do."""
    pc = require("pyarrow.compute", "an Arrow table")
    for event, parameters in watcher.parameters.items():
        for name in parameters:
            if name in table.column_names and not table.column(name).null_count:
                continue
            lacking = masks.has_name(table, (event,))
            if name in table.column_names:
                lacking = pc.and_(lacking, pc.is_null(masks.plain_array(table.column(name))))
            yield event, name, lacking


def _without_incomplete(watcher: Watcher, table: Table) -> Table:
    """The events of the rows that lack nothing. A row may be several events, and is left out as a whole."""
    if watcher.recogniser.plain or ROW not in table.column_names:
        return table
    pc = require("pyarrow.compute", "an Arrow table")
    masked = [lacking for _, _, lacking in _lacking(watcher, table)]
    if not masked:
        return table
    bad = pc.unique(table.column(ROW).filter(reduce(pc.or_, masked)))
    watcher.bad_rows += len(bad)
    return table.filter(pc.invert(pc.is_in(table.column(ROW), value_set=bad)))


def _incomplete(watcher: Watcher, batch: TraceBatch, number: int, events: Sequence[TraceEvent]) -> TraceError | None:
    for event in events:
        if event.name != RELEASE:
            for name, value in event.values.items():
                if value is None:
                    return watcher.lacks(batch, number, event.name, name)
    return None


def _number(table: Table, batch: TraceBatch, at: int) -> int:
    return int(table.column(ROW)[at].as_py()) if ROW in table.column_names else batch.first_row + at


def _rows_before(table: Table, batch: TraceBatch, row: int) -> Table:
    pc = require("pyarrow.compute", "an Arrow table")
    if ROW in table.column_names:
        return table.filter(pc.less(table.column(ROW), row))
    return table.slice(0, row - batch.first_row)


def _event_names(batch: TraceBatch) -> list[str]:
    """Some of the event names in a batch, for messages."""
    if isinstance(batch.data, Rows):
        found: Iterable[object] = batch.data.columns.get(EVENT, ())
    elif EVENT not in batch.data.column_names:
        found = ()
    elif isinstance(batch.data, Columns):
        found = batch.data.distinct(EVENT)
    else:
        found = batch.data.column(EVENT).slice(0, 1000).to_pylist()
    return sorted({name for name in found if isinstance(name, str)})


def _first_row(batch: TraceBatch) -> str:
    """The first row of a batch, for messages."""
    data = batch.data
    if isinstance(data, Rows):
        values = {name: column[0] for name, column in data.columns.items()}
    elif isinstance(data, Columns):
        values = {name: column[0] for name, column in data.to_pydict().items()}
    else:
        values = {name: column[0] for name, column in data.slice(0, 1).to_pydict().items()}
    shown = [f"{name}={show_value(value)}" for name, value in values.items() if value is not None and name != ROW]
    return f"the first row has {', '.join(shown)}" if shown else ""
