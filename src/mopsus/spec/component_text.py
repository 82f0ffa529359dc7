"""Stage 1: arguments of pointcut primitives for components: patterns, written as in Python and read by its parser."""

from __future__ import annotations

import ast

from mopsus.model.symbolic import Any_, Bind, ListOf, Literal, MapOf, Pattern, Same, TupleOf
from mopsus.spec.component import ARGUMENTS, Doing
from mopsus.spec.errors import ArgumentError
from mopsus.spec.predicate import quote
from mopsus.spec.predicate_text import fault, parse_expression

_HINT = 'write _, names, and patterns as in Python: send(p, _, ("done", id))'


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


def parse_doing(kind: str, text: str) -> tuple[Doing, str]:
    """The argument of a primitive, and how it is canonically written; `ArgumentError` where it is wrong."""
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
