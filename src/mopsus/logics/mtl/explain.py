"""Stage 2: which parts of a metric formula became true or false at which event."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from mopsus.logics.logic import Turn
from mopsus.logics.mtl.reference import Settled, values
from mopsus.logics.mtl.syntax import TimedFormula
from mopsus.logics.temporal.syntax import CONNECTIVES, CONSTANTS, Formula, Op, print_formula
from mopsus.logics.tree import walk


def explain_mtl(
    formula: TimedFormula, alphabet: tuple[str, ...], word: Sequence[str], times: Sequence[float | int | None]
) -> list[Turn]:
    """The turns of the temporal operators in the formula and of all of it, parts before what they are part of.

    A part that looks ahead turns at the event that settles it. Events without a time, or out of order, turn nothing.
    """
    points: list[int] = []
    kept: list[Fraction] = []
    for position, time in enumerate(times):
        if time is None or not abs(time) < float("inf"):
            continue
        exact = Fraction(str(time))  # as it is written: 0.1 is a tenth
        if not kept or exact >= kept[-1]:
            points.append(position)
            kept.append(exact)
    events = [word[position] for position in points]
    operators = [part for part in walk(formula.formula) if part.op not in CONNECTIVES | CONSTANTS | {Op.ATOM}]
    shown = {print_formula(part): part for part in [*reversed(operators), formula.formula]}
    turns = [
        Turn(points[at], text, value)
        for text, part in shown.items()
        for at, value in _turns(part, values(formula, part, events, kept))
    ]
    order = {text: number for number, text in enumerate(shown)}
    return sorted(turns, key=lambda turn: (turn.position, order[turn.part]))


def _turns(part: Formula, given: Sequence[Settled]) -> list[tuple[int, bool]]:
    """Where the value changes. Of positions that are settled by the same event the earliest is shown."""
    settled: dict[int, bool] = {}
    for value, at in given:
        settled.setdefault(at, value)
    last = _BEFORE.get(part.op)
    turns: list[tuple[int, bool]] = []
    for at, value in settled.items():
        if value is not last:
            turns.append((at, value))
            last = value
    return turns


_BEFORE = dict.fromkeys((Op.PREVIOUS, Op.ONCE, Op.SINCE), False) | dict.fromkeys(
    (Op.WEAK_PREVIOUS, Op.HISTORICALLY, Op.TRIGGER), True
)
"""What past operators hold before anything has happened."""
