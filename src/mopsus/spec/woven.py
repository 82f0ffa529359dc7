"""Stage 1: events of debuggers in programs that are woven: what is read at a call is an argument, or the result.

So a property of a debugged Python program can be checked without the debugger, too, as long as it speaks of calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mopsus.model import Event, Pointcut, Reading, ReadingKind, Span
from mopsus.spec import program
from mopsus.spec.errors import SpecError, refusal
from mopsus.spec.pointcuts import conjunction, conjuncts
from mopsus.spec.program import Arguments, Dotted


def woven(event: Event) -> Event:
    """The event with `args`, `target` and `returning` in the place of `value`. `SpecError` if only a debugger can see
    it happen, or can read what it asks for."""
    for part in _parts(event.pointcut):
        if part.kind in program.DEBUGGED:
            raise _refusal(f"only a debugger sees '{part.kind}'", part.span, "run the program by mopsus debug")
    parts = conjuncts(event.pointcut)
    values = [part for part in parts if part.kind == "value"]
    if not values and not any(part.kind == "value" for part in _parts(event.pointcut)):
        return event
    others = tuple(part for part in parts if part.kind != "value")
    call = next((part for part in others if part.kind in program.CALLS), None)
    if len(values) != 1 or call is None or any(part.kind in ("args", "target") for part in others):
        hint = "write call(f) && value(…), or args(…) in its place"
        raise _refusal("values are read at a call, by one value(…)", event.span, hint)
    return _bound(event, values[0], others, method=any(len(dotted.parts) > 1 for dotted in call.argument))


def _bound(event: Event, value: Pointcut, others: tuple[Pointcut, ...], *, method: bool) -> Event:
    positional: dict[int, str] = {}
    named: list[tuple[str, str | None]] = []
    target: tuple[Pointcut, ...] = ()
    returning = event.returning
    for name, reading in value.argument:
        match reading:
            case Reading(ReadingKind.RESULT) if event.advice == "after" and returning is None:
                returning = name
            case Reading(ReadingKind.NAME, "self"):
                target = (Pointcut("target", argument=(Dotted((name,)),), text=name, span=value.span),)
            case Reading(ReadingKind.NAME, text):
                named.append((text, name))
            case Reading(ReadingKind.ARGUMENT, index=index) if not method:
                positional[index - 1] = name
            case _:
                hint = "bind arguments by their names, the object by self, the result by ret; or run mopsus debug"
                raise _refusal(f"only a debugger can read '{name}'", value.span, hint)
    by_position = tuple(positional.get(index) for index in range(max(positional, default=-1) + 1))
    args = Pointcut("args", argument=Arguments(by_position, tuple(named), more=True), span=value.span)
    return replace(event, pointcut=conjunction((*others, *target, args)), returning=returning)


def _parts(pointcut: Pointcut | None) -> Iterator[Pointcut]:
    if pointcut is not None:
        yield pointcut
        for operand in pointcut.operands:
            yield from _parts(operand)


def _refusal(message: str, span: Span | None, hint: str) -> SpecError:
    return refusal("SPEC-088", message, span, hint)
