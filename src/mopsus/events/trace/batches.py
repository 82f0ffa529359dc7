"""Stage 4: what a reader gives: numbered rows of a trace; and what becomes of bad ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mopsus._core import Columns
from mopsus.events.trace.arrow import Table, arrow_type, load
from mopsus.events.trace.needs import ColumnTypes
from mopsus.events.trace.rows import BadRow, Rows
from mopsus.events.trace.text import Parsed
from mopsus.model import TraceError

ROW = "#row"
"""The column that says a row's number where rows before it were left out."""

SKIP_HINT = "correct the row, or leave such rows out with `--bad-rows skip`"


@dataclass(frozen=True, slots=True)
class TraceBatch:
    """Consecutive rows of one trace: columns of the core's, an Arrow table, or Python values where pyarrow is missing.

    `numbers` holds the rows' numbers when they are not `first_row`, `first_row + 1`, …; an Arrow table then
    has them as column `#row` too. `absent` are needed columns that the trace does not have.
    """

    source: str
    data: Columns | Table | Rows
    first_row: int
    numbers: Sequence[int] | None = None
    absent: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.data) if isinstance(self.data, Rows) else int(self.data.num_rows)


@dataclass(frozen=True, slots=True)
class Origin:
    """The trace that rows come from, and the needed columns that it does not have."""

    name: str
    absent: frozenset[str] = frozenset()
    likeness: str = ""
    """What it looks like instead of a trace."""


def plain_batch(batch: TraceBatch) -> TraceBatch:
    """The same batch as an Arrow table, or as Python values where pyarrow is missing."""
    if not isinstance(batch.data, Columns):
        return batch
    pa = load("pyarrow")
    if pa is None:
        return replace(batch, data=Rows(batch.data.to_pydict(), list(range(batch.data.num_rows))))
    return replace(batch, data=pa.Table.from_batches([pa.record_batch(batch.data)]))


class BatchBuilder:
    """Makes batches of parsed blocks. A bad row raises `TraceError`, or with `skip` is left out and counted."""

    KEPT = 20

    def __init__(self, types: ColumnTypes, *, skip: bool) -> None:
        self.bad_rows = 0
        self.bad: list[TraceError] = []
        """The first few bad rows."""
        self.left_out: dict[str, TraceError] = {}
        """The traces no row of which could be used, and why the first could not."""
        self._used = ""  # the trace that the last good row was in
        self._types = types
        self._skip = skip

    def build(self, parsed: Parsed, origin: Origin, first_row: int) -> Iterator[TraceBatch]:
        """The good rows of a block, and then the verdict on its bad ones."""
        data, numbers = parsed.data, None
        if isinstance(data, Rows):
            if data.offsets and data.offsets[-1] != len(data) - 1:
                numbers = [first_row + offset for offset in data.offsets]
            data = self._as_table(data, numbers)
        batch = TraceBatch(origin.name, data, first_row, numbers, origin.absent)
        if len(batch):
            self._used = origin.name
            self.left_out.pop(origin.name, None)
            yield batch
        for bad in parsed.bad:
            self._reject(bad, origin, first_row)

    def _reject(self, bad: BadRow, origin: Origin, first_row: int) -> None:
        hint = bad.hint or origin.likeness or SKIP_HINT
        error = TraceError(bad.message, file=origin.name, row=first_row + bad.offset, column=bad.column, hint=hint)
        if not self._skip:
            raise error
        self.bad_rows += 1
        if origin.name != self._used:
            self.left_out.setdefault(origin.name, error)
        if len(self.bad) < self.KEPT:
            self.bad.append(error)

    def _as_table(self, rows: Rows, numbers: Sequence[int] | None) -> Table | Rows:
        pa = load("pyarrow")
        if pa is None or not rows.columns:  # a table without columns has no rows
            return rows
        arrays = {name: pa.array(values, arrow_type(self._types[name])) for name, values in rows.columns.items()}
        if numbers is not None:
            arrays[ROW] = pa.array(numbers, pa.int64())
        return pa.table(arrays)
