"""Stage 4: the rows of a trace, one by one: the definition of CSV and JSON lines here.

The core reads whole blocks, and leaves to this what is not plainly a row: odd ways to write a value, and all bad rows,
of which it is said here what is wrong.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from mopsus._core import MOST_DIGITS, MOST_NESTED, Columns
from mopsus.events.trace.columns import ColumnType, convert_value, infer_from_cells, parse_cell
from mopsus.events.trace.needs import EVENT, ColumnTypes, Needs
from mopsus.events.trace.sources import BOM, UnreadableError
from mopsus.model import Scalar

Answer: TypeAlias = "tuple[tuple[Scalar, ...] | None, int]"
"""The values of a row, None for a bad one, and where the next row begins."""

_QUOTED_FIELD = re.compile(rb'"((?:[^"]+|"")*+)"([^,\r\n]*)')
_PLAIN_FIELD = re.compile(rb"[^,\r\n]*")
_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*+"|[][{}]')


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that cannot be used; `offset` counts from 0 within its block."""

    offset: int
    message: str
    column: str | None = None
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Parsed:
    """What is in a block: its good rows, how many rows it has, and the bad ones."""

    columns: Columns
    count: int
    bad: tuple[BadRow, ...] = ()


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
    position = 0
    while position < len(block):
        end = block.find(b"\n", position) % (len(block) + 1)
        if end - position > 1 or block[position:end] not in (b"", b"\r"):
            fields, problem, position = csv_record(block, position)
            yield fields, problem
        else:
            position = end + 1


def csv_record(block: bytes, position: int) -> tuple[list[bytes], str, int]:
    """The fields of the record at `position`, what is wrong with it, and where the next one starts."""
    end = block.find(b"\n", position) % (len(block) + 1)
    line = block[position:end]
    return _split_quoted(block, position) if b'"' in line else (*_split_plain(line), end + 1)


def _split_plain(line: bytes) -> tuple[list[bytes], str]:
    if b"\r" in line:
        line = line.removesuffix(b"\r")
        if b"\r" in line:
            return [], "a carriage return inside the row"
    return line.split(b","), ""


def _split_quoted(block: bytes, position: int) -> tuple[list[bytes], str, int]:
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


def decode_line(line: bytes) -> dict[str, object]:
    """The object on a line; `ValueError` if there is none.

    Bytes that are not UTF-8 become halves of surrogate pairs, which no column takes for text.
    """
    text = line.decode(errors="surrogateescape")
    _check_nesting(text)
    try:
        found = json.loads(text, parse_int=_whole_number)
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} at character {error.pos + 1}") from None
    if not isinstance(found, dict):
        raise ValueError("it holds something else")
    return found


def _check_nesting(text: str) -> None:
    """Refuse what would exhaust the stack of whatever reads it."""
    if text.count("[") + text.count("{") <= MOST_NESTED:
        return
    depth = 0
    for bracket in _BRACKET.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(bracket[0], 0)
        if depth > MOST_NESTED:
            raise ValueError(f"more than {MOST_NESTED} levels of nesting at character {bracket.start() + 1}")


def _whole_number(text: str) -> int:
    if len(text.lstrip("-")) > MOST_DIGITS:
        raise ValueError(f"a whole number of more than {MOST_DIGITS:,} digits")
    return int(text)


def field_of(row: Mapping[str, object], name: str) -> object:
    """The value of a field: `a.b` is the key `a.b`, or else the key `b` of the object at `a`."""
    value = row.get(name)
    if value is not None or "." not in name:
        return value
    value = row
    for key in name.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


class RowByRow:
    """Reads rows of a block as defined, and keeps what is wrong with the bad ones.

    With `stop`, the first bad row is the last that is looked at: the next one begins at `end`.
    """

    def __init__(self, columns: Iterable[str], types: ColumnTypes, *, stop: bool, end: int) -> None:
        self.columns = [(name, types[name]) for name in columns]
        self.bad: list[BadRow] = []
        self._types = types
        self._stop = stop
        self._end = end

    def reject(self, offset: int, after: int, message: str, column: str | None = None, hint: str = "") -> Answer:
        """The answer for a bad row."""
        self.bad.append(BadRow(offset, message, column, hint))
        return None, self._end if self._stop else after

    def convert(
        self, offset: int, after: int, values: Sequence[Any], convert: Callable[[Any, ColumnType], Scalar]
    ) -> Answer:
        """The answer for a row of these values. One that has no meaning is null unless the row's event needs it."""
        row: dict[str, Scalar] = {}
        failed: dict[str, tuple[object, ValueError]] = {}
        for (name, type), value in zip(self.columns, values, strict=True):
            try:
                row[name] = convert(value, type)
            except ValueError as error:
                row[name] = None
                failed[name] = value, error
        needed = self._types.needs.needed_by(row.get(EVENT)) if failed else ()
        for name, (value, reason) in failed.items():
            if name in needed:
                return self.reject(offset, after, *describe_failure(name, value, reason, self._types))
        if self._types.needs.named_only and row[EVENT] is None:
            return self.reject(offset, after, "no event name", EVENT)
        return tuple(row.values()), after


def csv_rows(rows: RowByRow, block: bytes, layout: CsvLayout) -> Callable[[int, int], Answer]:
    """What reads the record at a place of a block of CSV; the second argument is its offset among the rows."""
    positions = list(layout.columns.values())

    def read(at: int, offset: int) -> Answer:
        fields, problem, after = csv_record(block, at)
        if not problem and len(fields) != len(layout.header):
            problem = f"{_number(len(fields), 'field')}, but the header has {len(layout.header)}"
        if problem:
            return rows.reject(offset, after, problem)
        return rows.convert(offset, after, [fields[position] for position in positions], parse_cell)

    return read


def json_rows(rows: RowByRow, block: bytes) -> Callable[[int, int], Answer]:
    """What reads the line at a place of a block of JSON lines."""

    def read(at: int, offset: int) -> Answer:
        end = block.find(b"\n", at) % (len(block) + 1)
        try:
            row = decode_line(block[at:end])
        except ValueError as error:
            return rows.reject(offset, end + 1, f"not a JSON object on one line: {error}")
        return rows.convert(offset, end + 1, [field_of(row, name) for name, _ in rows.columns], convert_value)

    return read


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
