"""Stage 4: CSV and JSON lines: from blocks of text to columns, by the core, with the definition for what is odd."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from typing import Protocol, TypeAlias

from mopsus import _core
from mopsus.events.trace import rows
from mopsus.events.trace.columns import ColumnType
from mopsus.events.trace.needs import EVENT, ColumnTypes, Needs
from mopsus.events.trace.rows import CsvLayout, Parsed, RowByRow
from mopsus.events.trace.sources import UnreadableError

Field: TypeAlias = tuple[str, str, bool, bool]


def fields_of(columns: Iterable[str], types: ColumnTypes) -> list[Field]:
    """What the core is to read: name, type, whether it is numbered, whether a row without it is odd."""
    return [(name, types[name].value, name == EVENT, name == EVENT and types.needs.named_only) for name in columns]


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
        width, positions = len(self._layout.header), [self._layout.columns[name] for name in columns]
        seen = _core.infer_csv(block, width, positions)
        return rows.csv_samples(block, self._layout, columns) if seen is None else _types(columns, seen)

    def parse(self, block: bytes, *, stop: bool) -> Parsed:
        columns = self._layout.columns
        odd = RowByRow(columns, self._types, stop=stop, end=len(block))
        fields, positions = fields_of(columns, self._types), list(columns.values())
        reader = rows.csv_rows(odd, block, self._layout)
        found, count = _core.read_csv(block, len(self._layout.header), fields, positions, reader)
        return Parsed(found, count, tuple(odd.bad))


class JsonReader:
    """The blocks of a file of JSON lines."""

    def __init__(self, needs: Needs, types: ColumnTypes) -> None:
        self.present = needs.columns
        self._types = types

    def sample(self, block: bytes) -> None:
        undecided = self._types.undecided(self.present)
        # Most traces lack some column for good; looking for its name is much quicker than decoding each block twice.
        columns = [name for name in undecided if json.dumps(name).encode() in block or "." in name]
        if columns:
            self._types.decide(_types(columns, _core.infer_json_lines(block, columns)))

    def parse(self, block: bytes, *, stop: bool) -> Parsed:
        odd = RowByRow(self.present, self._types, stop=stop, end=len(block))
        fields = fields_of(self.present, self._types)
        found, count = _core.read_json_lines(block, fields, rows.json_rows(odd, block))
        return Parsed(found, count, tuple(odd.bad))


def _types(columns: Iterable[str], seen: Iterable[str | None]) -> dict[str, ColumnType | None]:
    return {name: ColumnType(type) if type else None for name, type in zip(columns, seen, strict=True)}


def missing_event_column(header: tuple[str, ...], likeness: str = "") -> UnreadableError:
    """The error for a table without event names, with a guess at the reason."""
    shown = ", ".join(f"`{name}`" for name in header[:12]) + (", …" if len(header) > 12 else "")
    return UnreadableError(
        f"no column `{EVENT}` (the columns are {shown})",
        likeness
        or "name the column of event names `event`, or say in the spec how a row is recognised: `event e(p): row(…)`",
    )
