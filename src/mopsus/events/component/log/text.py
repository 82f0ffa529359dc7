"""Stage 4: detectEr's log format: an event on each line, such as `send(<0.20.0>,<0.30.0>,{done,7})`.

This is the definition of the format; the core reads the same, faster, and asks here about every line that is not plain.
"""

from __future__ import annotations

import re
from typing import Final

from mopsus.events.component.log.messages import BadLineError
from mopsus.events.component.log.values import ValueReader, format_atom, format_value
from mopsus.events.component.occurrence import Function, Kind, Occurrence
from mopsus.model.term import Pid

_NAME = re.compile(r"[ \t]*(fork|init|exit|send|recv)(?![A-Za-z0-9_@])")
_BLANK = re.compile(r"[ \t]*(?:%.*)?\Z", re.DOTALL)
_DELAY = re.compile(r"[ \t]*delayed[ \t]+by[ \t]+([0-9]{1,18})(?![A-Za-z0-9_])")
_KINDS: Final = "`fork(`, `init(`, `exit(`, `send(` or `recv(`"


def parse_line(line: str, *, time: float | None = None, location: str | None = None) -> tuple[Occurrence, int] | None:
    """The event of a line and the milliseconds by which it is `delayed`; None if there is only blank or a comment.

    `BadLineError` for anything else. The line has no line break at its end.
    """
    match = _NAME.match(line)
    if match is None:
        if _BLANK.match(line):
            return None
        raise _misplaced(line, 0, f"an event: {_KINDS}")
    reader = ValueReader(line, match.end())
    kind = Kind(match[1])
    reader.take("(")
    subject = reader.pid()
    other: Pid | None = None
    if kind in (Kind.FORK, Kind.INIT, Kind.SEND):
        reader.take(",")
        other = reader.pid()
    reader.take(",")
    data = _function(reader) if kind in (Kind.FORK, Kind.INIT) else reader.value()
    reader.take(")")
    delay = _DELAY.match(line, reader.position)
    end = delay.end() if delay else reader.position
    if not _BLANK.match(line, end):
        raise _misplaced(line, end, "the end of the line" if delay else "the end of the line, or `delayed by`")
    return Occurrence(kind, subject, other, data, time, location), int(delay[1]) if delay else 0


def _function(reader: ValueReader) -> Function:
    """`{module,function,[arguments]}`."""
    reader.take("{")
    module = reader.atom("the name of a module")
    reader.take(",")
    name = reader.atom("the name of a function")
    reader.take(",")
    arguments = reader.sequence("[", "]")
    reader.take("}")
    return Function(module, name, tuple(arguments))


def _misplaced(line: str, position: int, expected: str) -> BadLineError:
    reader = ValueReader(line, position)
    reader.peek()
    return reader.fail(expected)


def format_line(occurrence: Occurrence) -> str:
    """The line of an event, without a line break; `UnwritableError` if a value in it has no form in a text log."""
    kind, subject, other, data = occurrence[:4]
    parts = [format_value(subject)]
    if other is not None:
        parts.append(format_value(other))
    if isinstance(data, Function) and kind in (Kind.FORK, Kind.INIT):
        parts.append(f"{{{format_atom(data.module)},{format_atom(data.name)},{format_value(data.listed())}}}")
    else:
        parts.append(format_value(data))
    return f"{kind.value}({','.join(parts)})"
