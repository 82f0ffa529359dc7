"""Stage 4: the types of a trace's columns: what a cell means, and what an undeclared column is taken for.

This is the definition. The core converts by itself what it converts the same way, and leaves the rest to
this. A cell is a field of a CSV file as bytes; a value is what a JSON document or a decoded binary file holds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from enum import StrEnum

from mopsus.model import Scalar

INT64 = range(-(2**63), 2**63)

TRUE_CELLS = ("true", "True", "TRUE", "1")
FALSE_CELLS = ("false", "False", "FALSE", "0")

_INT = re.compile(rb"-?[0-9]+")
_HEX = re.compile(rb"0[xX][0-9a-fA-F]{1,16}")
_FLOAT = re.compile(
    rb"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?(?:inf|infinity|nan)", re.IGNORECASE
)
_NAN_PAYLOAD = re.compile(rb"[+-]?nan\([0-9a-z_]*\)", re.IGNORECASE)
_BOOLS = {cell.encode(): True for cell in TRUE_CELLS} | {cell.encode(): False for cell in FALSE_CELLS}

# What makes a column a number is narrower than what a number column accepts: `007` and `+1` are
# more likely names, and as numbers they would fall together with `7` and `1`.
_PLAIN_INT = re.compile(rb"-?(?:0|[1-9][0-9]*)")
_PLAIN_FLOAT = re.compile(rb"-?(?:0|[1-9][0-9]*)\.[0-9]+(?:[eE][+-]?[0-9]+)?|-?(?:0|[1-9][0-9]*)[eE][+-]?[0-9]+")
_PLAIN_BOOLS = frozenset(_BOOLS) - {b"0", b"1"}


class ColumnType(StrEnum):
    """The types that a parameter may be declared with and a column may have."""

    INT = "int"
    FLOAT = "float"
    BOOL = "bool"
    STR = "str"
    BYTES = "bytes"


def parse_cell(cell: bytes, type: ColumnType) -> Scalar:
    """What a CSV field means in a column of that type; empty means null. `ValueError` if it has no meaning."""
    if not cell:
        return None
    match type:
        case ColumnType.STR:
            return cell.decode()
        case ColumnType.BYTES:
            return cell
        case ColumnType.INT:
            return _parse_int(cell.strip(b" \t"))
        case ColumnType.FLOAT:
            return _parse_float(cell.strip(b" \t"))
        case ColumnType.BOOL:
            if cell in _BOOLS:
                return _BOOLS[cell]
            raise ValueError("not true or false")


def _parse_int(cell: bytes) -> int:
    if _INT.fullmatch(cell):
        digits = cell.lstrip(b"-").lstrip(b"0") or b"0"  # int() refuses to read thousands of digits
        number = int(digits) if len(digits) <= 19 else INT64.stop
        number = -number if cell.startswith(b"-") else number
        if number in INT64 and len(digits) <= 19:
            return number
        raise ValueError("beyond 64 bits")
    if _HEX.fullmatch(cell):
        return (int(cell, 16) ^ 2**63) - 2**63 if len(cell) == 18 else int(cell, 16)
    raise ValueError("not a whole number")


def _parse_float(cell: bytes) -> float:
    if _FLOAT.fullmatch(cell):
        return float(cell)
    if _NAN_PAYLOAD.fullmatch(cell):
        return math.nan
    raise ValueError("not a number")


def convert_value(value: object, type: ColumnType) -> Scalar:
    """What a typed value means in a column of that type; `ValueError` if it has no meaning there.

    A string is read as the CSV field of the same text, so that a number in quotes is a number
    where the column is one, and a number in a column of strings is its text.
    """
    match value, type:
        case None, _:
            return None
        case str(), ColumnType.STR:
            value.encode()  # a lone surrogate is no text
            return value
        case bool(), ColumnType.BOOL:
            return value
        case bool(), (ColumnType.INT | ColumnType.FLOAT):
            raise ValueError("a truth value, not a number")
        case int(), ColumnType.INT if value in INT64:
            return value
        case ((int() | float()), ColumnType.FLOAT):
            return _to_float(value)
        case bytes(), ColumnType.BYTES:
            return value
        case bytes(), ColumnType.STR:
            return value.decode()
        case ((bool() | int() | float()), (ColumnType.STR | ColumnType.BYTES)):
            text = str(value).lower() if isinstance(value, bool) else repr(value)
            return text if type is ColumnType.STR else text.encode()
        case str(), ColumnType.BYTES:
            return value.encode(errors="surrogateescape")  # what was not UTF-8 is what it was
        case str(), _:
            if not value:
                raise ValueError("an empty string")
            return parse_cell(value.encode(), type)
        case float(), ColumnType.INT:
            raise ValueError("not a whole number")
        case int(), ColumnType.INT:
            raise ValueError("beyond 64 bits")
    raise ValueError("not a single value")


def _to_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        raise ValueError("beyond the range of a floating-point number") from None


def infer_from_cells(cells: Iterable[bytes]) -> ColumnType | None:
    """The type of a CSV column with these fields; None if none of them has a value."""
    return join_types(_kind_of_cell(cell) for cell in cells if cell)


def join_types(types: Iterable[ColumnType]) -> ColumnType | None:
    """The type of a column that holds values of all these types; None if there are none."""
    joined: ColumnType | None = None
    for type in types:
        if joined is None or joined is type:
            joined = type
        elif {joined, type} == {ColumnType.INT, ColumnType.FLOAT}:
            joined = ColumnType.FLOAT
        else:
            return ColumnType.STR
    return joined


def _kind_of_cell(cell: bytes) -> ColumnType:
    if _PLAIN_INT.fullmatch(cell):
        return ColumnType.INT if len(cell) <= 20 and int(cell) in INT64 else ColumnType.STR
    if _PLAIN_FLOAT.fullmatch(cell):
        return ColumnType.FLOAT
    return ColumnType.BOOL if cell in _PLAIN_BOOLS else ColumnType.STR
