"""What a symbolic machine says, by its definition: slow, and obviously right.

The state is a tree of `and`, `or` and obligations with all values that are known; nothing is shared, nothing is
left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mopsus.model.symbolic import (
    ACCEPTANCE,
    INCONCLUSIVE,
    REJECTION,
    Any_,
    Bind,
    Constant,
    Expression,
    Guard,
    Join,
    ListOf,
    Literal,
    MapOf,
    Modality,
    Operation,
    Pattern,
    PythonTest,
    Recursion,
    Same,
    Selection,
    Slot,
    SymbolicMachine,
    Truth,
    TupleOf,
)
from mopsus.model.term import Atom, Pid, Reference, String

Environment = Mapping[int, Any]
State = Any  # True, False, (node, environment), ("and", states), ("or", states)


class GuardError(Exception):
    """A part of a guard has no value."""


def verdict_of(machine: SymbolicMachine, events: Sequence[tuple[int, tuple[Any, ...]]]) -> tuple[str, int] | None:
    """The verdict and the number of the event that gives it, from 1; None if there is none (yet)."""
    node = machine.nodes[machine.root]
    state: State = None
    if not isinstance(node, Selection):
        state = reach(machine, machine.root, {})
    for number, (letter, data) in enumerate(events, 1):
        if state is None:
            assert isinstance(node, Selection)
            environment = act(machine, node.patterns, node.guard, data, {}) if node.letter == letter else None
            if environment is None:
                return None
            state = reach(machine, node.then, environment)
        elif not isinstance(state, bool):
            state = step(machine, state, letter, data)
        if state is False:
            return REJECTION, number
        if state is True:
            return ACCEPTANCE if machine.linear else INCONCLUSIVE, number
    return None


def reach(machine: SymbolicMachine, number: int, environment: Environment) -> State:
    """What there is to be met once a node is reached."""
    match machine.nodes[number]:
        case Truth(value):
            return value
        case Join(conjunction, parts):
            return combine(conjunction, [reach(machine, part, environment) for part in parts])
        case Recursion(_, target, _):
            return reach(machine, target, environment)
    return (number, environment)


def combine(conjunction: bool, states: list[State]) -> State:
    """`and` or `or` of states."""
    if (not conjunction) in states:
        return not conjunction
    left = [state for state in states if not isinstance(state, bool)]
    if not left:
        return conjunction
    return left[0] if len(left) == 1 else ("and" if conjunction else "or", left)


def step(machine: SymbolicMachine, state: State, letter: int, data: tuple[Any, ...]) -> State:
    """The state after an event."""
    if machine.first_match:
        return _first_match(machine, state, letter, data)
    kind, content = state
    if kind in ("and", "or"):
        return combine(kind == "and", [step(machine, part, letter, data) for part in content])
    modality = machine.nodes[kind]
    assert isinstance(modality, Modality)
    environment = _fits(machine, modality, letter, data, content)
    return modality.necessity if environment is None else reach(machine, modality.then, environment)


def _first_match(machine: SymbolicMachine, state: State, letter: int, data: tuple[Any, ...]) -> State:
    for number, environment in _obligations(state):
        modality = machine.nodes[number]
        assert isinstance(modality, Modality)
        after = _fits(machine, modality, letter, data, environment)
        if after is not None:
            return reach(machine, modality.then, after)
    return True


def _obligations(state: State) -> list[tuple[int, Environment]]:
    return [state] if isinstance(state[0], int) else [each for part in state[1] for each in _obligations(part)]


def _fits(
    machine: SymbolicMachine, modality: Modality, letter: int, data: tuple[Any, ...], environment: Environment
) -> Environment | None:
    if modality.letter is None:
        data = ()
    elif modality.letter != letter:
        return None
    return act(machine, modality.patterns, modality.guard, data, environment)


def act(
    machine: SymbolicMachine, patterns: tuple[Pattern, ...], guard: Guard, data: tuple[Any, ...], known: Environment
) -> Environment | None:
    """What is known after patterns fit and a guard holds; None if they do not."""
    environment = dict(known)
    for pattern, value in zip(patterns, data, strict=True):
        if not fit(pattern, value, environment):
            return None
    return environment if not guard or any(_holds(machine, parts, environment) for parts in guard) else None


def fit(pattern: Pattern, value: Any, environment: dict[int, Any]) -> bool:
    """Does a pattern fit? Fills slots."""
    match pattern:
        case Any_():
            return True
        case Bind(slot):
            environment[slot] = value
            return True
        case Same(slot):
            return equal(environment[slot], value)
        case Literal(literal):
            return equal(literal, value)
        case TupleOf(parts, tag):
            return (
                isinstance(value, tuple)
                and len(value) == len(parts)
                and tag in (None, type(value).__name__)
                and all(fit(part, each, environment) for part, each in zip(parts, value, strict=True))
            )
        case ListOf(parts, rest):
            if not isinstance(value, list) or len(value) < len(parts) or (rest is None and len(value) > len(parts)):
                return False
            head = all(fit(part, each, environment) for part, each in zip(parts, value, strict=False))
            return head and (rest is None or fit(rest, value[len(parts) :], environment))
        case MapOf(items):
            if not isinstance(value, dict):
                return False
            found = [[v for k, v in value.items() if equal(key, k)] for key, _ in items]
            return all(each and fit(part, each[0], environment) for each, (_, part) in zip(found, items, strict=True))


def _holds(machine: SymbolicMachine, parts: tuple[Expression, ...], environment: Environment) -> bool:
    try:
        return all(evaluate(machine, part, environment) is True for part in parts)
    except GuardError:
        return False


def evaluate(machine: SymbolicMachine, expression: Expression, environment: Environment) -> Any:
    """The value of an expression."""
    match expression:
        case Slot(slot):
            return environment[slot]
        case Constant(value):
            return value
        case PythonTest(function, slots, _):
            try:
                return bool(function(*(environment[slot] for slot in slots)))
            except Exception as error:
                raise GuardError from error
        case Operation(name, operands):
            pass
    left = evaluate(machine, operands[0], environment)
    if name in ("andalso", "orelse"):
        if not isinstance(left, bool):
            raise GuardError
        return evaluate(machine, operands[1], environment) if left is (name == "andalso") else left
    values = [left, *(evaluate(machine, operand, environment) for operand in operands[1:])]
    match name, *values:
        case "not", bool(a):
            return not a
        case "and" | "or" | "xor", bool(a), bool(b):
            return {"and": a and b, "or": a or b, "xor": a != b}[name]
        case "=:=", a, b:
            return equal(a, b)
        case "=/=", a, b:
            return not equal(a, b)
        case "<" | "=<" | ">" | ">=", a, b:
            order = compare(a, b, machine.erlang_order)
            return {"<": order < 0, "=<": order <= 0, ">": order > 0, ">=": order >= 0}[name]
        case "+" | "-" | "*" | "div" | "rem", int(a), int(b) if not isinstance(a, bool) and not isinstance(b, bool):
            return _compute(name, a, b)
        case "is_integer", a:
            return type(a) is int
        case "is_tuple", a:
            return isinstance(a, tuple)
        case "length", list(a):
            return len(a)
    raise GuardError


def _compute(name: str, a: int, b: int) -> int:
    if name in ("div", "rem"):
        if b == 0:
            raise GuardError
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return quotient if name == "div" else a - b * quotient
    return {"+": a + b, "-": a - b, "*": a * b}[name]


def equal(a: Any, b: Any) -> bool:
    """`=:=`"""
    if isinstance(a, str) and isinstance(b, str):
        return str(a) == str(b) and (type(a) is type(b) or (str in (type(a), type(b)) and not _is_identifier(a, b)))
    if isinstance(a, str | bool) and isinstance(b, str | bool):
        a, b = (str(x).lower() if isinstance(x, bool) else x for x in (a, b))
        return str(a) == str(b) and not (isinstance(a, String) or isinstance(b, String) or _is_identifier(a, b))
    if (isinstance(a, tuple) and isinstance(b, tuple)) or (isinstance(a, list) and isinstance(b, list)):
        return len(a) == len(b) and all(map(equal, a, b))
    return type(a) is type(b) and a == b


def _is_identifier(a: object, b: object) -> bool:
    return isinstance(a, Pid | Reference) or isinstance(b, Pid | Reference)


def compare(a: Any, b: Any, total: bool) -> int:
    """The order of two values: numbers, atoms, tuples, mappings, lists, strings. A plain text goes with both kinds."""
    a, b = (Atom(str(x).lower()) if isinstance(x, bool) else x for x in (a, b))
    if isinstance(a, str) and isinstance(b, str) and (type(a) is type(b) or str in (type(a), type(b))):
        return (str(a) > str(b)) - (str(a) < str(b))
    if _rank(a) != _rank(b):
        if not total:
            raise GuardError
        return _rank(a) - _rank(b)
    if isinstance(a, dict):
        return compare([len(a), *a.keys(), *a.values()], [len(b), *b.keys(), *b.values()], total)
    if isinstance(a, tuple | list):
        if isinstance(a, tuple) and len(a) != len(b):
            return len(a) - len(b)
        for one, other in zip(a, b, strict=False):
            order = compare(one, other, total)
            if order != 0:
                return order
        return len(a) - len(b)
    return int((a > b) - (a < b))


def _rank(value: object) -> int:
    return {int: 0, float: 0, Atom: 1, str: 1, tuple: 2, dict: 3, list: 4, String: 5}[type(value)]
