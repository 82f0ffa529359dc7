"""Stage 1: the predicate of `row(…)`: a small, safe expression language over the fields of a trace row.

Nothing of it is ever executed: the tree here is all that a predicate can be.

A comparison or function that meets a missing or null field, or values of different kinds
(number, text, truth value), is false, except that values of different kinds are `!=`. `not` turns
true into false and false into true: `not (x == 1)` holds for a row without `x`, `x != 1` does not.
A field alone holds when its value is the truth value true.
"""

from __future__ import annotations

import keyword
import operator
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from mopsus.spec.matching import searcher

Scalar: TypeAlias = "str | int | float | bool"


@dataclass(frozen=True, slots=True)
class Field:
    """The value of a field of the row; as a predicate, that it is true."""

    name: str


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant; as a predicate, `True` or `False`."""

    value: Scalar

    def __eq__(self, other: object) -> bool:
        # 1, 1.0 and True are different literals although Python finds them equal.
        return isinstance(other, Literal) and (type(self.value), self.value) == (type(other.value), other.value)

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


@dataclass(frozen=True, slots=True)
class Compare:
    """`left op right` with `op` one of `== != < <= > >=`."""

    op: str
    left: Field | Literal
    right: Field | Literal


@dataclass(frozen=True, slots=True)
class In:
    """The field is equal to one of the values, or with `negated` to none of them (false when it is null)."""

    field: Field
    values: tuple[Literal, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class IsNull:
    """The field is missing or null."""

    field: Field


@dataclass(frozen=True, slots=True)
class Call:
    """A function of a text field: `startswith`, `endswith`, `contains`, `matches` (a regular expression, anywhere)."""

    function: str
    field: Field
    argument: str


@dataclass(frozen=True, slots=True)
class Not:
    """True when the operand is false."""

    operand: Predicate


@dataclass(frozen=True, slots=True)
class And:
    """All operands; at least two."""

    operands: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Some operand; at least two."""

    operands: tuple[Predicate, ...]


Predicate: TypeAlias = "Field | Literal | Compare | In | IsNull | Call | Not | And | Or"

_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
FUNCTIONS: Mapping[str, Callable[[str, str], bool]] = {
    "startswith": str.startswith,
    "endswith": str.endswith,
    "contains": operator.contains,
    "matches": lambda text, pattern: searcher(pattern)(text),
}


def evaluate(predicate: Predicate, row: Mapping[str, Any]) -> bool:
    """Does the predicate hold for a row? Never raises, whatever the row's values are."""
    match predicate:
        case Field(name):
            return row.get(name) is True
        case Literal(value):
            return value is True
        case Compare(op, left, right):
            return _compare(op, _value(left, row), _value(right, row))
        case In(field, values, negated):
            member = _value(field, row)
            found = any(_compare("==", member, literal.value) for literal in values)
            return member is not None and found is not negated
        case IsNull(field):
            return _value(field, row) is None
        case Call(function, field, argument):
            text = _value(field, row)
            return isinstance(text, str) and FUNCTIONS[function](text, argument)
        case Not(operand):
            return not evaluate(operand, row)
        case And(operands):
            return all(evaluate(operand, row) for operand in operands)
        case Or(operands):
            return any(evaluate(operand, row) for operand in operands)


def fields(predicate: Predicate) -> tuple[str, ...]:
    """The names of the fields that a predicate reads, each once, in the order written."""
    return tuple(dict.fromkeys(_fields(predicate)))


def null_tested(predicate: Predicate) -> Iterator[str]:
    """The names of the fields of which it is asked whether they are missing; `is not None` asks for them."""
    match predicate:
        case IsNull(field):
            yield field.name
        case Not(IsNull()):
            pass
        case Not(operand):
            yield from null_tested(operand)
        case And(operands) | Or(operands):
            for operand in operands:
                yield from null_tested(operand)


def print_predicate(predicate: Predicate) -> str:
    """The canonical text; reading it gives the predicate back."""
    return _text(predicate, 0)


def field_text(name: str) -> str:
    """A field's name as written in a predicate or `bind`."""
    plain = all(part.isidentifier() and not keyword.iskeyword(part) for part in name.split("."))
    # Python reads some letters as others; such a name must be quoted to stay what it is.
    return name if plain and unicodedata.is_normalized("NFKC", name) else f"field({quote(name)})"


def quote(text: str) -> str:
    """A Python string literal, in double quotes unless the text has some."""
    written = repr(text)
    if written.startswith("'") and '"' not in written:
        return '"' + written[1:-1].replace("\\'", "'") + '"'
    return written


def _value(operand: Field | Literal, row: Mapping[str, Any]) -> object:
    return operand.value if isinstance(operand, Literal) else row.get(operand.name)


def _kind(value: object) -> type:
    if isinstance(value, bool):
        return bool
    return float if isinstance(value, (int, float)) else type(value)


def _compare(op: str, left: object, right: object) -> bool:
    if left is None or right is None:
        return False
    if _kind(left) is not _kind(right):
        return op == "!="
    try:
        return bool(_OPERATORS[op](left, right))
    except Exception:
        # Values of a row may be of any type, with any idea of comparison.
        return False


def _fields(predicate: Predicate) -> Iterator[str]:
    match predicate:
        case Field(name):
            yield name
        case Compare(_, left, right):
            yield from (side.name for side in (left, right) if isinstance(side, Field))
        case In(field) | IsNull(field) | Call(_, field):
            yield field.name
        case Not(operand):
            yield from _fields(operand)
        case And(operands) | Or(operands):
            for operand in operands:
                yield from _fields(operand)


def _text(predicate: Predicate, outer: int) -> str:
    """`outer` is how tightly the text around binds: 0 nothing, 1 `or`, 2 `and`, 3 `not`."""
    match predicate:
        case Field(name):
            return field_text(name)
        case Literal(value):
            return _literal_text(value)
        case Compare(op, left, right):
            return _wrapped(f"{_text(left, 4)} {op} {_text(right, 4)}", outer >= 3)
        case In(field, values, negated):
            listed = ", ".join(_literal_text(literal.value) for literal in values)
            comma = "," if len(values) == 1 else ""
            return _wrapped(f"{_text(field, 4)} {'not in' if negated else 'in'} ({listed}{comma})", outer >= 3)
        case IsNull(field):
            return f"{_text(field, 4)} is None"
        case Call(function, field, argument):
            written = _pattern_text(argument) if function == "matches" else quote(argument)
            return f"{function}({_text(field, 4)}, {written})"
        case Not(IsNull(field)):
            return f"{_text(field, 4)} is not None"
        case Not(operand):
            return f"not {_text(operand, 3)}"
        case And(operands):
            written = " and ".join(_text(operand, 2) for operand in operands)
            return _wrapped(written, outer >= 2)
        case Or(operands):
            written = " or ".join(_text(operand, 1) for operand in operands)
            return _wrapped(written, outer >= 1)


def _wrapped(text: str, needed: bool) -> str:
    return f"({text})" if needed else text


def _literal_text(value: Scalar) -> str:
    return quote(value) if isinstance(value, str) else repr(value)


def _pattern_text(pattern: str) -> str:
    raw = "\\" in pattern and '"' not in pattern and not pattern.endswith("\\") and pattern.isprintable()
    return f'r"{pattern}"' if raw else quote(pattern)
