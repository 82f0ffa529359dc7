"""Stage 2: does an event fit an action? The definition, in Python, slow and plain.

The pattern is matched with no bindings at all, so that a name of the environment is bound anew; then the guard sees the
new bindings and all others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from mopsus.logics.hml.formula import (
    Action,
    Call,
    Constant,
    Guard,
    ListTerm,
    MapTerm,
    Name,
    Pin,
    PythonGuard,
    Term,
    TupleTerm,
    Wildcard,
)
from mopsus.logics.hml.values import FUNCTIONS, GuardError, apply, exactly_equal, plain, truth
from mopsus.spec.hml.events import SHAPES
from mopsus.spec.hml.predicates import PREDICATES

Environment: TypeAlias = "Mapping[str, object]"
Happening: TypeAlias = "tuple[str, tuple[object, ...]]"
"""An event and the values of its fields."""


def fits(
    action: Action, event: Happening, environment: Environment, names: Mapping[str, Any] | None = None
) -> Environment | None:
    """The environment behind the action if the event fits it. `names` are what Python guards may use beside."""
    name, data = event
    bound: dict[str, object] = {}
    if action.whole:
        pairs = [(action.patterns or ())[0]], [_as_tuple(name, data)]
    elif action.event not in (None, name):
        return None
    elif action.patterns is None:
        pairs = [], []
    else:
        pairs = list(action.patterns), list(data)
    if len(pairs[0]) != len(pairs[1]):
        return None
    if not all(map(lambda pattern, value: _match(pattern, value, bound, environment), *pairs)):
        return None
    inner = {**environment, **bound}
    return inner if action.guard is None or _holds(action.guard, inner, names or {}) else None


def _as_tuple(name: str, data: Sequence[object]) -> object:
    def part(shape: object) -> object:
        if isinstance(shape, tuple):
            return tuple(map(part, shape))
        return data[shape] if isinstance(shape, int) else shape

    shape = SHAPES.get(name, ())
    return part(shape) if shape else object()


def _match(pattern: Term, value: object, bound: dict[str, object], environment: Environment) -> bool:
    match pattern:
        case Wildcard():
            return True
        case Name(name):
            if name in bound:
                return exactly_equal(bound[name], value)
            bound[name] = value
            return True
        case Pin(name):
            return exactly_equal(environment[name], value)
        case Constant(constant):
            return exactly_equal(constant, value)
        case TupleTerm(parts, tag):
            values = plain(value)
            return (
                isinstance(values, tuple)
                and (tag is None or type(value).__name__ == tag)
                and len(parts) == len(values)
                and all(map(lambda part, each: _match(part, each, bound, environment), parts, values))
            )
        case ListTerm(parts, rest):
            return (
                isinstance(value, list)
                and (len(value) == len(parts) if rest is None else len(value) >= len(parts))
                and all(map(lambda part, each: _match(part, each, bound, environment), parts, value[: len(parts)]))
                and (rest is None or _match(rest, value[len(parts) :], bound, environment))
            )
        case MapTerm(items):
            return isinstance(value, Mapping) and all(
                _match_key(key.value, part, value, bound, environment) for key, part in items
            )
        case Call():
            return False


def _match_key(
    key: object, pattern: Term, value: Mapping[object, object], bound: dict[str, object], environment: Environment
) -> bool:
    for other in value:
        if exactly_equal(key, other):
            return _match(pattern, value[other], bound, environment)
    return False


# ---- guards ------------------------------------------------------------------------------------


def _holds(guard: Guard, environment: Environment, names: Mapping[str, Any]) -> bool:
    """Some alternative has all its parts true; a part that fails makes its alternative false."""
    if isinstance(guard, PythonGuard):
        try:
            return bool(eval(guard.text.strip(), dict(names), dict(environment)))
        except Exception:  # whatever the guard's own code raises
            return False
    return any(all(_true(part, environment) for part in parts) for parts in guard.alternatives)


def _true(part: Term, environment: Environment) -> bool:
    try:
        return truth(value_of(part, environment))
    except GuardError:
        return False


def value_of(term: Term, environment: Environment) -> object:
    """The value of an expression of a guard; `GuardError` if it has none."""
    match term:
        case Name(name):
            return environment[name]
        case Constant(value):
            return value
        case TupleTerm(parts):
            return tuple(value_of(part, environment) for part in parts)
        case ListTerm(parts, rest):
            tail = [] if rest is None else value_of(rest, environment)
            if not isinstance(tail, list):
                raise GuardError
            return [*(value_of(part, environment) for part in parts), *tail]
        case Call("andalso", (left, right)):
            return truth(value_of(left, environment)) and value_of(right, environment)
        case Call("orelse", (left, right)):
            return truth(value_of(left, environment)) or value_of(right, environment)
        case Call(name, operands) if name in PREDICATES and name not in FUNCTIONS:
            try:
                return bool(PREDICATES[name](*(value_of(operand, environment) for operand in operands)))
            except Exception as error:  # whatever the function raises
                raise GuardError from error
        case Call(operator, operands):
            return apply(operator, [value_of(operand, environment) for operand in operands])
    raise GuardError
