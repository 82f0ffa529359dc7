"""Stage 2: which parts of a temporal formula became true or false at which event of a finite word.

Every part has, at every position of the word, a value that is known from some event on, or not known at the
word's end. Past operators are known at once; those about the future when the events seen so far
settle them, whatever follows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from mopsus.logics.logic import Turn
from mopsus.logics.temporal.syntax import CONNECTIVES, CONSTANTS, FUTURE, Formula, Op, print_formula

Bounds = tuple[int, int | None]


class Known(NamedTuple):
    """A value, and the position of the event from which on it is known. The value None is never known."""

    value: bool | None
    since: int


UNKNOWN = Known(None, 0)


def explain(
    formula: Formula,
    word: Sequence[str],
    bounds: Callable[[Formula], Bounds] | None = None,
    whole: Sequence[bool | None] | None = None,
) -> list[Turn]:
    """The turns of the temporal operators in `formula` and of `formula` itself, in order; parts before what they are
    part of.

    `whole` has the value of the formula after each event; without it, that is its value at the event. `bounds`
    gives the bounds of an operator that has an interval.
    """
    shown: dict[str, tuple[Formula, list[Known]]] = {}
    top = _Evaluation(word, bounds, shown).values(formula)
    text = print_formula(formula)
    shown.pop(text, None)
    turns: list[Turn] = []
    for part, (operator, values) in shown.items():
        turns += _turns(part, operator, values)
    if whole is None:
        turns += _turns(text, formula, top)
    else:
        turns += [
            Turn(position, text, value)
            for position, value in enumerate(whole)
            if value != (whole[position - 1] if position else None)
        ]
    order = {part: number for number, part in enumerate((*shown, text))}
    return sorted(turns, key=lambda turn: (turn.position, order[turn.part]))


def _turns(part: str, operator: Formula, values: list[Known]) -> list[Turn]:
    """Where the value changes. Of positions that are settled by the same event the earliest is shown."""
    settled: dict[int, bool] = {}
    for known in values:
        if known.value is not None:
            settled.setdefault(known.since, known.value)
    last = _before_the_first(operator)
    turns: list[Turn] = []
    for position, value in sorted(settled.items()):
        if value != last:
            turns.append(Turn(position, part, value))
            last = value
    return turns


def _before_the_first(operator: Formula) -> bool | None:
    """What a past operator holds before anything has happened; nothing is known of other formulas."""
    match operator.op:
        case Op.PREVIOUS | Op.ONCE | Op.SINCE:
            return False
        case Op.WEAK_PREVIOUS | Op.HISTORICALLY | Op.TRIGGER:
            return True
    return None


class _Evaluation:
    """The values of formulas over one word; `shown` collects those of temporal operators by their text."""

    def __init__(
        self,
        word: Sequence[str],
        bounds: Callable[[Formula], Bounds] | None,
        shown: dict[str, tuple[Formula, list[Known]]],
    ) -> None:
        self._word = word
        self._bounds = bounds
        self._shown = shown

    def values(self, formula: Formula) -> list[Known]:
        """The value of the formula at each position."""
        parts = [self.values(part) for part in formula.parts]
        op = formula.op
        if op is Op.ATOM:
            return [Known(event == formula.name, position) for position, event in enumerate(self._word)]
        if op in CONSTANTS:
            return [Known(op is Op.TRUE, position) for position in range(len(self._word))]
        if op in CONNECTIVES:
            return [_connect(op, list(row)) for row in zip(*parts, strict=True)]
        text = print_formula(formula)
        if text not in self._shown:
            self._shown[text] = (formula, self._temporal(formula, parts))
        return self._shown[text][1]

    def _temporal(self, formula: Formula, parts: list[list[Known]]) -> list[Known]:
        size = len(self._word)
        step = 1 if formula.op in FUTURE else -1
        beyond = UNKNOWN
        if step < 0:
            beyond = Known(_before_the_first(formula), 0)
        if formula.op in (Op.NEXT, Op.WEAK_NEXT, Op.PREVIOUS, Op.WEAK_PREVIOUS):
            found = [parts[0][at + step] if 0 <= at + step < size else beyond for at in range(size)]
        else:
            left, right, gather, require = _as_until(formula.op, parts, size)
            found = [UNKNOWN] * size
            for at in range(size - 1, -1, -1) if step > 0 else range(size):
                if formula.interval is not None and self._bounds is not None:
                    found[at] = self._bounded(left, right, gather, require, at, step, beyond, self._bounds(formula))
                    continue
                further = found[at + step] if 0 <= at + step < size else beyond
                found[at] = gather([right[at], require([left[at], further])])
        return [Known(known.value, max(known.since, at)) for at, known in enumerate(found)]

    def _bounded(
        self,
        left: list[Known],
        right: list[Known],
        gather: Callable[[list[Known]], Known],
        require: Callable[[list[Known]], Known],
        at: int,
        step: int,
        beyond: Known,
        bounds: Bounds,
    ) -> Known:
        """An operator whose right operand counts only at a distance within `bounds`, from the farthest one inwards."""
        lower, upper = bounds
        reach = len(self._word) - 1 - at if step > 0 else at
        found = beyond
        for distance in range(reach if upper is None else min(reach, upper), -1, -1):
            where = at + step * distance
            if distance == upper:
                found = right[where]
                continue
            further = require([left[where], found])
            found = gather([right[where], further]) if distance >= lower else further
        return found


def _as_until(
    op: Op, parts: list[list[Known]], size: int
) -> tuple[list[Known], list[Known], Callable[[list[Known]], Known], Callable[[list[Known]], Known]]:
    """The operands as those of until (or since) or its dual, and the two connectives of its equation."""
    constant = [[Known(value, at) for at in range(size)] for value in (False, True)]
    match op:
        case Op.UNTIL | Op.SINCE:
            return parts[0], parts[1], _any, _all
        case Op.EVENTUALLY | Op.ONCE:
            return constant[True], parts[0], _any, _all
        case Op.RELEASE | Op.TRIGGER:
            return parts[0], parts[1], _all, _any
        case Op.ALWAYS | Op.HISTORICALLY:
            return constant[False], parts[0], _all, _any
        case Op.WEAK_UNTIL:
            return parts[1], [_any(list(row)) for row in zip(*parts, strict=True)], _all, _any
        case Op.STRONG_RELEASE:
            return parts[1], [_all(list(row)) for row in zip(*parts, strict=True)], _any, _all
    raise ValueError(f"operator {op} cannot be explained")


def _not(known: Known) -> Known:
    return UNKNOWN if known.value is None else Known(not known.value, known.since)


def _all(row: list[Known]) -> Known:
    against = [known.since for known in row if known.value is False]
    if against:
        return Known(False, min(against))
    if any(known.value is None for known in row):
        return UNKNOWN
    return Known(True, max(known.since for known in row))


def _any(row: list[Known]) -> Known:
    return _not(_all([_not(known) for known in row]))


def _connect(op: Op, row: list[Known]) -> Known:
    match op:
        case Op.NOT:
            return _not(row[0])
        case Op.AND:
            return _all(row)
        case Op.OR:
            return _any(row)
        case Op.IMPLIES:
            return _any([_not(row[0]), row[1]])
    if any(known.value is None for known in row):
        return UNKNOWN
    odd = sum(known.value is True for known in row) % 2 == 1
    return Known(odd if op is Op.XOR else not odd, max(known.since for known in row))
