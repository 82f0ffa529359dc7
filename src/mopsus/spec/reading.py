"""Stage 1: readings as they are written, in events of `.prop` files and in the pointcut `value(…)`.

`q`, `arg 1`, `ret`, `*p`, `&p`, `^p`, `"q->size"` in the language of the program, `{len(q)}` in Python; with `: type`
after it, what the value is converted to.
"""

from __future__ import annotations

import re

from mopsus.model import Reading, ReadingKind
from mopsus.spec import pytext
from mopsus.spec.cursor import NAME, NUMBER, Cursor
from mopsus.spec.errors import ArgumentError
from mopsus.spec.predicate import quote

TYPES = ("int", "float", "bool", "str", "bytes")
PREFIXES = {"*": ReadingKind.POINTEE, "&": ReadingKind.ADDRESS, "^": ReadingKind.CALLER}
_MAX_NESTING = 20
_GOES_ON = re.compile(r"\.\w|->|::|\[|\(")
_ARGUMENT = re.compile(r"arg\s*\d")


def read_reading(cursor: Cursor, depth: int = 0) -> Reading:
    """The reading that is written at the cursor, without a type."""
    if depth > _MAX_NESTING:
        raise ArgumentError("this value is nested too deeply", offset=cursor.at, hint="simplify it")
    if sign := cursor.take(*PREFIXES):
        return Reading(PREFIXES[sign], inner=read_reading(cursor, depth + 1))
    if cursor.ahead(_ARGUMENT):
        cursor.need("arg")
        return _argument(cursor)
    if quoted := cursor.string("an expression in quotes"):
        text, value = quoted
        if value.strip():
            return Reading(ReadingKind.EXPRESSION, value.strip())
        raise ArgumentError("the expression is empty", offset=text.start, length=len(text), hint="write what to read")
    if block := cursor.block():
        if not block.text or (problem := pytext.problem_in_expression(block.text)):
            why = f": {problem.message}" if block.text and problem else ""
            place = {"offset": block.start, "length": block.end + 1 - block.start}
            raise ArgumentError(f"this is no Python expression{why}", **place, hint="write {len(x)}", code="SPEC-007")
        return Reading(ReadingKind.PYTHON, block.text)
    if marked := cursor.marked("ecid"):
        raise ArgumentError(
            "'#ecid' belongs to distributed sessions",
            offset=marked.start,
            length=len(marked),
            hint="there is one program here",
            code="SPEC-085",
        )
    name = cursor.needs(NAME, "a name")
    if cursor.ahead(_GOES_ON):
        hint = f'put an expression of the program in quotes, and name it: "{name}…" as x'
        raise ArgumentError(
            "this is more than a name", offset=name.start, length=cursor.at + 1 - name.start, hint=hint, code="SPEC-019"
        )
    return Reading(ReadingKind.RESULT) if name == "ret" else Reading(ReadingKind.NAME, str(name))


def read_type(cursor: Cursor) -> str | None:
    """`: type` at the cursor."""
    if not cursor.take(":"):
        return None
    kind = cursor.needs(NAME, "a type")
    if kind not in TYPES:
        hint = f"use one of: {', '.join(TYPES)}"
        raise ArgumentError(f"unknown type '{kind}'", offset=kind.start, length=len(kind), hint=hint, code="SPEC-086")
    return str(kind)


def plain_name(reading: Reading) -> str | None:
    """The name of a value that is given no other: that of the thing that is read, if it has one."""
    if reading.inner is not None:
        return plain_name(reading.inner)
    if reading.kind is ReadingKind.RESULT:
        return "ret"
    return reading.text if reading.kind is ReadingKind.NAME else None


def print_reading(reading: Reading) -> str:
    """How a reading is canonically written, without its type."""
    match reading.kind:
        case ReadingKind.NAME:
            return reading.text
        case ReadingKind.ARGUMENT:
            return f"arg {reading.index}"
        case ReadingKind.RESULT:
            return "ret"
        case ReadingKind.EXPRESSION:
            return quote(reading.text)
        case ReadingKind.PYTHON:
            return f"{{{reading.text}}}"
    assert reading.inner is not None
    return reading.kind.value + print_reading(reading.inner)


def _argument(cursor: Cursor) -> Reading:
    number = cursor.needs(NUMBER, "a number")
    if int(number) < 1:
        raise ArgumentError("arguments are counted from 1", offset=number.start, length=len(number), hint="write arg 1")
    return Reading(ReadingKind.ARGUMENT, index=int(number))
