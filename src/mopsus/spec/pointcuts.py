"""Stage 1: pointcut primitives: what may stand in a pointcut, and what its argument means.

The grammar knows only `name(argument)`; the registry here says which names there are and how
their arguments are read, so that an event source can bring primitives of its own. Those for
traces: `named("a", "b")`, `row(predicate)`, `bind(parameter = field)`; those for programs are in `program`.
Predicates are loaded when one is met: programs have none.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mopsus.model import Event, Pointcut
from mopsus.spec.errors import ArgumentError

if TYPE_CHECKING:
    from mopsus.spec.predicate import Predicate


@dataclass(frozen=True, slots=True)
class Primitive:
    """A pointcut primitive. `parse` gives the argument object and its canonical text, or raises `ArgumentError`.

    `top_level`: it may only be joined by `&&`, never stand under `||` or `!`.
    `recognises`: with it in its pointcut, an event is no longer recognised by its own name.
    """

    name: str
    parse: Callable[[str], tuple[Any, str]]
    top_level: bool = False
    recognises: bool = True


PRIMITIVES: dict[str, Primitive] = {}

FOREIGN = {
    "cflowbelow": "cflow",
    "handler": "handling",
    "if": "condition",
    "initialization": "new",
    "result": "after(…) returning(x)",
    "staticinitialization": "call",
    "this": "target",
    "withincode": "within",
}
"""What other monitoring systems call points of a program, and what says the same here."""


def register(primitive: Primitive) -> None:
    """Add a primitive; its name must be free."""
    if primitive.name in PRIMITIVES:
        raise ValueError(f"pointcut primitive {primitive.name!r} is registered already")
    PRIMITIVES[primitive.name] = primitive


def conjuncts(pointcut: Pointcut | None) -> tuple[Pointcut, ...]:
    """The parts that must all hold."""
    if pointcut is None:
        return ()
    return pointcut.operands if pointcut.kind == "and" else (pointcut,)


def conjunction(parts: tuple[Pointcut, ...]) -> Pointcut | None:
    """The pointcut of which `parts` are the conjuncts."""
    if len(parts) <= 1:
        return parts[0] if parts else None
    return Pointcut("and", parts, span=parts[0].span)


def recognition(event: Event) -> Pointcut:
    """What a trace row must satisfy to be this event: the pointcut without `bind`, or the event's own name."""
    parts = tuple(part for part in conjuncts(event.pointcut) if part.kind != "bind")
    own = named(event.name)
    if not any(_recognises(part) for part in parts):
        parts = (own, *parts)
    return conjunction(parts) or own


def columns(event: Event) -> dict[str, str]:
    """For each parameter and field of the event, the column of a trace that holds its value."""
    bound: Mapping[str, str] = {}
    for part in conjuncts(event.pointcut):
        if part.kind == "bind":
            bound = {**bound, **dict(part.argument)}
    return {name: bound.get(name, name) for name in event.names}


def holds(pointcut: Pointcut, name: str, row: Mapping[str, Any]) -> bool:
    """Does a trace row with that event name satisfy a pointcut of trace primitives? The definition, not a fast way."""
    from mopsus.spec.predicate import evaluate

    match pointcut.kind:
        case "and":
            return all(holds(operand, name, row) for operand in pointcut.operands)
        case "or":
            return any(holds(operand, name, row) for operand in pointcut.operands)
        case "not":
            return not holds(pointcut.operands[0], name, row)
        case "named":
            return name in pointcut.argument
        case "row":
            return evaluate(pointcut.argument, row)
        case "bind":
            return True
    raise ValueError(f"{pointcut.kind!r} is no trace primitive")


def named(*names: str) -> Pointcut:
    """The primitive that recognises rows by event name."""
    from mopsus.spec.predicate import quote

    return Pointcut("named", argument=names, text=", ".join(map(quote, names)))


def _recognises(pointcut: Pointcut) -> bool:
    if pointcut.operands:
        return any(_recognises(operand) for operand in pointcut.operands)
    primitive = PRIMITIVES.get(pointcut.kind)
    return primitive is None or primitive.recognises


def _parse_named(text: str) -> tuple[tuple[str, ...], str]:
    from mopsus.spec.predicate import quote
    from mopsus.spec.predicate_text import fault

    call = _call(text)
    names = []
    for node in [*call.args, *(keyword.value for keyword in call.keywords)]:
        if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            raise fault(text, node, "'named' takes event names", 'write named("a", "b")', around="_")
        names.append(node.value)
    if not names or call.keywords:
        raise ArgumentError("'named' takes event names", length=max(1, len(text)), hint='write named("a", "b")')
    return tuple(names), ", ".join(map(quote, names))


def _parse_row(text: str) -> tuple[Predicate, str]:
    from mopsus.spec.predicate import print_predicate
    from mopsus.spec.predicate_text import parse_predicate

    if not text.strip():
        raise ArgumentError("'row' takes a predicate over the row's fields", hint="write row(status >= 500)")
    tree = parse_predicate(text)
    return tree, print_predicate(tree)


def _parse_bind(text: str) -> tuple[tuple[tuple[str, str], ...], str]:
    from mopsus.spec.predicate import field_text
    from mopsus.spec.predicate_text import fault, field_name

    hint = 'write bind(parameter = field, other = "odd name")'
    call = _call(text)
    if call.args or not call.keywords:
        where = call.args[0] if call.args else call
        raise fault(text, where, "'bind' takes parameter = field", hint, around="_")
    pairs: list[tuple[str, str]] = []
    for item in call.keywords:
        match item.value:
            case ast.Constant(value=str(name)):
                field: str | None = name
            case other:
                field = field_name(other)
        if item.arg is None or field is None:
            raise fault(text, item.value, "'bind' takes parameter = field", hint, around="_")
        if item.arg in dict(pairs):
            message = f"'{item.arg}' is bound twice"
            raise fault(text, item, message, "bind each parameter once", code="SPEC-039", around="_")
        pairs.append((item.arg, field))
    return tuple(pairs), ", ".join(f"{name} = {field_text(field)}" for name, field in pairs)


def _call(text: str) -> ast.Call:
    from mopsus.spec.predicate_text import parse_expression

    node = parse_expression(text, around="_")
    if not isinstance(node, ast.Call):
        raise ArgumentError("this is no list of arguments", length=max(1, len(text)))
    return node


register(Primitive("named", _parse_named))
register(Primitive("row", _parse_row))
register(Primitive("bind", _parse_bind, top_level=True, recognises=False))
