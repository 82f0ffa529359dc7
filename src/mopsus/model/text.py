"""Stage 0: names, values and places as short, harmless, one-line text.

Whatever a trace contains may be shown to a person, so no control character, terminal escape
sequence, direction override or lone surrogate gets through, and nothing is longer than its limit.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Mapping
from itertools import islice

from mopsus import untouched
from mopsus.model import Fault, ObjectRef, Value, Verdict, WitnessEvent
from mopsus.model.term import Atom, Pid, Reference, String

STANDARD_INPUT = "<stdin>"
"""What a trace is called that comes from there: no file that anybody could open."""

NAME_LIMIT = 200
VALUE_LIMIT = 80
TUPLE_LIMIT = 8
# Converting a longer int to decimal digits is quadratic, and Python refuses it from 4300 digits on.
INT_BITS = 256
_FILE_LINE = re.compile(r"(?P<file>.+?):(?P<line>[1-9]\d{0,8})(?::(?P<column>[1-9]\d{0,8}))?", re.DOTALL)
_PLAIN_REPR = re.compile(r"<[\w.<>]+ object at 0x[0-9A-Fa-f]+>")


def printable(text: str, limit: int = NAME_LIMIT) -> str:
    """`text` on one line: what is not printable becomes its Python escape, the rest beyond `limit` becomes `…`."""
    cut = text if len(text) <= limit else text[:limit] + "…"
    if cut.isprintable():
        return cut
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in cut)


def show_value(value: Value, limit: int = VALUE_LIMIT) -> str:
    """A value as Python would write it (so that `1`, `1.0` and `'1'` look different), cut and harmless.

    Of an object whose `repr` says nothing but its type and address, only type and serial number are shown.
    """
    if isinstance(value, ObjectRef):
        name = f"{value.type}#{value.serial}"
        return printable(name if _PLAIN_REPR.fullmatch(value.text) else f"{name} {value.text}", limit)
    if isinstance(value, tuple | list):
        shown = [show_value(item, limit) for item in value[:TUPLE_LIMIT]]
        inside = ", ".join([*shown, "…"] if len(value) > TUPLE_LIMIT else shown)
        if isinstance(value, list):
            return printable(f"[{inside}]", limit)
        return printable(f"({inside},)" if len(value) == 1 else f"({inside})", limit)
    if isinstance(value, dict):
        pairs = [f"{show_value(key, limit)}: {show_value(value[key], limit)}" for key in islice(value, TUPLE_LIMIT)]
        return printable("{" + ", ".join([*pairs, "…"] if len(value) > TUPLE_LIMIT else pairs) + "}", limit)
    if isinstance(value, Atom | Pid | Reference):
        return printable(value, limit)
    if isinstance(value, String):
        value = str(value)
    if isinstance(value, str | bytes):
        text = repr(value[:limit])
        return text if len(value) <= limit else text + "…"
    if isinstance(value, int) and value.bit_length() > INT_BITS:
        return printable(hex(value), limit)
    return printable(repr(value), limit)


def show_binding(binding: Mapping[str, Value]) -> str:
    """`i=17, name='x'`; nothing for a spec without parameters."""
    return ", ".join(f"{printable(name)}={show_value(value)}" for name, value in binding.items())


def position(location: str | None, row: int | None) -> tuple[str, bool]:
    """The place that a location names, and whether it is only a position in a trace.

    A row of a trace that has no location of its own is located as `source:row`; its place is
    the source alone, because its row is new each time.
    """
    if location is None:
        return "", True
    if row is not None and location.endswith(f":{row}"):
        return location[: -len(f":{row}")], True
    return location, False


def show_place(item: Verdict | WitnessEvent | Fault, known: str = "") -> str:
    """Where it happened: `trace.csv row 12`, `app.py:33 (row 12)`, `row 12`, or nothing.

    A row is said to be one, because the header, blank lines and quoted line breaks make its line another number.
    In the trace `known`, which the reader knows to be meant, the row alone says it.
    """
    place, in_trace = position(item.location, item.row)
    row = "" if item.row is None else f"row {item.row}"
    if in_trace and row and place in ("", known):
        return row
    if in_trace:
        return " ".join(part for part in (printable(place), row) if part)
    return f"{printable(place)} ({row})" if row else printable(short_path(place))


def short_path(path: str) -> str:
    """A path below the current folder without it; any other as it is."""
    if not untouched.isabs(path):
        return path
    try:
        here = f"{untouched.getcwd().rstrip(os.sep)}{os.sep}"
    except OSError:  # the folder is gone
        return path
    return path.removeprefix(here)


def source_of(item: Verdict | WitnessEvent) -> str:
    """The trace that it is a row of; empty if it has a location of its own, or none."""
    place, in_trace = position(item.location, item.row)
    return place if in_trace else ""


def show_time(time: float | int | None) -> str:
    """A time stamp as the trace gave it; nothing if it gave none."""
    return "" if time is None else show_value(time)


def listing(names: list[str], most: int = 5) -> str:
    """Names in quotes, joined for a sentence: "`a`, `b` or `c`"; at most `most` of them."""
    shown = [f"`{printable(name)}`" for name in names[:most]]
    if len(names) > most:
        rest = len(names) - most
        return f"{', '.join(shown)} or {rest} other{'s' if rest > 1 else ''}"
    return " or ".join(part for part in (", ".join(shown[:-1]), shown[-1]) if part) if shown else ""


def default_message(verdict: Verdict) -> str:
    """The verdict in one line: `HasNext: match for i=17 at trace.csv row 12`."""
    message = f"{printable(verdict.spec)}: {printable(verdict.category)}"
    if verdict.binding:
        message += f" for {show_binding(verdict.binding)}"
    if place := show_place(verdict):
        message += f" at {place}"
    return message


def show_signal(number: int) -> str:
    """`SIGSEGV (segmentation fault)`."""
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    words = signal.strsignal(number)
    return f"{name} ({words[0].lower()}{words[1:]})" if words else name


def file_line(location: str) -> tuple[str, int, int | None] | None:
    """File, line and, if given, column of a location `file:line` or `file:line:column`; None if it is none."""
    found = _FILE_LINE.fullmatch(location)
    if found is None:
        return None
    return found["file"], int(found["line"]), int(found["column"]) if found["column"] else None
