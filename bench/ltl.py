"""Synthesis of LTL monitors over propositions: the rooms with a light each, and random formulas."""

from __future__ import annotations

import random
import time
from statistics import median

from harness import Goal, Row

from mopsus.logics.ltl import synthesise
from mopsus.logics.temporal.syntax import Formula, Op, combine

ROOMS = {3: 0.1, 5: None, 8: 10.0}
"""How many, and how many seconds at most."""
FORMULAS, SIZE, PROPOSITIONS = 1_000, 15, "abcd"
UNARY = (Op.NOT, Op.NEXT, Op.EVENTUALLY, Op.ALWAYS)
BINARY = (Op.AND, Op.OR, Op.IMPLIES, Op.UNTIL, Op.UNTIL, Op.RELEASE)
PAST_UNARY = (Op.PREVIOUS, Op.ONCE, Op.HISTORICALLY)
PAST_BINARY = (Op.SINCE, Op.SINCE)


def light(rooms: int) -> str:
    """In every room, from when the switch is on until it is off, the light is."""
    return " & ".join(f"G(s{room} -> X(l{room} U !s{room}))" for room in range(rooms))


def random_formula(draw: random.Random, size: int, past: bool) -> Formula:
    """A formula with `size` operators and names, its operators drawn evenly."""
    if size == 1:
        return Formula(Op.ATOM, name=draw.choice(PROPOSITIONS))
    if size == 2 or draw.random() < 0.3:
        part = random_formula(draw, size - 1, past)
        return combine(draw.choice(UNARY + PAST_UNARY * past), (part,))
    left = draw.randint(1, size - 2)
    parts = (random_formula(draw, left, past), random_formula(draw, size - 1 - left, past))
    return combine(draw.choice(BINARY + PAST_BINARY * past), parts)


def seconds(formula: Formula | str, labels: bool = False) -> float:
    """How long the synthesis takes, with all labels if asked for."""
    start = time.perf_counter()
    monitor = synthesise(formula)
    if labels:
        for state in monitor.states:
            monitor.transitions(state)
    return time.perf_counter() - start


def rows(scale: float) -> list[Row]:
    """All rows of this benchmark."""
    seconds("a", labels=True)  # imports what synthesis needs
    result = []
    for rooms, most in ROOMS.items():
        taken = median(seconds(light(rooms), labels=True) for _ in range(3))
        goal = None if most is None else Goal("≤", most, of="ours")
        result.append(Row(f"{rooms} rooms, {2**rooms + 1} states, with all labels", "s", taken, goal=goal))
    count = max(10, int(FORMULAS * scale))
    for past in (False, True):
        draw = random.Random(15)
        times = [seconds(random_formula(draw, SIZE, past)) for _ in range(count)]
        kind = "past and future" if past else "future"
        result.append(
            Row(
                f"random formulas of size {SIZE} over {len(PROPOSITIONS)} propositions, {kind}, median",
                "formulas/s",
                1 / median(times),
                goal=Goal("≥", 100, of="ours"),
            )
        )
    return result
