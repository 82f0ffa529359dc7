"""Stage 4: from rows of a trace with its own columns to the events of a spec.

A spec whose events are all known by their own names takes a trace as it is. For any other, each
batch is rewritten: which rows are which events is found out for all rows at once where pyarrow is
there, and row by row, by the definition, where it is not. A row that is several events gives
them in the order of declaration.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import repeat

from mopsus._core import Columns
from mopsus.events.trace import masks
from mopsus.events.trace.arrow import Array, Module, Table, require
from mopsus.events.trace.batches import ROW, TraceBatch
from mopsus.events.trace.needs import EVENT, LOCATION, RELEASE, THREAD, TIME
from mopsus.events.trace.rows import Rows
from mopsus.events.trace.rules import rules_of
from mopsus.model import Scalar, Spec
from mopsus.spec.pointcuts import holds

CARRIED = (TIME, THREAD, LOCATION)


@dataclass(frozen=True, slots=True)
class TraceEvent:
    """One event of a spec, with the values of its parameters and fields."""

    name: str
    values: Mapping[str, Scalar]


class Recogniser:
    """Finds the events of one spec in the rows of a trace.

    With `nameless`, a row without an event name is no mistake, because other specs know their events otherwise.
    """

    def __init__(self, spec: Spec, *, nameless: bool = False) -> None:
        self._nameless = nameless
        self._rules = rules_of(spec)
        parameters = [parameter.name for parameter in spec.parameters]
        self._values = [*parameters, *dict.fromkeys(name for event in spec.events for name in event.fields)]
        # A value released may stand in any column that some event takes it from.
        self._releasable: dict[str, list[str]] = {name: [] for name in parameters}
        for rule in self._rules:
            for name, column in rule.columns.items():
                if name in self._releasable and column not in self._releasable[name]:
                    self._releasable[name].append(column)
        self.plain = all(rule.plain for rule in self._rules)
        self.names = (*(rule.event for rule in self._rules), RELEASE)
        self._by_name = {rule.event: tuple(rule.columns) for rule in self._rules}

    def column(self, event: str, name: str) -> str:
        """Where the value of a parameter or field of this event is in a row."""
        return next(rule.columns[name] for rule in self._rules if rule.event == event)

    def takes(self, columns: Columns) -> bool:
        """Are the spec's events in these columns as a monitor takes them?"""
        lacking = self._nameless and (EVENT not in columns.column_names or columns.null_count(EVENT) > 0)
        return self.plain and not lacking

    def table(self, batch: TraceBatch) -> Table:
        """The Arrow table of a batch as a monitor takes it; for a plain spec mostly the batch as it is."""
        if self.plain and not (self._nameless and _lacks_names(batch.data)):
            return batch.data
        pa = require("pyarrow", "an Arrow table")
        pc = require("pyarrow.compute", "an Arrow table")
        table: Table = batch.data
        found = [pc.indices_nonzero(masks.of_pointcut(rule.pointcut, table)) for rule in self._rules]
        columns = [dict(rule.columns) for rule in self._rules]
        names = [rule.event for rule in self._rules]
        if EVENT in table.column_names:
            found.append(pc.indices_nonzero(masks.has_name(table, (RELEASE,))))
            names.append(RELEASE)
            columns.append({})
        return self._gather(pa, pc, batch, found, names, columns)

    def _gather(
        self,
        pa: Module,
        pc: Module,
        batch: TraceBatch,
        found: list[Array],
        names: list[str],
        columns: list[dict[str, str]],
    ) -> Table:
        table: Table = batch.data
        indices = pa.chunked_array(found, pa.uint64()).combine_chunks()
        events = pa.concat_arrays([pa.repeat(pa.scalar(k, pa.int32()), len(part)) for k, part in enumerate(found)])
        order = pc.sort_indices(
            pa.table({"row": indices, "event": events}), sort_keys=[("row", "ascending"), ("event", "ascending")]
        )
        rows = indices.take(order)
        out = {EVENT: pa.DictionaryArray.from_arrays(events.take(order), pa.array(names, pa.string()))}
        for value in self._values:
            parts = [
                self._column(pa, pc, table, part, name, mapping, value)
                for part, name, mapping in zip(found, names, columns, strict=True)
            ]
            kinds = [part.type for part in parts if not pa.types.is_null(part.type)]
            if kinds:
                parts = [part.cast(kinds[0]) for part in parts]
                out[value] = pa.chunked_array(parts, kinds[0]).combine_chunks().take(order)
        out |= {name: table.column(name).take(rows) for name in CARRIED if name in table.column_names}
        if ROW in table.column_names:
            out[ROW] = table.column(ROW).take(rows)
        else:
            out[ROW] = pc.add(rows.cast(pa.int64()), batch.first_row)
        return pa.table(out)

    def _column(
        self, pa: Module, pc: Module, table: Table, rows: Array, event: str, mapping: Mapping[str, str], parameter: str
    ) -> Array:
        """The values of a parameter or field in the rows of one event."""
        if event == RELEASE:
            present = [name for name in self._releasable.get(parameter, ()) if name in table.column_names]
            taken = [masks.plain_array(table.column(name).take(rows)) for name in present]
            return pc.coalesce(*taken) if taken else pa.nulls(len(rows))
        column = mapping.get(parameter)
        if column is None or column not in table.column_names:
            return pa.nulls(len(rows))
        return masks.plain_array(table.column(column).take(rows))

    def mask(self, table: Table) -> Array:
        """For each row of a table: is it an event of the spec, or the release of a value?"""
        pc = require("pyarrow.compute", "an Arrow table")
        parts = [masks.has_name(table, (RELEASE,)), *(masks.of_pointcut(rule.pointcut, table) for rule in self._rules)]
        return reduce(pc.or_, parts)

    def events(self, row: Mapping[str, Scalar]) -> Iterator[TraceEvent]:
        """The events that a single row is."""
        name = row.get(EVENT)
        if self.plain and name != RELEASE:
            if isinstance(name, str) and name in self._by_name:
                yield TraceEvent(name, {each: row.get(each) for each in self._by_name[name]})
            return
        for rule in self._rules:
            if holds(rule.pointcut, name if isinstance(name, str) else "", row):
                yield TraceEvent(rule.event, {each: row.get(column) for each, column in rule.columns.items()})
        if name == RELEASE:
            released = {
                parameter: value
                for parameter, columns in self._releasable.items()
                if (value := next((row[each] for each in columns if row.get(each) is not None), None)) is not None
            }
            yield TraceEvent(RELEASE, released)


def _lacks_names(table: Table) -> bool:
    return EVENT not in table.column_names or bool(table.column(EVENT).null_count)


def rows_of(rows: Rows) -> Iterator[dict[str, Scalar]]:
    """Each row as a mapping."""
    names = list(rows.columns)
    for values in zip(*rows.columns.values(), strict=True) if names else repeat((), len(rows)):
        yield dict(zip(names, values, strict=True))
