"""Stage 4: what a reader gives: numbered rows of a trace; and what becomes of bad ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mopsus._core import Columns
from mopsus.events.trace.rows import BadRow, Parsed
from mopsus.model import TraceError

SKIP_HINT = "correct the row, or leave such rows out with `--bad-rows skip`"


@dataclass(frozen=True, slots=True)
class TraceBatch:
    """Consecutive rows of one trace.

    Where rows before others were left out, the rows' numbers are a column `#row`. `absent` are needed columns that
    the trace does not have.
    """

    source: str
    columns: Columns
    first_row: int
    absent: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Origin:
    """The trace that rows come from, and the needed columns that it does not have."""

    name: str
    absent: frozenset[str] = frozenset()
    likeness: str = ""
    """What it looks like instead of a trace."""


class BatchBuilder:
    """Makes batches of parsed blocks. A bad row raises `TraceError`, or with `skip` is left out and counted."""

    KEPT = 20

    def __init__(self, *, skip: bool) -> None:
        self.bad_rows = 0
        self.bad: list[TraceError] = []
        """The first few bad rows."""
        self.left_out: dict[str, TraceError] = {}
        """The traces no row of which could be used, and why the first could not."""
        self._used = ""  # the trace that the last good row was in
        self._skip = skip

    def build(self, parsed: Parsed, origin: Origin, first_row: int) -> Iterator[TraceBatch]:
        """The good rows of a block, and then the verdict on its bad ones."""
        parsed.columns.begin_at(first_row)
        if parsed.columns.num_rows:
            self._used = origin.name
            self.left_out.pop(origin.name, None)
            yield TraceBatch(origin.name, parsed.columns, first_row, origin.absent)
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
