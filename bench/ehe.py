"""Execution history encodings while information is late, beside those that are dictionaries of expressions.

At each timestamp one of two observations is missing. It comes so many timestamps late; until then, all states that it
may lead to must be kept apart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from harness import Goal, Row, Side, measure, quotients

from mopsus import _core

DELAYS = (1, 2, 4, 8, 12, 16, 32, 64)
TOO_LARGE = 50_000
"""How many symbols the expressions may have before the comparison ends."""
STEPPING, JUMPING = range(2)
STATES = 6

# Five states in a circle: with `stepping` it goes on by one, with `jumping` too by two. Who jumps over the end is in
# the sixth for ever.
AUTOMATON = _core.Automaton(
    ["stepping", "jumping"],
    [None] * 5 + [False],
    [
        *((STEPPING, ~state, 5 + state) for state in range(5)),
        *((JUMPING, ~((state + 1) % 5), ~((state + 2) % 5 if state < 4 else 5)) for state in range(5)),
    ],
    [*range(5), ~5],
)


def observations(delay: int) -> list[tuple[bool, bool]]:
    """What is observed: it steps but for each seventh time, and jumps each third."""
    return [(time % 7 != 0, time % 3 == 0 and time % 4 != 0) for time in range(1, delay + 1)]


class Atom(NamedTuple):
    """An input at a timestamp."""

    time: int
    input: int


Expression = Any
"""A truth value, an atom, or an operator (`not`, `all`, `any`) with its parts."""


def joined(operator: Callable[[list[Expression]], bool], parts: list[Expression]) -> Expression:
    """Several parts as one expression, constants folded."""
    neutral = operator is all
    left = [part for part in parts if part is not neutral]
    if any(part is (not neutral) for part in left):
        return not neutral
    return neutral if not left else left[0] if len(left) == 1 else (operator, left)


def labels(state: int, time: int) -> dict[int, Expression]:
    """The transitions of the automaton, as expressions."""
    if state == 5:
        return {5: True}
    stepping, jumping = Atom(time, STEPPING), Atom(time, JUMPING)
    return {
        state: (None, stepping),
        (state + 1) % 5: (all, [stepping, (None, jumping)]),
        (state + 2) % 5 if state < 4 else 5: (all, [stepping, jumping]),
    }


def rewritten(expression: Expression, known: dict[Atom, bool]) -> Expression:
    """What is known put in, constants folded."""
    if isinstance(expression, bool):
        return expression
    if isinstance(expression, Atom):
        return known.get(expression, expression)
    operator, parts = expression
    if operator is None:
        part = rewritten(parts, known)
        return not part if isinstance(part, bool) else (None, part)
    return joined(operator, [rewritten(part, known) for part in parts])


def symbols(expression: Expression) -> int:
    """How many atoms, operators and constants an expression has."""
    if isinstance(expression, (bool, Atom)):
        return 1
    operator, parts = expression
    return 1 + (symbols(parts) if operator is None else sum(map(symbols, parts)))


class TooLarge(Exception):
    """The expressions have grown beyond all use."""


def with_expressions(delay: int) -> tuple[int, int]:
    """The state in the end and the largest size, with a dictionary of expressions."""
    encoding: dict[int, Expression] = {0: True}
    late: dict[Atom, bool] = {}
    size = 0
    for time, (stepping, jumping) in enumerate(observations(delay), 1):
        reached: dict[int, list[Expression]] = {}
        for state, expression in encoding.items():
            for target, label in labels(state, time).items():
                reached.setdefault(target, []).append(joined(all, [expression, label]))
        known = {Atom(time, STEPPING): stepping}
        encoding = {state: rewritten(joined(any, parts), known) for state, parts in reached.items()}
        late[Atom(time, JUMPING)] = jumping
        size += sum(map(symbols, encoding.values()))
        if size > TOO_LARGE:
            raise TooLarge
    (state,) = [state for state, expression in encoding.items() if rewritten(expression, late) is True]
    return state, size


def in_the_core(delay: int) -> tuple[int, int]:
    """The same with an encoding of the core; its size is in nodes of diagrams."""
    encoding = _core.Ehe(AUTOMATON)
    trace = observations(delay)
    for time, (stepping, _) in enumerate(trace, 1):
        encoding.tick()
        encoding.learn(time, STEPPING, stepping)
        encoding.resolve()
    size = encoding.nodes()
    for time, (_, jumping) in enumerate(trace, 1):
        encoding.learn(time, JUMPING, jumping)
    state = encoding.state(delay)
    assert state is not None
    return state, size


def side(encode: Callable[[int], object], delay: int) -> Side:
    """What is measured of one of them."""
    return Side(lambda _: encode(delay))


def bearable(delay: int) -> bool:
    """Can the expressions for such a delay be made at all?"""
    try:
        with_expressions(delay)
    except TooLarge:
        return False
    return True


def rows(scale: float) -> list[Row]:
    """All rows of this benchmark."""
    result = []
    rounds = max(3, int(5 * scale))
    for delay in DELAYS:
        case = f"{STATES} states, {delay} timestamp{'s' * (delay > 1)} late"
        sides = {"core": side(in_the_core, delay)}
        if bearable(delay):
            sides["expressions"] = side(with_expressions, delay)
        timings = measure(sides, rounds)
        state, nodes = in_the_core(delay)
        ours = 1e6 * sorted(timings["core"].seconds)[rounds // 2]
        # At most a constant for each timestamp: a diagram for each state, of two nodes.
        linear = Goal("≤", 2 * STATES * delay, of="ours")
        if "expressions" in timings:
            its_state, size = with_expressions(delay)
            if its_state != state:
                raise AssertionError(f"the sides disagree: {state} and {its_state}")
            theirs = 1e6 * sorted(timings["expressions"].seconds)[rounds // 2]
            ratio = quotients(timings["expressions"].seconds, timings["core"].seconds)
            result.append(Row(case, "µs", ours, "a dictionary of expressions", theirs, ratio))
            grown = (size / nodes,) * 3
            result.append(Row(f"{case}, size", "nodes", float(nodes), "symbols of expressions", size, grown, linear))
        else:
            result.append(Row(f"{case} (expressions: more than {TOO_LARGE:,} symbols)", "µs", ours))
            result.append(Row(f"{case}, size", "nodes", float(nodes), goal=linear))
    return result
