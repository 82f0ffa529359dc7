"""Stage 2: the values that events carry, in Python: which are equal, how they are ordered, what guards compute of them.

Slow and plain. Formulas are evaluated by this only to select components and to compare the core with.

A text of Python is equal to an atom and to a string of the same spelling; `True` and `False` are the atoms `true` and
`false` and never numbers; `None` is the atom `none` or `undefined`; a member of an enumeration is the atom of its name
in lower case, or its value; a named tuple or a frozen data class is a tuple.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any

from mopsus.model.term import Atom, Pid, Reference, String

FUNCTIONS: Mapping[str, int] = {
    "is_integer": 1,
    "is_float": 1,
    "is_number": 1,
    "is_atom": 1,
    "is_boolean": 1,
    "is_list": 1,
    "is_tuple": 1,
    "is_binary": 1,
    "is_pid": 1,
    "is_reference": 1,
    "is_map": 1,
    "length": 1,
    "tuple_size": 1,
    "element": 2,
    "hd": 1,
    "tl": 1,
    "abs": 1,
}
"""The functions that a guard may call, with the number of their operands."""

COMPARISONS = frozenset({"=:=", "=/=", "==", "/=", "<", "=<", ">", ">="})


class GuardError(Exception):
    """An operator does not take these operands: the part of the guard that it stands in fails."""


def exactly_equal(left: object, right: object) -> bool:
    """`=:=`: 1 is not 1.0, and an atom is not a string."""
    return _equal(left, right, exact=True)


def loosely_equal(left: object, right: object) -> bool:
    """`==`: numbers by value."""
    return _equal(left, right, exact=False)


def _equal(left: object, right: object, *, exact: bool) -> bool:
    if isinstance(left, Enum) or isinstance(right, Enum):
        return any(_equal(a, b, exact=exact) for a in _readings(left) for b in _readings(right))
    left, right = plain(left), plain(right)
    match left, right:
        case (int() | float(), int() | float()):
            return left == right and (not exact or type(left) is type(right))
        case (str(), str()):
            return str(left) == str(right) and _same_kind(left, right)
        case (None, Atom()) | (Atom(), None):
            return (left or right) in ("none", "undefined")
        case (tuple(), tuple()) | (list(), list()):
            return _equal_parts(left, right, exact=exact)
        case (Mapping(), Mapping()):
            return len(left) == len(right) and all(
                any(_equal(key, other, exact=True) and _equal(value, right[other], exact=exact) for other in right)
                for key, value in left.items()
            )
        case (bytes(), bytes()) | (None, None):
            return left == right
    return left is right


def _equal_parts(left: Any, right: Any, *, exact: bool) -> bool:  # noqa: ANN401 - two tuples or two lists
    return len(left) == len(right) and all(_equal(a, b, exact=exact) for a, b in zip(left, right, strict=True))


def _readings(value: object) -> list[object]:
    """What an enumeration's member may be taken for; any other value only for itself."""
    return [Atom(value.name.lower()), value.value] if isinstance(value, Enum) else [value]


def _same_kind(left: str, right: str) -> bool:
    kinds = {_kind_of_text(left), _kind_of_text(right)}
    return len(kinds) == 1 or kinds in ({str, Atom}, {str, String})


def _kind_of_text(value: str) -> type:
    return next((kind for kind in (Atom, Pid, Reference, String) if isinstance(value, kind)), str)


def plain(value: object) -> object:
    """A value as one that terms have: booleans as atoms, named tuples and frozen data classes as tuples."""
    if isinstance(value, bool):
        return Atom("true" if value else "false")
    if isinstance(value, tuple):
        return tuple(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type) and _is_frozen(value):
        return tuple(getattr(value, each.name) for each in dataclasses.fields(value))
    return value


def _is_frozen(value: Any) -> bool:  # noqa: ANN401 - a data class of anyone
    return bool(value.__dataclass_params__.frozen)


# ---- order -------------------------------------------------------------------------------------


def compare(left: object, right: object, *, total: bool) -> int:
    """Below 0, 0 or above; if not `total`, `GuardError` where types differ that have no order among them.

    Numbers, atoms, references, identifiers, tuples, maps, lists, strings, binaries, in this order.
    """
    left, right = plain(left), plain(right)
    ranks = _rank(left), _rank(right)
    if ranks[0] != ranks[1]:
        if not total:
            raise GuardError
        return ranks[0] - ranks[1]
    match left, right:
        case (tuple(), tuple()) if len(left) != len(right):
            return len(left) - len(right)
        case (tuple(), tuple()) | (list(), list()):
            return _compare_parts(left, right, total=total)
        case (int() | float(), int() | float()) | (bytes(), bytes()) | (str(), str()):
            return _compare_plain(left, right)
    if left is right:
        return 0
    raise GuardError


def _compare_parts(left: Any, right: Any, *, total: bool) -> int:  # noqa: ANN401 - two tuples or two lists
    for a, b in zip(left, right, strict=False):
        if (found := compare(a, b, total=total)) != 0:
            return found
    return len(left) - len(right)


def _compare_plain(left: Any, right: Any) -> int:  # noqa: ANN401 - two numbers, texts or binaries
    return int(left > right) - int(left < right)


def _rank(value: object) -> int:
    match value:
        case int() | float():
            return 0
        case Atom() | None:
            return 1
        case Reference():
            return 2
        case Pid():
            return 3
        case tuple():
            return 4
        case Mapping():
            return 5
        case list():
            return 6
        case str():
            return 7
        case bytes():
            return 8
    return 9


# ---- operators and functions -------------------------------------------------------------------


def apply(name: str, operands: Sequence[object], *, total: bool = True) -> object:
    """What an operator or function gives; `GuardError` if it does not take these operands.

    The two that do not look at all operands, `andalso` and `orelse`, are not for this.
    """
    values = [plain(each) for each in operands]
    if name in _EQUALITIES:
        return _EQUALITIES[name](*values)
    if name in _ORDERS:
        return _ORDERS[name](compare(*values, total=total), 0)
    if name in _CONNECTIVES:
        return _CONNECTIVES[name](*map(truth, values))
    if name.startswith("is_"):
        return _is(name, values[0])
    if len(values) == 1 and name in _PREFIXES:
        return _PREFIXES[name](_number(values[0], whole=name == "bnot"))
    if name in _ARITHMETIC:
        return _calculated(name, values)
    if name in _PARTS:
        return _PARTS[name](*values)
    raise GuardError


def truth(value: object) -> bool:
    """A truth value as Python's; `GuardError` if it is none."""
    value = plain(value)
    if isinstance(value, Atom) and value in ("true", "false"):
        return value == "true"
    raise GuardError


def _calculated(name: str, values: Sequence[object]) -> object:
    whole = name not in ("+", "-", "*", "/")
    left, right = (_number(each, whole=whole) for each in values)
    try:
        return _ARITHMETIC[name](left, right)
    except (ArithmeticError, ValueError, MemoryError) as error:
        raise GuardError from error


def _number(value: object, *, whole: bool) -> Any:  # noqa: ANN401 - an int or a float, which the operators take alike
    if isinstance(value, int) or (isinstance(value, float) and not whole):
        return value
    raise GuardError


def _quotient(left: int, right: int) -> int:
    found = abs(left) // abs(right)
    return found if (left < 0) == (right < 0) else -found


MAX_SHIFT = 100_000
"""No guard needs larger numbers than shifting by so many bits gives."""


def _shifted(left: int, right: int) -> int:
    if abs(right) > MAX_SHIFT:
        raise OverflowError
    return left << right if right >= 0 else left >> -right


def _is(name: str, value: object) -> bool:
    match name:
        case "is_integer":
            return isinstance(value, int)
        case "is_float":
            return isinstance(value, float)
        case "is_number":
            return isinstance(value, int | float)
        case "is_atom":
            return isinstance(value, Atom | Enum) or value is None or type(value) is str
        case "is_boolean":
            return isinstance(value, Atom) and value in ("true", "false")
        case "is_list":
            return isinstance(value, list) or (isinstance(value, str) and _kind_of_text(value) in (str, String))
        case "is_tuple":
            return isinstance(value, tuple)
        case "is_binary":
            return isinstance(value, bytes)
        case "is_pid":
            return isinstance(value, Pid)
        case "is_reference":
            return isinstance(value, Reference)
        case "is_map":
            return isinstance(value, Mapping)
    raise GuardError


def _length(value: object) -> int:
    if isinstance(value, list) or (isinstance(value, str) and _kind_of_text(value) in (str, String)):
        return len(value)
    raise GuardError


def _tuple_size(value: object) -> int:
    if isinstance(value, tuple):
        return len(value)
    raise GuardError


def _element(number: object, value: object) -> object:
    if isinstance(number, int) and isinstance(value, tuple) and 1 <= number <= len(value):
        return value[number - 1]
    raise GuardError


def _head(value: object) -> object:
    if isinstance(value, list) and value:
        return value[0]
    raise GuardError


def _tail(value: object) -> object:
    if isinstance(value, list) and value:
        return value[1:]
    raise GuardError


_EQUALITIES: dict[str, Callable[[object, object], bool]] = {
    "=:=": exactly_equal,
    "=/=": lambda left, right: not exactly_equal(left, right),
    "==": loosely_equal,
    "/=": lambda left, right: not loosely_equal(left, right),
}
_ORDERS: dict[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "=<": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_CONNECTIVES: dict[str, Callable[..., bool]] = {
    "and": lambda left, right: left and right,
    "or": lambda left, right: left or right,
    "xor": operator.ne,
    "not": operator.not_,
}
_PREFIXES: dict[str, Callable[[Any], object]] = {
    "+": operator.pos,
    "-": operator.neg,
    "bnot": operator.invert,
    "abs": abs,
}
_ARITHMETIC: dict[str, Callable[[Any, Any], object]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda left, right: left / right,
    "div": _quotient,
    "rem": lambda left, right: left - right * _quotient(left, right),
    "band": operator.and_,
    "bor": operator.or_,
    "bxor": operator.xor,
    "bsl": _shifted,
    "bsr": lambda left, right: _shifted(left, -right),
}
_PARTS: dict[str, Callable[..., object]] = {
    "length": _length,
    "tuple_size": _tuple_size,
    "element": _element,
    "hd": _head,
    "tl": _tail,
}
