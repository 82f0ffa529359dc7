"""Stage 4: CSV and JSON lines: from blocks of text to batches, quickly where it is safe and exactly where it is not."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from mopsus._core import Columns
from mopsus.events.trace import fast, rows
from mopsus.events.trace.arrow import Table
from mopsus.events.trace.columns import ColumnType
from mopsus.events.trace.needs import EVENT, ColumnTypes, Needs
from mopsus.events.trace.rows import BadRow, CsvLayout, JsonLayout, Rows
from mopsus.events.trace.sources import UnreadableError


@dataclass(frozen=True, slots=True)
class Parsed:
    """What is in a block: `data` has all its rows as columns, or the good ones as Python values."""

    data: Columns | Table | Rows
    count: int
    bad: tuple[BadRow, ...] = ()


class TextReader(Protocol):
    """Parses the blocks of one text file. `parse` may be called by several threads at once, `sample` may not."""

    @property
    def present(self) -> Collection[str]:
        """The needed columns that the file has, or may have."""

    def sample(self, block: bytes) -> None:
        """Let the block decide the types of columns that are still open."""

    def parse(self, block: bytes, *, stop: bool) -> Parsed:
        """The rows of a block; with `stop`, nothing after the first bad one."""


class CsvReader:
    """The blocks of a CSV file after its header."""

    def __init__(self, header: tuple[str, ...], needs: Needs, types: ColumnTypes, likeness: str = "") -> None:
        self._layout = CsvLayout.of(header, needs)
        self._types = types
        if needs.named_only and EVENT not in header:
            raise missing_event_column(header, likeness)

    @property
    def present(self) -> Collection[str]:
        return self._layout.columns.keys()

    def sample(self, block: bytes) -> None:
        columns = self._types.undecided(self._layout.columns)
        if columns:
            self._types.decide(self._look(block, columns))

    def _look(self, block: bytes, columns: list[str]) -> dict[str, ColumnType | None]:
        seen = fast.csv_samples(block, self._layout, columns)
        return rows.csv_samples(block, self._layout, columns) if seen is None else seen

    def parse(self, block: bytes, *, stop: bool) -> Parsed:
        columns = fast.read_csv(block, self._layout, self._types)
        if columns is not None:
            return Parsed(columns, columns.num_rows)
        exact = rows.parse_csv(block, self._layout, self._types, stop=stop)
        return Parsed(exact.rows, exact.count, exact.bad)


class JsonReader:
    """The blocks of a file of JSON lines."""

    def __init__(self, needs: Needs, types: ColumnTypes) -> None:
        self._layout = JsonLayout(needs)
        self._types = types

    @property
    def present(self) -> Collection[str]:
        return self._layout.columns

    def sample(self, block: bytes) -> None:
        undecided = self._types.undecided(self._layout.columns)
        # Most traces lack some column for good; looking for its name is much quicker than decoding each block twice.
        columns = [name for name in undecided if json.dumps(name).encode() in block or "." in name]
        if columns:
            self._types.decide(rows.json_samples(block, self._layout, columns))

    def parse(self, block: bytes, *, stop: bool) -> Parsed:
        table = fast.read_jsonl(block, self._layout, self._types)
        if table is not None:
            return Parsed(table, table.num_rows)
        exact = rows.parse_jsonl(block, self._layout, self._types, stop=stop)
        return Parsed(exact.rows, exact.count, exact.bad)


def missing_event_column(header: tuple[str, ...], likeness: str = "") -> UnreadableError:
    """The error for a table without event names, with a guess at the reason."""
    shown = ", ".join(f"`{name}`" for name in header[:12]) + (", …" if len(header) > 12 else "")
    return UnreadableError(
        f"no column `{EVENT}` (the columns are {shown})",
        likeness
        or "name the column of event names `event`, or say in the spec how a row is recognised: `event e(p): row(…)`",
    )
