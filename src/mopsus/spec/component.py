"""Stage 1: pointcut primitives for components: what a component does, with patterns for what is sent or run.

`fork(p, c, f)`, `init(p, q, f)`, `exit(p, reason)`, `send(p, q, m)` and `recv(p, m)` name what happens; the first
argument is the component that does it. `runs(module.function)` restricts to components that run such a function. A
name in a pattern is a parameter or field of the event, and what stands for it is its value.

`exit` of one argument is the end of a `with` block of Python, as ever.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from mopsus.model import Event, Pointcut, Spec
from mopsus.model.symbolic import Any_, Bind, ListOf, Literal, MapOf, Pattern, Same, TupleOf
from mopsus.spec import program
from mopsus.spec.errors import ArgumentError, Findings
from mopsus.spec.hml.events import COMPONENT, FIELDS
from mopsus.spec.pointcuts import PRIMITIVES, Primitive, register
from mopsus.spec.predicate import quote
from mopsus.spec.predicate_text import fault, parse_expression

ARGUMENTS = {
    "fork": ("p", "c", "f"),
    "init": ("p", "q", "f"),
    "exit": ("p", "reason"),
    "send": ("p", "q", "m"),
    "recv": ("p", "m"),
}
"""What each takes, by names for the hint."""

_HINT = 'write _, names, and patterns as in Python: send(p, _, ("done", id))'


@dataclass(frozen=True, slots=True)
class Doing:
    """What a component does. The patterns are of its values: for a fork or init the two components, the function as
    `module.function` and the list of its arguments; else what is written. Slots are numbers of names."""

    kind: str
    patterns: tuple[Pattern, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One case of a pointcut: what is done, and the functions that its component must run, or must not."""

    doing: Doing
    span: Any
    runs: tuple[tuple[tuple[str, ...], bool], ...]
    """Globs, any of which must match, or none if False."""


def is_component(pointcut: Pointcut | None) -> bool:
    """Does the pointcut speak of components?"""
    if pointcut is None:
        return False
    return isinstance(pointcut.argument, Doing) or pointcut.kind == "runs" or any(map(is_component, pointcut.operands))


def is_hml(spec: Spec) -> bool:
    """Does the spec have the events that specs of `.hml` files have?"""
    fields = {event.name: event.fields for event in spec.events if event.parameters == (COMPONENT,)}
    return all(fields.get(name) == wanted for name, wanted in FIELDS.items())


def about_components(spec: Spec) -> bool:
    """Does any event of the spec happen in components?"""
    return is_hml(spec) or any(is_component(event.pointcut) for event in spec.events)


def cases(pointcut: Pointcut) -> Iterator[Case]:
    """The cases of a pointcut that was found right, any of which may hold."""
    for literals in program.cases(pointcut, True):
        doing = next(part for part, _ in literals if isinstance(part.argument, Doing))
        runs = tuple((part.argument, wanted) for part, wanted in literals if part.kind == "runs")
        yield Case(doing.argument, doing.span, runs)


# ---- checks


def check_component_event(event: Event, findings: Findings) -> None:
    """Report what is wrong with an event that is tied to what components do."""
    assert event.pointcut is not None
    if event.advice is not None:
        hint = f"write 'event {event.name}(…) : …' without '{event.advice}'"
        findings.error("SPEC-056", "what a component does has no before and after", event.span, hint)
        return
    try:
        found = program.cases(event.pointcut, True)
    except program.TooManyBranchesError:
        message = f"this pointcut falls into more than {program.MAX_BRANCHES} cases"
        findings.error("SPEC-054", message, event.pointcut.span, "write fewer alternatives, or several events")
        return
    for literals in found:
        if any(part.argument is None for part, _ in literals) or not _check_case(event, literals, findings):
            return


def _check_case(event: Event, literals: program.Literals, findings: Findings) -> bool:
    for part, wanted in literals:
        if not isinstance(part.argument, Doing) and part.kind != "runs":
            hint = "make two events of it"
            findings.error("SPEC-048", f"'{part.kind}' is not about components, the rest is", part.span, hint)
            return False
        if isinstance(part.argument, Doing) and not wanted:
            hint = "name what is done instead, or write !runs(…)"
            findings.error("SPEC-057", "that something is not done is no event", part.span, hint)
            return False
    doings = [part for part, _ in literals if isinstance(part.argument, Doing)]
    if len(doings) != 1:
        message = f"nothing is both '{doings[0].kind}' and '{doings[1].kind}'" if doings else "nothing is done here"
        hint = "join them with '||', or make two events of them" if doings else "add what is done, such as recv(p, m)"
        findings.error("SPEC-057", message, doings[1].span if doings else literals[0][0].span, hint)
        return False
    return _check_names(event, doings[0], findings)


def _check_names(event: Event, doing: Pointcut, findings: Findings) -> bool:
    declared = (*event.parameters, *event.fields)
    for name in doing.argument.names:
        if name not in declared:
            findings.unknown("SPEC-052", "parameter or field", name, declared, doing.span)
            return False
    for name in declared:
        if name not in doing.argument.names:
            hint = f"name it in '{doing.kind}', or take it out of the event"
            findings.error("SPEC-051", f"nothing gives '{name}' a value", doing.span, hint)
            return False
    return True


# ---- reading arguments


class _Reader:
    """Reads patterns from Python's own syntax tree."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.names: list[str] = []

    def error(self, node: ast.AST, message: str, hint: str = _HINT) -> ArgumentError:
        return fault(self.text, node, message, hint, around="_")

    def component(self, node: ast.expr) -> tuple[Pattern, str]:
        if not isinstance(node, ast.Name):
            raise self.error(node, "a component is a name, or _")
        return self.pattern(node)

    def function(self, node: ast.expr) -> tuple[list[Pattern], str]:
        """Patterns of a function and of its arguments."""
        if isinstance(node, ast.Name):
            found, text = self.pattern(node)
            return [found, Any_()], text
        arguments: Pattern = Any_()
        inside = ""
        if isinstance(node, ast.Call):
            if node.keywords:
                raise self.error(node.keywords[0], "arguments by name are a mapping at the end", 'write f(a, {"k": v})')
            parts = [self.pattern(each) for each in node.args]
            arguments, inside = ListOf(tuple(part for part, _ in parts)), f"({', '.join(text for _, text in parts)})"
            node = node.func
        name = _dotted(node)
        if name is None or "." not in name:
            raise self.error(node, "a function is module.function, a name, or _", "write fork(p, c, jobs.worker(n))")
        return [Literal(name), arguments], name + inside

    def pattern(self, node: ast.expr) -> tuple[Pattern, str]:
        """A pattern, and how it is written."""
        match node:
            case ast.Name(id="_"):
                return Any_(), "_"
            case ast.Name(id=name) if name in self.names:
                return Same(self.names.index(name)), name
            case ast.Name(id=name):
                self.names.append(name)
                return Bind(len(self.names) - 1), name
            case ast.Constant(value=str(value)):
                return Literal(value), quote(value)
            case ast.Constant(value=value) if value is not ... and not isinstance(value, complex):
                return Literal(value), repr(value)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
                return Literal(-number), repr(-number)
            case ast.Tuple(elts=items):
                parts = [self.pattern(item) for item in items]
                inside = ", ".join(text for _, text in parts)
                return TupleOf(tuple(part for part, _ in parts)), f"({inside},)" if len(parts) == 1 else f"({inside})"
            case ast.List(elts=items):
                return self.sequence(items)
            case ast.Dict(keys=keys, values=values):
                return self.mapping(node, keys, values)
            case ast.Call(func=ast.Name(id=tag), args=items, keywords=[]):
                parts = [self.pattern(item) for item in items]
                return TupleOf(tuple(part for part, _ in parts), tag), f"{tag}({', '.join(text for _, text in parts)})"
        raise self.error(node, "this is no pattern")

    def sequence(self, items: list[ast.expr]) -> tuple[Pattern, str]:
        last = items[-1] if items else None
        parts = [self.pattern(item) for item in (items[:-1] if isinstance(last, ast.Starred) else items)]
        rest = self.pattern(last.value) if isinstance(last, ast.Starred) else None
        texts = [text for _, text in parts] + ([] if rest is None else [f"*{rest[1]}"])
        return ListOf(tuple(part for part, _ in parts), rest and rest[0]), f"[{', '.join(texts)}]"

    def mapping(self, node: ast.expr, keys: list[ast.expr | None], values: list[ast.expr]) -> tuple[Pattern, str]:
        items: list[tuple[object, Pattern]] = []
        texts: list[str] = []
        for key, value in zip(keys, values, strict=True):
            if not isinstance(key, ast.Constant):
                raise self.error(key or node, "a key of a mapping is a constant")
            pattern, text = self.pattern(value)
            items.append((key.value, pattern))
            texts.append(f"{quote(key.value) if isinstance(key.value, str) else repr(key.value)}: {text}")
        return MapOf(tuple(items)), f"{{{', '.join(texts)}}}"


def _dotted(node: ast.expr) -> str | None:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name) if (outer := _dotted(value)) is not None:
            return f"{outer}.{name}"
    return None


def _parse(kind: str, text: str) -> tuple[Doing, str]:
    wanted = ARGUMENTS[kind]
    call = parse_expression(text, around="_")
    hint = f"write {kind}({', '.join(wanted)}); _ is anything"
    if not isinstance(call, ast.Call) or call.keywords or len(call.args) != len(wanted):
        raise ArgumentError(f"'{kind}' takes {len(wanted)} arguments", length=max(1, len(text)), hint=hint)
    reader = _Reader(text)
    patterns: list[Pattern] = []
    texts: list[str] = []
    for name, node in zip(wanted, call.args, strict=True):
        if name == "f":
            found, written = reader.function(node)
            patterns += found
        else:
            one, written = reader.component(node) if name in "pqc" else reader.pattern(node)
            patterns.append(one)
        texts.append(written)
    return Doing(kind, tuple(patterns), tuple(reader.names)), ", ".join(texts)


def _register_all() -> None:
    for kind in ("fork", "init", "send", "recv"):
        register(Primitive(kind, lambda text, kind=kind: _parse(kind, text)))  # type: ignore[misc]  # its default
    leaving = PRIMITIVES["exit"]  # of a `with` block, which takes one argument

    def parse_exit(text: str) -> tuple[Any, str]:
        return _parse("exit", text) if "," in text else leaving.parse(text)

    PRIMITIVES["exit"] = replace(leaving, parse=parse_exit)
    register(Primitive("runs", program.parse_globs))


_register_all()
