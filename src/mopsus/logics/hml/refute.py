"""Stage 2: can some conditions of guards not hold together?

Decided for comparisons of a term with constants (by intervals), of two terms with each other, and for tests of types. A
condition that is anything else is taken as one that may hold, so the answer "no" is always right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product

from mopsus.logics.hml.formula import Call, Constant, ListTerm, MapTerm, Term, TupleTerm
from mopsus.logics.hml.values import COMPARISONS, GuardError, apply, compare, exactly_equal

MAX_CASES = 64
"""More alternatives than this are not looked through."""

_BELOW, _SAME, _ABOVE = -1, 0, 1
_ALLOWED: dict[str, frozenset[int]] = {
    "<": frozenset({_BELOW}),
    "=<": frozenset({_BELOW, _SAME}),
    ">": frozenset({_ABOVE}),
    ">=": frozenset({_ABOVE, _SAME}),
    "==": frozenset({_SAME}),
    "/=": frozenset({_BELOW, _ABOVE}),
    "=:=": frozenset({_SAME}),
    "=/=": frozenset({_BELOW, _SAME, _ABOVE}),  # 1 and 1.0 are in the same place and not exactly equal
}
_FLIPPED = {"<": ">", "=<": ">=", ">": "<", ">=": "=<"}
_NEGATED = {"<": ">=", "=<": ">", ">": "=<", ">=": "<", "==": "/=", "/=": "==", "=:=": "=/=", "=/=": "=:="}
_TYPES: dict[str, frozenset[str]] = {
    "is_integer": frozenset({"integer"}),
    "is_float": frozenset({"float"}),
    "is_number": frozenset({"integer", "float"}),
    "is_atom": frozenset({"atom", "boolean", "text"}),
    "is_boolean": frozenset({"boolean"}),
    "is_list": frozenset({"list", "text"}),
    "is_tuple": frozenset({"tuple"}),
    "is_binary": frozenset({"binary"}),
    "is_pid": frozenset({"pid"}),
    "is_reference": frozenset({"reference"}),
    "is_map": frozenset({"map"}),
}


def refuted(guards: Sequence[Sequence[Sequence[Term]]], resolve: Callable[[Term], Term] = lambda term: term) -> bool:
    """Can the guards, each some alternatives of parts, not hold together? `resolve` says what is known of a term."""
    alternatives: list[list[tuple[Term, ...]]] = []
    size = 1
    for guard in guards:
        cases = [case for parts in guard for case in _cases(parts)]
        size *= len(cases)
        if size > MAX_CASES:
            return False
        alternatives.append(cases)
    return all(_contradictory([resolve(part) for case in choice for part in case]) for choice in product(*alternatives))


def negated(part: Term) -> Term | None:
    """The comparison that is true when this one is not, if it is one."""
    match part:
        case Call(operator, operands) if operator in _NEGATED:
            return Call(_NEGATED[operator], operands)
    return None


def _cases(parts: Iterable[Term]) -> list[tuple[Term, ...]]:
    """The alternatives of a conjunction whose parts may have `orelse`, `not` and the like in them."""
    found: list[tuple[Term, ...]] = [()]
    for part in parts:
        found = [(*before, *after) for before in found for after in _split(part, True)]
        if len(found) > MAX_CASES:
            return [()]
    return found


def _split(part: Term, wanted: bool) -> list[tuple[Term, ...]]:
    match part:
        case Call("not", (inner,)):
            return _split(inner, not wanted)
        case Call("andalso" | "and" | "orelse" | "or" as operator, (left, right)):
            if (operator in ("andalso", "and")) is wanted:
                return [(*a, *b) for a in _split(left, wanted) for b in _split(right, wanted)][: MAX_CASES + 1]
            return [*_split(left, wanted), *_split(right, wanted)]
    if not wanted and (opposite := negated(part)) is not None:
        return [(opposite,)]
    return [(part,)] if wanted else [()]  # what is not true may still be an error: nothing is known


# ---- one conjunction ---------------------------------------------------------------------------


def _contradictory(parts: Sequence[Term]) -> bool:
    compared: dict[tuple[Term, Term], list[str]] = {}
    bounds: dict[Term, list[tuple[str, object]]] = {}
    types: dict[Term, frozenset[str]] = {}
    for part in parts:
        match part:
            case Constant(value) if not exactly_equal(value, True):
                return True
            case Call(operator, (Constant(left), Constant(right))) if operator in COMPARISONS:
                if not _holds(operator, left, right):
                    return True
            case Call(operator, (term, Constant(value))) if operator in COMPARISONS:
                bounds.setdefault(term, []).append((operator, value))
            case Call(operator, (Constant(value), term)) if operator in COMPARISONS:
                bounds.setdefault(term, []).append((_FLIPPED.get(operator, operator), value))
            case Call(operator, (left, right)) if operator in COMPARISONS:
                if (right, left) in compared:
                    left, right, operator = right, left, _FLIPPED.get(operator, operator)
                compared.setdefault((left, right), []).append(operator)
            case Call(operator, (term,)) if operator in _TYPES:
                types[term] = types.get(term, _types_of(term)) & _TYPES[operator]
    return (
        any(map(_incompatible, compared.values()))
        or any(left == right and _irreflexive(operators) for (left, right), operators in compared.items())
        or any(map(_empty, bounds.values()))
        or not all(types.values())
    )


def _types_of(term: Term) -> frozenset[str]:
    """The types that the value of a term may have."""
    match term:
        case TupleTerm():
            return _TYPES["is_tuple"]
        case ListTerm():
            return _TYPES["is_list"]
        case MapTerm():
            return _TYPES["is_map"]
        case Constant(value):
            return frozenset(each for name, types in _TYPES.items() if apply(name, [value]) for each in types)
    return frozenset(each for types in _TYPES.values() for each in types)


def _holds(operator: str, left: object, right: object) -> bool:
    try:
        return apply(operator, [left, right]) is True
    except GuardError:
        return False


def _incompatible(operators: Sequence[str]) -> bool:
    """Is there no order of two terms that all these comparisons allow?"""
    if "=:=" in operators and "=/=" in operators:
        return True
    return not frozenset.intersection(*(_ALLOWED[operator] for operator in operators))


def _irreflexive(operators: Sequence[str]) -> bool:
    """Does a term never compare with itself like this?"""
    return any(_SAME not in _ALLOWED[operator] or operator == "=/=" for operator in operators)


def _empty(bounds: Sequence[tuple[str, object]]) -> bool:
    """Is there no value that compares with the constants as all these say? Between two of them there is always one."""
    points: list[object] = []
    for _, value in bounds:
        try:
            if all(compare(value, point, total=True) != 0 for point in points):
                points.append(value)
        except GuardError:
            return False  # values without an order
    if any(_at_point(point, bounds) for point in points):
        return False
    below_all = all(_BELOW in _ALLOWED[operator] for operator, _ in bounds)
    return not below_all and not any(_above_point(point, bounds) for point in points)


def _at_point(point: object, bounds: Sequence[tuple[str, object]]) -> bool:
    """May a value in the place of `point` satisfy all?"""
    exact = [value for operator, value in bounds if operator == "=:="]
    if any(not exactly_equal(one, other) for one in exact for other in exact):
        return False
    if any(operator == "=/=" and any(exactly_equal(value, each) for each in exact) for operator, value in bounds):
        return False
    return all(_sign(compare(point, value, total=True)) in _ALLOWED[operator] for operator, value in bounds)


def _above_point(point: object, bounds: Sequence[tuple[str, object]]) -> bool:
    """May a value just above `point`, equal to none of the constants, satisfy all?"""
    return all(
        (_ABOVE if compare(point, value, total=True) >= 0 else _BELOW) in _ALLOWED[operator]
        for operator, value in bounds
    )


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)
