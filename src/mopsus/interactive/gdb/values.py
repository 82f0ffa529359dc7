"""Values of GDB as values of Python.

A value that GDB does not have, because it was optimised out or lies where no memory is, becomes an `Unavailable` that
says so: it is never guessed.
"""

from __future__ import annotations

from collections.abc import Callable

import gdb

from mopsus.model import Address, Unavailable

_INTEGERS = {gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_ENUM, gdb.TYPE_CODE_RANGE}
_REFERENCES = {gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF}
_RECORDS = {gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION}
_LONGEST = 4096
"""Of a string or an array, in bytes or elements."""
_DEEPEST = 3
"""How far records within records are followed."""


def to_python(value: gdb.Value, wanted: str | None = None) -> object:
    """The value as `wanted` (`int`, `float`, `bool`, `str`, `bytes`) or as what suits its type: numbers, truth values,
    addresses as integers, records as dictionaries, arrays as lists."""
    try:
        return _natural(value, _DEEPEST) if wanted is None else _CONVERSIONS[wanted](_followed(value))
    except (gdb.error, ValueError, OverflowError, UnicodeError) as error:
        return Unavailable(str(error))


class Word(int):
    """What a register or a place on the stack holds, of which nobody knows the type."""

    def to_python(self, wanted: str | None) -> object:
        if wanted == "float":
            return Unavailable("nobody knows in which register it is: compile with -g")
        try:
            value = gdb.Value(int(self).to_bytes(8, "little", signed=True), gdb.lookup_type("long"))
            text = wanted in {"str", "bytes"}
            return to_python(value.cast(gdb.lookup_type("char").pointer()) if text else value, wanted)
        except gdb.error as error:
            return Unavailable(str(error))


def _followed(value: gdb.Value) -> gdb.Value:
    return value.referenced_value() if value.type.strip_typedefs().code in _REFERENCES else value


def _natural(value: gdb.Value, depth: int) -> object:
    kind = value.type
    if kind.code == gdb.TYPE_CODE_TYPEDEF:
        kind = kind.strip_typedefs()
    code = kind.code
    if code == gdb.TYPE_CODE_PTR:
        return Address(int(value))
    if code in _INTEGERS:
        return int(value)
    if code == gdb.TYPE_CODE_FLT:
        return float(value)
    if code == gdb.TYPE_CODE_BOOL:
        return bool(value)
    if code == gdb.TYPE_CODE_VOID:
        return None
    if code in _REFERENCES:
        return _natural(value.referenced_value(), depth)
    if depth and code in _RECORDS:
        return {
            field.name: _natural(value[field], depth - 1)
            for field in kind.fields()
            if field.name and hasattr(field, "bitpos")  # static members have no place in the record
        }
    if depth and code == gdb.TYPE_CODE_ARRAY:
        first, last = kind.range()
        return [_natural(value[index], depth - 1) for index in range(first, min(last + 1, first + _LONGEST))]
    if code == gdb.TYPE_CODE_FUNC:
        return Address(int(value.address)) if value.address is not None else str(value)
    return str(value)


def _text(value: gdb.Value) -> str:
    return _bytes(value).decode(errors="replace") if _has_characters(value) else _shown(value)


def _shown(value: gdb.Value) -> str:
    if value.type.strip_typedefs().code == gdb.TYPE_CODE_INT and value.type.sizeof == 1:
        return chr(int(value) & 0xFF)
    return str(_natural(value, _DEEPEST))


def _has_characters(value: gdb.Value) -> bool:
    kind = value.type.strip_typedefs()
    if kind.code not in {gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_ARRAY}:
        return False
    target = kind.target().strip_typedefs()
    return target.code == gdb.TYPE_CODE_VOID or target.sizeof == 1


def _bytes(value: gdb.Value) -> bytes:
    """Up to the first zero byte, of a string in C; the whole, of anything else."""
    kind = value.type.strip_typedefs()
    if kind.code == gdb.TYPE_CODE_PTR and _has_characters(value):
        if not int(value):
            raise ValueError("the pointer is null")
        return _string_at(int(value))
    if value.is_optimized_out:
        raise ValueError("the value was optimised out")
    data = bytes(gdb.selected_inferior().read_memory(int(value.address), kind.sizeof)) if value.address else b""
    return data.split(b"\0", 1)[0] if _has_characters(value) else data


def _string_at(address: int) -> bytes:
    """Read by pieces that end where pages do: what lies behind a string may be no memory."""
    inferior = gdb.selected_inferior()
    found = b""
    while len(found) < _LONGEST:
        piece = bytes(inferior.read_memory(address, 256 - address % 256))
        head, end, _ = piece.partition(b"\0")
        found += head
        if end:
            break
        address += len(piece)
    return found


def _boolean(value: gdb.Value) -> bool:
    return bool(int(value)) if value.type.strip_typedefs().code != gdb.TYPE_CODE_FLT else bool(float(value))


_CONVERSIONS: dict[str, Callable[[gdb.Value], object]] = {
    "int": int,
    "float": float,
    "bool": _boolean,
    "str": _text,
    "bytes": _bytes,
}
