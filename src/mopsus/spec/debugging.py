"""Stage 1: events of debugged programs: the pointcut primitives that only debuggers know, and what a debugger makes of
an event: places to watch, and readings to take there.

`line("f.c:12")`, `write("x")`, `read("x")`, `access("x")`, `update("x + y")`, `syscall("write")`, `signal("SIGUSR1")`,
`throw("T")` and `catch("T")` name points; `value(x = arg 1, n = "q->size" : int)` says what is read. Of the primitives
for Python programs a debugger knows calls, attributes, exceptions and the end of the program.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from mopsus.model import Event, Place, PlaceKind, Pointcut, Reading, ReadingKind, Span
from mopsus.spec import program
from mopsus.spec.cursor import NAME, Cursor
from mopsus.spec.errors import ArgumentError, SpecError, refusal
from mopsus.spec.predicate import quote
from mopsus.spec.program import Branch, Dotted
from mopsus.spec.reading import print_reading, read_reading, read_type

ADVISED = frozenset({PlaceKind.CALL, PlaceKind.WRITE, PlaceKind.READ, PlaceKind.ACCESS, PlaceKind.SYSCALL})
"""What happens there has a before and an after; all else happens at one moment."""

Values = tuple[tuple[str, Reading], ...]
"""What `value(…)` says: names, each with what is read."""

_SAME = {
    "execution": "call",
    "set": "write",
    "get": "read",
    "raising": "throw",
    "handling": "catch",
    "endProgram": "end",
}
"""Primitives for Python programs that name a place of another name."""
_RESULT = Reading(ReadingKind.RESULT)


@dataclass(frozen=True, slots=True)
class FormalEvent:
    """A place where an event happens, and how each of its parameters and fields gets its value there."""

    place: Place
    readings: Mapping[str, Reading]


def formal(event: Event) -> tuple[FormalEvent, ...]:
    """The places of an event, of which any may be reached. `SpecError` if no debugger can see it happen."""
    if not program.is_program(event.pointcut) or event.pointcut is None:
        hint = 'say where it happens: event push before(q) : call(queue_push) && value(q = arg 1), or line("f.c:12")'
        raise _refusal(f"event '{event.name}' is tied to no point of a program", event.span, hint)
    if event.advice == "around":
        raise _refusal("a debugger replaces no calls", event.span, "write before(…) or after(…)")
    if event.raising is not None:
        hint = 'write another event: event failed(e) : throw("Type") && value(e = ret)'
        raise _refusal("a debugger does not tell how a call ended", event.span, hint)
    return tuple(found for case in program.branches(event.pointcut) for found in _formal(event, case))


def _formal(event: Event, case: Branch) -> Iterator[FormalEvent]:
    for part, wanted in (*((each, False) for each in case.without), *case.others):
        if not wanted or part.kind not in ("value", "args", "target"):
            word = part.kind if wanted else f"!{part.kind}"
            raise _refusal(f"no debugger sees '{word}'", part.span, "leave it out, or look at values in a guard")
    place, *more = case.points
    if more:
        raise _refusal("a debugger sees one thing at a place", more[0].span, "join them with '||'")
    kind = _SAME.get(place.kind, place.kind)
    if kind not in list(PlaceKind):
        hint = "use call, line, write, read, access, update, syscall, signal, throw, catch or endProgram"
        raise _refusal(f"no debugger sees '{place.kind}'", place.span, hint)
    after = event.advice == "after" and PlaceKind(kind) in ADVISED
    readings = _readings(event, case, after)
    for what in _whats(place, event):
        yield FormalEvent(Place(PlaceKind(kind), what, after), readings)


def _whats(part: Pointcut, event: Event) -> Iterator[str]:
    """What a primitive names, one by one."""
    if isinstance(part.argument, str):
        yield part.argument
    elif part.kind == "endProgram" or not part.argument or program.subject(part) in event.names:
        yield ""
    else:
        for dotted in part.argument:
            if dotted.plus is not None or ("*" in str(dotted) and dotted.is_plain()):
                raise _refusal(f"'{dotted}' may be many, and a debugger needs one", part.span, "name each, with '|'")
            yield str(dotted)


def _readings(event: Event, case: Branch, after: bool) -> Mapping[str, Reading]:
    found: dict[str, Reading] = {}
    point = case.points[0]
    parts = {part.kind: part for part, _ in case.others}
    if event.returning:
        found[event.returning] = _RESULT
    if (subject := program.subject(point)) is not None and subject in event.names:
        found[subject] = _RESULT  # of an exception
    if (target := parts.get("target")) is not None and (name := program.subject(target)) in event.names:
        found[str(name)] = Reading(ReadingKind.ARGUMENT, index=1)
    if (args := parts.get("args")) is not None:
        found |= _arguments(args, point, after, receiver="target" in parts)
    if (values := parts.get("value")) is not None:
        found |= dict(values.argument)
    return found


def _arguments(args: Pointcut, point: Pointcut, after: bool, *, receiver: bool) -> Iterator[tuple[str, Reading]]:
    """What `args` binds; of a method, arguments are counted behind the object that it is called on."""
    if point.kind == "set" and after and len(args.argument.positional) == 1 and args.argument.positional[0]:
        return iter([(args.argument.positional[0], _RESULT)])
    if point.kind not in program.CALLS:
        raise _refusal(f"'{point.kind}' has no arguments here", args.span, "bind values by value(…)")
    by_position = [
        (name, Reading(ReadingKind.ARGUMENT, index=index))
        for index, name in enumerate(args.argument.positional, 2 if receiver else 1)
        if name is not None
    ]
    by_name = [(name, Reading(ReadingKind.NAME, key)) for key, name in args.argument.named if name is not None]
    return iter([*by_position, *by_name])


def _refusal(message: str, span: Span | None, hint: str) -> SpecError:
    return refusal("SPEC-087", message, span, hint)


# ---- from places to pointcuts


def point(place: Place) -> Pointcut:
    """The primitive that names a place."""
    if place.kind is PlaceKind.END:
        return Pointcut("endProgram", argument=())
    if place.kind is PlaceKind.CALL:
        function = Dotted(tuple(place.what.split(".")) if _is_dotted(place.what) else (place.what,))
        return Pointcut("call", argument=(function,), text=function.text)
    return Pointcut(place.kind.value, argument=place.what, text=quote(place.what) if place.what else "")


def value_pointcut(values: Values) -> Pointcut:
    """The primitive that says what is read."""
    return Pointcut("value", argument=values, text=_print_values(values))


def _is_dotted(name: str) -> bool:
    return all(NAME.fullmatch(part) for part in name.split("."))


# ---- the primitives


def parse_argument(kind: str, text: str) -> tuple[Values | str, str]:
    """What the argument of a primitive means, and how it is written; `ArgumentError` where it is wrong."""
    return _parse_values(text) if kind == "value" else _parse_text(kind, text)


def _parse_values(text: str) -> tuple[Values, str]:
    cursor = Cursor(text)
    values: dict[str, Reading] = {}
    while True:
        name = cursor.needs(NAME, "a name")
        if name in values:
            raise ArgumentError(f"'{name}' is bound twice", offset=name.start, length=len(name), hint="bind it once")
        cursor.need("=")
        reading = read_reading(cursor)
        values[str(name)] = replace(reading, type=read_type(cursor))
        if not cursor.take(","):
            break
    if not cursor.ends():
        cursor.refuse()
    made = tuple(values.items())
    return made, _print_values(made)


def _print_values(values: Values) -> str:
    return ", ".join(
        f"{name} = {print_reading(reading)}" + (f" : {reading.type}" if reading.type else "")
        for name, reading in values
    )


def _parse_text(kind: str, text: str) -> tuple[str, str]:
    """A text in quotes; an exception may be of any type, a signal any."""
    cursor = Cursor(text)
    if kind in ("throw", "catch", "signal") and cursor.ends():
        return "", ""
    found = cursor.string("a text in quotes")
    if found is None or not found[1].strip() or not cursor.ends():
        hint = f'write {kind}("{_EXAMPLES[kind]}")'
        raise ArgumentError(f"'{kind}' takes a text in quotes", length=max(1, len(text)), hint=hint)
    return found[1].strip(), quote(found[1].strip())


_EXAMPLES = {
    "line": "file.c:12",
    "write": "counter",
    "read": "counter",
    "access": "counter",
    "update": "x + y",
    "syscall": "write",
    "signal": "SIGUSR1",
    "throw": "Type",
    "catch": "Type",
}
