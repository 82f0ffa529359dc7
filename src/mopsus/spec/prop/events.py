"""Stage 1: events as `.prop` files declare them, and as specs do.

`[before | after] event WHAT(value as name : type, …)`, where WHAT is a function, a line, `write counter`, `#end` and so
on. Declarations that say the same are one event of the spec.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable
from dataclasses import replace

from mopsus.model import Event, Place, PlaceKind, Pointcut, Span
from mopsus.spec.cursor import NAME, NUMBER, Cursor, Word
from mopsus.spec.debugging import ADVISED, point, value_pointcut
from mopsus.spec.errors import ArgumentError
from mopsus.spec.pointcuts import conjunction
from mopsus.spec.predicate import quote
from mopsus.spec.prop.tree import WORDS, Automaton, Declared, Value
from mopsus.spec.reading import plain_name, print_reading, read_reading, read_type
from mopsus.spec.scan import KEYWORDS

_VARIABLES = ("write", "read", "access", "update")
_NAMED = ("syscall", "signal", "throw", "catch")
_FUNCTION = re.compile(rf"~?{NAME.pattern}(?:(?:\.|::)~?{NAME.pattern})*")
_DESTRUCTOR = re.compile(rf"~{NAME.pattern}$")
_LINE = re.compile(r"[\w./+-]+:\d+\b(?!:)")
_PATH = re.compile(rf"[*&]*{NAME.pattern}(?:(?:\.|->|::){NAME.pattern}|\[\d+\])*")
_OTHER_PROGRAM = re.compile(r"in\s+program\b")
_WHAT_FOLLOWS = re.compile(rf"(?:{'|'.join((*_VARIABLES, *_NAMED, 'line'))})\s+(?!(?:success|failure)\b)[\w\"'*&~:.]")


# ---- reading


def read_named(cursor: Cursor) -> Word:
    """`event name`, as formulas have it."""
    cursor.need("event")
    return cursor.needs(NAME, "an event's name")


def read_declared(cursor: Cursor) -> Declared:
    """An event as a property file declares it."""
    first = cursor.take("before", "after")
    start = cursor.need("event", "call") if first is None else first
    if first is not None:
        cursor.need("event", "call")
    kind, what = _what(cursor)
    after = first == "after"
    if after and kind not in ADVISED:
        hint = "leave the word out"
        raise ArgumentError(f"'{kind}' has no after", offset=start.start, length=len(start), hint=hint, code="SPEC-053")
    end = cursor.end
    values: list[Value] = []
    if cursor.take("("):
        while not cursor.take(")"):
            if values:
                cursor.need(",")
            values.append(_value(cursor, values))
        end = cursor.end
    if cursor.ahead(_OTHER_PROGRAM):
        message, hint = "'in program' belongs to distributed sessions", "there is one program here"
        raise ArgumentError(message, offset=cursor.at, length=len("in"), hint=hint, code="SPEC-085")
    return Declared(Place(kind, what, after), tuple(values), start.start, end)


def _what(cursor: Cursor) -> tuple[PlaceKind, str]:
    if word := cursor.marked("join", "leave"):
        hint = "there is one program here, which is there from the beginning"
        raise ArgumentError(
            f"'{word}' belongs to distributed sessions", offset=word.start, length=len(word), hint=hint, code="SPEC-085"
        )
    if cursor.marked("end"):
        return PlaceKind.END, ""
    if cursor.ahead(_WHAT_FOLLOWS):
        word = cursor.need(*_VARIABLES, *_NAMED, "line")
        if word == "line":
            return PlaceKind.LINE, _named(cursor, re.compile(rf"{_LINE.pattern}|{NUMBER.pattern}"), "a line")
        pattern = _PATH if word in _VARIABLES else re.compile(rf"{_FUNCTION.pattern}\*?")
        return PlaceKind(word), _named(cursor, pattern, "a name, or an expression in quotes")
    if line := cursor.match(_LINE, "a line") or cursor.match(NUMBER, "a line"):
        return PlaceKind.LINE, str(line)
    return PlaceKind.CALL, _named(cursor, _FUNCTION, "a function")


def _named(cursor: Cursor, pattern: re.Pattern[str], what: str) -> str:
    if quoted := cursor.string(what):
        word, text = quoted
        if text.strip():
            return text.strip()
        raise ArgumentError("this name is empty", offset=word.start, length=len(word), hint=f"write {what}")
    return str(cursor.needs(pattern, what))


def _value(cursor: Cursor, before: Iterable[Value]) -> Value:
    cursor.ends()
    start = cursor.at
    reading = read_reading(cursor)
    kind = read_type(cursor)
    alias = cursor.needs(NAME, "a name") if cursor.take("as") else None
    kind = kind or read_type(cursor)
    if kind is not None:
        reading = type(reading)(reading.kind, reading.text, reading.index, reading.inner, kind)
    plain = plain_name(reading)
    if alias is None and plain is None:
        hint = f"write {print_reading(reading)} as x"
        raise ArgumentError(
            "this value needs a name", offset=start, length=cursor.end - start, hint=hint, code="SPEC-083"
        )
    name = alias or Word(plain or "", start)
    if keyword.iskeyword(name):
        hint = f"write {print_reading(reading)} as x"
        raise ArgumentError(
            f"'{name}' is a word of Python, so code cannot name the value",
            offset=name.start,
            length=len(name),
            hint=hint,
            code="SPEC-026",
        )
    if any(value.name == name for value in before):
        hint = "name one of them otherwise: … as x"
        raise ArgumentError(
            f"two values of this event are called '{name}'",
            offset=name.start,
            length=len(name),
            hint=hint,
            code="SPEC-037",
        )
    return Value(name, reading)


# ---- printing


def print_declared(event: Declared) -> str:
    """The canonical text of a declaration."""
    place = event.place
    words = ["after" if place.after else "", "event", *_print_what(place)]
    values = ", ".join(map(_print_value, event.values))
    return " ".join(filter(None, words)) + f"({values})"


def _print_what(place: Place) -> tuple[str, ...]:
    match place.kind:
        case PlaceKind.END:
            return ("#end",)
        case PlaceKind.CALL:
            return (_print_name(place.what, _FUNCTION),)
        case PlaceKind.LINE if NUMBER.fullmatch(place.what):
            return "line", place.what
        case PlaceKind.LINE:
            return (place.what,) if _LINE.fullmatch(place.what) else ("line", quote(place.what))
    return place.kind.value, _print_name(place.what, _PATH)


def _print_name(name: str, pattern: re.Pattern[str]) -> str:
    return name if pattern.fullmatch(name) and name not in WORDS else quote(name)


def _print_value(value: Value) -> str:
    kind = f" : {value.reading.type}" if value.reading.type else ""
    alias = "" if plain_name(value.reading) == value.name else f" as {value.name}"
    return print_reading(value.reading) + alias + kind


# ---- events of a spec


def name_events(automaton: Automaton[Declared]) -> dict[Declared, str]:
    """A name for each declaration; those that say the same, in whatever order, have the same one."""
    names: dict[Declared, str] = {}
    known: dict[object, str] = {}
    for transition in automaton.transitions():
        event = transition.event
        if event.meaning not in known:
            known[event.meaning] = _unique(_name(event.place), known.values())
        names[event] = known[event.meaning]
    return names


def make_event(name: str, event: Declared, slices: tuple[Word, ...], span: Span | None) -> Event:
    """The event of a spec that a declaration stands for."""
    names = [str(value.name) for value in event.values]
    parts: list[Pointcut] = [point(event.place)]
    if event.values:
        parts.append(value_pointcut(tuple((str(value.name), value.reading) for value in event.values)))
    return Event(
        name,
        parameters=tuple(each for each in names if each in slices),
        advice=("after" if event.place.after else "before") if event.place.kind in ADVISED else None,
        pointcut=conjunction(tuple(replace(part, span=span) for part in parts)),
        fields=tuple(each for each in names if each not in slices),
        span=span,
    )


def _name(place: Place) -> str:
    """A name that tells what happens: `queue_push`, `fopen_after`, `write_counter`, `line_queue_c_12`."""
    words = [] if place.kind is PlaceKind.CALL else [place.kind.value]
    words += [_DESTRUCTOR.sub("destructor", place.what), "after" if place.after else ""]
    name = re.sub(r"\W+", "_", "_".join(filter(None, words))).strip("_") or "event"
    if name[0].isdigit() or keyword.iskeyword(name) or name in KEYWORDS:
        name = f"{place.kind.value}_{name}"
    return name


def _unique(name: str, taken: Iterable[str]) -> str:
    number, found, known = 1, name, set(taken)
    while found in known:
        number += 1
        found = f"{name}_{number}"
    return found
