"""Stage 4: the rows of a block of text, one by one: the definition of CSV and JSON lines here.

It is what an install without pyarrow uses, and what says exactly which row of a block is bad when
pyarrow has refused the block.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mopsus.events.trace.columns import ColumnType, convert_value, infer_from_cells, infer_from_values, parse_cell
from mopsus.events.trace.needs import EVENT, ColumnTypes, Needs
from mopsus.events.trace.sources import BOM, UnreadableError
from mopsus.model import UNDECODABLE, Scalar

_QUOTED_FIELD = re.compile(rb'"((?:[^"]+|"")*+)"([^,\r\n]*)')
_PLAIN_FIELD = re.compile(rb"[^,\r\n]*")


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that cannot be used; `offset` counts from 0 within its block."""

    offset: int
    message: str
    column: str | None = None
    hint: str = ""


@dataclass(slots=True)
class Rows:
    """Columns of Python values. `offsets` says which rows of the block they are, in order."""

    columns: dict[str, list[Scalar]]
    offsets: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.offsets)


@dataclass(frozen=True, slots=True)
class ParsedRows:
    """The good rows of a block, its bad ones, and how many rows it has."""

    rows: Rows
    bad: tuple[BadRow, ...]
    count: int


@dataclass(frozen=True, slots=True)
class CsvLayout:
    """Where the needed columns are in the rows of a CSV file."""

    header: tuple[str, ...]
    columns: Mapping[str, int]

    @classmethod
    def of(cls, header: Sequence[str], needs: Needs) -> CsvLayout:
        """The layout under a header; `UnreadableError` if a needed column is there twice."""
        if twice := [name for name in needs.columns if header.count(name) > 1]:
            raise UnreadableError(f"column `{twice[0]}` occurs twice", "let every column have a name of its own")
        columns = {name: header.index(name) for name in needs.columns if name in header}
        return cls(tuple(header), columns)


def split_records(block: bytes) -> Iterator[tuple[list[bytes], str]]:
    """Each record's fields, and what is wrong with it ("" if nothing). Empty lines are no records."""
    if b'"' not in block:
        for line in block.split(b"\n"):
            if line and line != b"\r":
                yield _split_plain(line)
        return
    position = 0
    while position < len(block):
        end = block.find(b"\n", position) % (len(block) + 1)
        line = block[position:end]
        if b'"' in line:
            fields, problem, position = _split_quoted(block, position)
            yield fields, problem
            continue
        if line and line != b"\r":
            yield _split_plain(line)
        position = end + 1


def _split_plain(line: bytes) -> tuple[list[bytes], str]:
    if b"\r" in line:
        line = line.removesuffix(b"\r")
        if b"\r" in line:
            return [], "a carriage return inside the row"
    return line.split(b","), ""


def _split_quoted(block: bytes, position: int) -> tuple[list[bytes], str, int]:
    """The fields of the record at `position`, what is wrong with it, and where the next one starts."""
    fields: list[bytes] = []
    while True:
        if block[position : position + 1] == b'"':
            match = _QUOTED_FIELD.match(block, position)
            if match is None:
                return fields, "a quote is not closed", len(block)
            fields.append(match[1].replace(b'""', b'"') + match[2])
        else:
            match = _PLAIN_FIELD.match(block, position)
            assert match is not None  # it matches the empty string
            fields.append(match[0])
        position = match.end()
        if block[position : position + 1] == b",":
            position += 1
        elif block[position : position + 1] in (b"", b"\n"):
            return fields, "", position + 1
        elif block[position + 1 : position + 2] in (b"", b"\n"):
            return fields, "", position + 2
        else:
            end = block.find(b"\n", position) % (len(block) + 1)
            return fields, "a carriage return inside the row", end + 1


def record_lines(block: bytes, *, quotes: bool) -> Iterator[int]:
    """The line, from 0, on which each record of a block begins; with `quotes` as CSV, else as JSON lines."""
    line = position = 0
    while position < len(block):
        end = block.find(b"\n", position) % (len(block) + 1)
        text = block[position:end]
        after = end + 1
        if quotes and b'"' in text:
            after = _split_quoted(block, position)[2]
            yield line
        elif text.strip(b"\r" if quotes else None):
            yield line
        line += 1 if after == end + 1 else block.count(b"\n", position, after)
        position = after


def parse_header(block: bytes) -> tuple[tuple[str, ...], bytes]:
    """The column names in the first record of a CSV file, and the rest of the block."""
    text = block.removeprefix(BOM)
    text = text.lstrip(b"\r\n")
    fields, problem, end = _split_quoted(text, 0)
    del problem  # a broken header misses columns, and that is the message which helps
    return tuple(name.decode(errors="replace") for name in fields), text[end:]


def csv_samples(block: bytes, layout: CsvLayout, columns: Iterable[str]) -> dict[str, ColumnType | None]:
    """What each of the columns looks like in this block."""
    cells: dict[str, set[bytes]] = {name: set() for name in columns}
    adders = [(layout.columns[name], cells[name].add) for name in cells]
    for fields, problem in split_records(block):
        if not problem and len(fields) == len(layout.header):
            for position, add in adders:
                add(fields[position])
    return {name: infer_from_cells(found) for name, found in cells.items()}


def parse_csv(block: bytes, layout: CsvLayout, types: ColumnTypes, *, stop: bool) -> ParsedRows:
    """The rows of a block; with `stop`, nothing after the first bad one."""
    columns = [(name, position, types[name]) for name, position in layout.columns.items()]
    builder = _Builder(types, stop)
    for fields, problem in split_records(block):
        if not problem and len(fields) != len(layout.header):
            problem = f"{_number(len(fields), 'field')}, but the header has {len(layout.header)}"
        if problem:
            builder.reject(problem)
        else:
            builder.add({name: (fields[position], type) for name, position, type in columns}, parse_cell)
        if builder.stopped:
            break
    return builder.finish(layout.columns)


class JsonLayout:
    """How the needed columns are taken out of JSON objects.

    `a.b` is the key `a.b`, or else the key `b` of the object at `a`.
    """

    def __init__(self, needs: Needs) -> None:
        import msgspec  # which CSV does not need

        self.columns = needs.columns
        self.nested = any("." in name for name in self.columns)
        names = list(dict.fromkeys([*self.columns, *(name.partition(".")[0] for name in self.columns)]))
        self._positions = {name: position for position, name in enumerate(names)}
        keys = [f"f{position}" for position in range(len(names))]
        # Fields that are not asked for are skipped without being built or checked.
        struct = msgspec.defstruct(
            "Row", [(key, Any, None) for key in keys], rename=dict(zip(keys, names, strict=True)), gc=False
        )
        self._decoder = msgspec.json.Decoder(struct)
        self._values: Callable[[msgspec.Struct], tuple[object, ...]] = msgspec.structs.astuple

    def decode(self, line: bytes) -> tuple[object, ...]:
        """The values of the needed columns, None where the object has no such key; `ValueError` if it is no object."""
        values = self._decode(line)
        if not self.nested:
            return values
        found = dict(zip(self._positions, values, strict=True))
        return tuple(found[name] if found[name] is not None else _inner(found, name) for name in self.columns)

    def _decode(self, line: bytes) -> tuple[object, ...]:
        try:
            return self._values(self._decoder.decode(line))
        except ValueError:
            if b"NaN" not in line and b"Infinity" not in line:
                raise
        row = json.loads(line)  # accepts what Python's own json module writes
        if not isinstance(row, dict):
            raise ValueError("not an object")
        return tuple(map(row.get, self._positions))


def _inner(row: Mapping[str, object], path: str) -> object:
    value: object = row
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def json_samples(block: bytes, layout: JsonLayout, columns: Iterable[str]) -> dict[str, ColumnType | None]:
    """What each of the columns looks like in this block."""
    wanted = [(name, layout.columns.index(name)) for name in columns]
    values: dict[str, list[object]] = {name: [] for name, _ in wanted}
    for line in block.split(b"\n"):
        try:
            row = layout.decode(line)
        except UNDECODABLE:
            continue
        for name, position in wanted:
            values[name].append(row[position])
    return {name: infer_from_values(found) for name, found in values.items()}


def parse_jsonl(block: bytes, layout: JsonLayout, types: ColumnTypes, *, stop: bool) -> ParsedRows:
    """The rows of a block; with `stop`, nothing after the first bad one. Blank lines are no rows."""
    columns = [(name, types[name]) for name in layout.columns]
    builder = _Builder(types, stop)
    for line in block.split(b"\n"):
        if not line or line.isspace():
            continue
        try:
            row = layout.decode(line)
        except UnicodeDecodeError:
            builder.reject("not UTF-8 text", hint="convert the file to UTF-8")
        except UNDECODABLE as error:
            builder.reject(f"not a JSON object on one line: {error}")
        else:
            builder.add({name: (value, type) for (name, type), value in zip(columns, row, strict=True)}, convert_value)
        if builder.stopped:
            break
    return builder.finish(layout.columns)


def convert_rows(columns: Mapping[str, Sequence[object]], count: int, types: ColumnTypes, *, stop: bool) -> ParsedRows:
    """Rows whose values have been decoded already, in the types of the run."""
    builder = _Builder(types, stop)
    for offset in range(count):
        builder.add({name: (values[offset], types[name]) for name, values in columns.items()}, convert_value)
        if builder.stopped:
            break
    return builder.finish(columns)


class _Builder:
    """Collects good rows by column, and bad rows with their reasons."""

    def __init__(self, types: ColumnTypes, stop: bool) -> None:
        self._types = types
        self._stop = stop
        self._good: list[dict[str, Scalar]] = []
        self._offsets: list[int] = []
        self._bad: list[BadRow] = []
        self._count = 0

    @property
    def stopped(self) -> bool:
        """Has a bad row been seen that nothing may follow?"""
        return self._stop and bool(self._bad)

    def reject(self, message: str, column: str | None = None, hint: str = "") -> None:
        """The next row is bad."""
        self._bad.append(BadRow(self._count, message, column, hint))
        self._count += 1

    def add(self, row: Mapping[str, tuple[Any, ColumnType]], convert: Callable[[Any, ColumnType], Scalar]) -> None:
        """The next row, still to be converted. A value that has no meaning is null unless the row's event needs it."""
        values: dict[str, Scalar] = {}
        failed: dict[str, ValueError] = {}
        for name, (value, type) in row.items():
            try:
                values[name] = convert(value, type)
            except ValueError as error:
                values[name] = None
                failed[name] = error
        needed = self._types.needs.needed_by(values.get(EVENT)) if failed else ()
        for name in [name for name in failed if name in needed]:
            self.reject(*describe_failure(name, row[name][0], failed[name], self._types))
            return
        if self._types.needs.named_only and values[EVENT] is None:
            self.reject("no event name", EVENT)
            return
        self._good.append(values)
        self._offsets.append(self._count)
        self._count += 1

    def finish(self, columns: Iterable[str]) -> ParsedRows:
        """Everything collected."""
        rows = Rows({name: [row[name] for row in self._good] for name in columns}, self._offsets)
        return ParsedRows(rows, tuple(self._bad), self._count)


def describe_failure(column: str, value: object, error: ValueError, types: ColumnTypes) -> tuple[str, str, str]:
    """Message, column and hint for a value that its column's type refuses."""
    if isinstance(error, UnicodeError):
        hint = f"convert the file to UTF-8, or declare `{column}: bytes`"
        return f"column `{column}` is not UTF-8 text", column, hint
    shown = value.decode(errors="replace") if isinstance(value, bytes) else str(value)
    cut = shown if len(shown) <= 40 else f"{shown[:39]}…"
    origin = "declared in the spec" if column in types.needs.declared else "taken from the first block"
    hint = "correct the row" if column in types.needs.declared else f"declare the type in the spec, say `{column}: str`"
    return f"column `{column}` has `{cut}`: {error} (its type is {types[column].value}, {origin})", column, hint


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
