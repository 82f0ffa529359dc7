"""Stage 1: row predicates and other arguments written as Python expressions, read with Python's own parser.

Only what has a place in our own tree is let through; everything else is refused where it stands.
"""

from __future__ import annotations

import ast
import math
import re
import warnings
from collections.abc import Iterator, Mapping

from mopsus.spec.errors import ArgumentError
from mopsus.spec.matching import PatternError, searcher
from mopsus.spec.predicate import FUNCTIONS, And, Call, Compare, Field, In, IsNull, Literal, Not, Or, Predicate

_COMPARISONS: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_MAX_DEPTH = 50
_ALLOWED = "use comparisons, and/or/not, in (…), is None, " + ", ".join(sorted(FUNCTIONS))


def parse_predicate(text: str) -> Predicate:
    """The tree of a predicate; `ArgumentError` says where it is wrong."""
    return _Reader(text).predicate(parse_expression(text), 0)


def parse_expression(text: str, around: str = "") -> ast.expr:
    """The Python expression `around(text)`; `ArgumentError` at the place where it is not one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(f"{around}({text}\n)", mode="eval").body
    except SyntaxError as error:
        line, column = error.lineno or 1, error.offset or 1
        raise ArgumentError(error.msg or "invalid syntax", offset=_offset(text, line, column - 1, around)) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise ArgumentError(str(error) or "too deeply nested") from None
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and not _is_text(node.value):
            hint = "write the character itself"
            raise fault(text, node, "half of a surrogate pair is not a character", hint, around=around)
    return tree


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def fault(
    text: str, node: ast.AST, message: str, hint: str, *, code: str | None = None, around: str = ""
) -> ArgumentError:
    """An error about `node`, which `parse_expression(text, around)` gave."""
    line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
    lines = f"{around}({text}\n)".split("\n")
    start = _offset(text, line, _characters(lines[line - 1], column), around)
    end_line, end_column = getattr(node, "end_lineno", line), getattr(node, "end_col_offset", column + 1)
    end = _offset(text, end_line, _characters(lines[end_line - 1], end_column), around)
    return ArgumentError(message, offset=start, length=max(1, end - start), hint=hint, code=code)


def field_name(node: ast.expr) -> str | None:
    """The field that an expression names: `name`, `a.b` or `field("odd name")`."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attribute):
            outer = field_name(value) if not isinstance(value, ast.Call) else None
            return f"{outer}.{attribute}" if outer else None
        case ast.Call(func=ast.Name(id="field"), args=[ast.Constant(value=str(name))], keywords=[]):
            return name
    return None


def _characters(line: str, column: int) -> int:
    """A column counted in UTF-8 bytes, as `ast` does, counted in characters."""
    return len(line.encode("utf-8", "replace")[:column].decode("utf-8", "ignore"))


def _offset(text: str, line: int, column: int, around: str) -> int:
    """The offset in `text` of a place in `around(text)`."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    before = len(around) + 1 if line == 1 else 0
    start = starts[min(max(line, 1), len(starts)) - 1]
    return min(max(start + column - before, 0), len(text))


class _Reader:
    """From Python's tree to ours."""

    def __init__(self, text: str) -> None:
        self.text = text

    def predicate(self, node: ast.expr, depth: int) -> Predicate:
        if depth > _MAX_DEPTH:
            raise ArgumentError("this predicate is nested too deeply", hint="simplify it")
        match node:
            case ast.BoolOp(op=op, values=values):
                kind = And if isinstance(op, ast.And) else Or
                operands = [self.predicate(value, depth + 1) for value in values]
                return kind(tuple(_flatten(kind, operands)))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return Not(self.predicate(operand, depth + 1))
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                sides = [left, *comparators]
                links = [self.comparison(op, sides[k], sides[k + 1], node) for k, op in enumerate(ops)]
                return links[0] if len(links) == 1 else And(tuple(links))
            case ast.Constant(value=bool(value)):
                return Literal(value)
            case ast.Call(func=ast.Name(id=function)) if function != "field":
                return self.call(node, function)
        name = field_name(node)
        if name is None:
            raise self.refuse(node)
        return Field(name)

    def comparison(self, op: ast.cmpop, left: ast.expr, right: ast.expr, node: ast.expr) -> Predicate:
        if isinstance(op, (ast.Is, ast.IsNot)):
            if not (isinstance(right, ast.Constant) and right.value is None):
                raise fault(self.text, right, "'is' is only for None", "write '==' to compare values")
            null = IsNull(self.field(left))
            return Not(null) if isinstance(op, ast.IsNot) else null
        if isinstance(op, (ast.In, ast.NotIn)):
            return self.membership(left, right, negated=isinstance(op, ast.NotIn))
        first, second = self.operand(left), self.operand(right)
        if isinstance(first, Literal) and isinstance(second, Literal):
            raise fault(self.text, node, "this compares two constants", "name a field of the row")
        return Compare(_COMPARISONS[type(op)], first, second)

    def membership(self, left: ast.expr, right: ast.expr, *, negated: bool) -> In:
        if not isinstance(right, (ast.Tuple, ast.List, ast.Set)) or not right.elts:
            raise fault(self.text, right, "'in' needs a list of constants", 'write in ("a", "b")')
        return In(self.field(left), tuple(self.literal(element) for element in right.elts), negated)

    def call(self, node: ast.expr, function: str) -> Call:
        assert isinstance(node, ast.Call)
        if function not in FUNCTIONS:
            raise fault(self.text, node.func, f"there is no function '{function}' here", _ALLOWED)
        if len(node.args) != 2 or node.keywords:
            raise fault(self.text, node, f"'{function}' takes a field and a text", f'write {function}(field, "text")')
        field, argument = self.field(node.args[0]), self.literal(node.args[1]).value
        if not isinstance(argument, str):
            raise fault(self.text, node.args[1], f"'{function}' needs a text", "write it in quotes")
        if function == "matches":
            self.check_pattern(node.args[1], argument)
        return Call(function, field, argument)

    def check_pattern(self, node: ast.expr, pattern: str) -> None:
        try:
            searcher(pattern)
        except PatternError as error:
            raise fault(self.text, node, f"this pattern is too hard: {error}", error.hint) from None
        except (re.error, OverflowError, RecursionError) as error:
            raise fault(self.text, node, f"not a regular expression: {error}", "mend the pattern") from None

    def operand(self, node: ast.expr) -> Field | Literal:
        name = field_name(node)
        return self.literal(node) if name is None else Field(name)

    def field(self, node: ast.expr) -> Field:
        name = field_name(node)
        if name is None:
            raise fault(self.text, node, "a field's name belongs here", 'write name or field("odd name")')
        return Field(name)

    def literal(self, node: ast.expr) -> Literal:
        sign, inner = 1, node
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            sign, inner = (-1 if isinstance(node.op, ast.USub) else 1), node.operand
        match inner:
            case ast.Constant(value=None):
                raise fault(self.text, node, "nothing is equal to None", "write 'is None' or 'is not None'")
            case ast.Constant(value=bool() | str() as value) if inner is node:
                return Literal(value)
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool) and math.isfinite(value):
                return Literal(sign * value)
        raise self.refuse(node)

    def refuse(self, node: ast.expr) -> ArgumentError:
        return fault(self.text, node, "this cannot be asked of a row", _ALLOWED, code="SPEC-020")


def _flatten(kind: type[And] | type[Or], operands: list[Predicate]) -> Iterator[Predicate]:
    for operand in operands:
        if isinstance(operand, kind):
            yield from operand.operands
        else:
            yield operand
