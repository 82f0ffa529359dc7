"""Stage 2: the meaning of metric temporal formulas, written from the definition, slow and simple.

A timed word is a sequence of events, each at a time not before that of the one before it. At each of its
positions every formula is true or false. Whatever looks ahead gets its value at a position only when a later event
settles it, and values are given in the order of the positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from mopsus.logics.mtl.syntax import TimedFormula
from mopsus.logics.mtl.time import Bounds
from mopsus.logics.temporal.syntax import Formula, Op


class Settled(NamedTuple):
    """The value of a formula at a position, and the position of the event that settles it."""

    value: bool
    at: int


def categories_after(formula: TimedFormula, alphabet: tuple[str, ...], word: Sequence[str]) -> frozenset[str]:
    """What is reported at the last event of `word` when its events are one unit of time apart."""
    for event in word:
        if event not in alphabet:
            raise ValueError(f"'{event}' is not an event")
    return reports(formula, word, [Fraction(position) for position in range(len(word))])[-1] if word else frozenset()


def reports(formula: TimedFormula, word: Sequence[str], times: Sequence[Fraction | None]) -> list[frozenset[str]]:
    """What is reported at each event. Those without a time, or with an earlier one than before, are left out."""
    found: list[set[str]] = [set() for _ in word]
    points: list[int] = []
    kept: list[Fraction] = []
    for position, time in enumerate(times):
        if time is None:
            found[position].add("untimed")
        elif kept and time < kept[-1]:
            found[position].add("disordered")
        else:
            points.append(position)
            kept.append(time)
    for settled in values(formula, formula.formula, [word[position] for position in points], kept):
        found[points[settled.at]].add("validation" if settled.value else "violation")
    return [frozenset(categories) for categories in found]


def values(whole: TimedFormula, part: Formula, word: Sequence[str], times: Sequence[Fraction]) -> list[Settled]:
    """The values of a part of a formula at the positions of a timed word, as far as the word settles them."""
    operands = [values(whole, each, word, times) for each in part.parts]
    negated = [[_not(value) for value in operand] for operand in operands]
    size = len(word)
    always = [Settled(True, position) for position in range(size)]
    bounds = whole.bounds(part)
    found: list[Settled | None]
    match part.op:
        case Op.TRUE | Op.FALSE:
            found = [Settled(part.op is Op.TRUE, position) for position in range(size)]
        case Op.ATOM:
            found = [Settled(event == part.name, position) for position, event in enumerate(word)]
        case Op.NOT:
            found = [*negated[0]]
        case Op.AND:
            found = [_all(operands, position) for position in range(size)]
        case Op.OR:
            found = [_any(operands, position) for position in range(size)]
        case Op.IMPLIES:
            found = [_any([negated[0], operands[1]], position) for position in range(size)]
        case Op.XOR:
            found = [_odd(operands, position) for position in range(size)]
        case Op.IFF:
            found = [_not_yet(_odd(operands, position)) for position in range(size)]
        case Op.PREVIOUS:
            found = [_beside(operands[0], times, position, -1, bounds) for position in range(size)]
        case Op.WEAK_PREVIOUS:
            found = [_not_yet(_beside(negated[0], times, position, -1, bounds)) for position in range(size)]
        case Op.NEXT:
            found = [_beside(operands[0], times, position, 1, bounds) for position in range(size)]
        case Op.WEAK_NEXT:
            found = [_not_yet(_beside(negated[0], times, position, 1, bounds)) for position in range(size)]
        case Op.ONCE:
            found = [_since(always, operands[0], times, position, bounds) for position in range(size)]
        case Op.HISTORICALLY:
            found = [_not_yet(_since(always, negated[0], times, position, bounds)) for position in range(size)]
        case Op.SINCE:
            found = [_since(operands[0], operands[1], times, position, bounds) for position in range(size)]
        case Op.TRIGGER:
            found = [_not_yet(_since(negated[0], negated[1], times, position, bounds)) for position in range(size)]
        case Op.EVENTUALLY:
            found = [_until(always, operands[0], times, position, bounds) for position in range(size)]
        case Op.ALWAYS:
            found = [_not_yet(_until(always, negated[0], times, position, bounds)) for position in range(size)]
        case Op.UNTIL:
            found = [_until(operands[0], operands[1], times, position, bounds) for position in range(size)]
        case Op.RELEASE:
            found = [_not_yet(_until(negated[0], negated[1], times, position, bounds)) for position in range(size)]
        case _:
            raise ValueError(f"not an operator of mtl: {part.op}")
    return _in_order(found)


def _in_order(found: Sequence[Settled | None]) -> list[Settled]:
    """A value is given once it is settled and all before it are given."""
    given: list[Settled] = []
    for position, settled in enumerate(found):
        if settled is None:
            break
        given.append(Settled(settled.value, max(position, settled.at, given[-1].at if given else 0)))
    return given


def _not(settled: Settled) -> Settled:
    return Settled(not settled.value, settled.at)


def _not_yet(settled: Settled | None) -> Settled | None:
    return None if settled is None else _not(settled)


def _all(operands: Sequence[Sequence[Settled]], position: int) -> Settled | None:
    """False as soon as one operand is; true when all are."""
    known = [operand[position] for operand in operands if position < len(operand)]
    against = [settled.at for settled in known if not settled.value]
    if against:
        return Settled(False, min(against))
    return Settled(True, max(settled.at for settled in known)) if len(known) == len(operands) else None


def _any(operands: Sequence[Sequence[Settled]], position: int) -> Settled | None:
    return _not_yet(_all([[_not(settled) for settled in operand] for operand in operands], position))


def _odd(operands: Sequence[Sequence[Settled]], position: int) -> Settled | None:
    known = [operand[position] for operand in operands if position < len(operand)]
    if len(known) < len(operands):
        return None
    return Settled(sum(settled.value for settled in known) % 2 == 1, max(settled.at for settled in known))


def _beside(
    operand: Sequence[Settled], times: Sequence[Fraction], position: int, step: int, bounds: Bounds
) -> Settled | None:
    """The operand at the position before or after, if there is one at a distance within the bounds."""
    other = position + step
    if other < 0:
        return Settled(False, position)
    if other >= len(times):
        return None
    if not bounds.has(abs(times[other] - times[position])):
        return Settled(False, max(position, other))
    return Settled(operand[other].value, max(position, other, operand[other].at)) if other < len(operand) else None


def _since(
    left: Sequence[Settled], right: Sequence[Settled], times: Sequence[Fraction], position: int, bounds: Bounds
) -> Settled | None:
    """Some time ago within the bounds `right` held, and `left` has held since. Operands that are not known yet do not
    matter where those that are known decide."""
    shown: list[int] = []
    refuted: list[int | None] = []
    for where in range(position + 1):
        if not bounds.has(times[position] - times[where]):
            continue
        known = right[where : where + 1]
        since = left[where + 1 : position + 1]
        if len(since) == position - where and known and all(each.value for each in (*known, *since)):
            shown.append(max(each.at for each in (*known, *since)))
        refuted.append(min((each.at for each in (*known, *since) if not each.value), default=None))
    if shown:
        return Settled(True, min(shown))
    if None in refuted:
        return None
    return Settled(False, max((at for at in refuted if at is not None), default=0))


def _until(
    left: Sequence[Settled], right: Sequence[Settled], times: Sequence[Fraction], position: int, bounds: Bounds
) -> Settled | None:
    """In a time within the bounds `right` will hold, and `left` holds until then."""
    assert bounds.upper is not None
    candidates = [where for where in range(position, len(times)) if bounds.has(times[where] - times[position])]
    holding = position  # `left` is known to hold from `position` to before this one
    while holding < len(left) and left[holding].value:
        holding += 1
    for where in candidates:
        if where < len(right) and right[where].value and where <= holding:
            return Settled(True, max([right[where].at, *(left[each].at for each in range(position, where))]))
    # No candidate holds; each one must be out of the question, and nothing later may become one.
    ways: list[int] = []
    if holding < len(left):  # `left` fails there
        refuted = _refuted([where for where in candidates if where <= holding], right)
        if refuted is not None:
            ways.append(max(refuted, left[holding].at))
    later = [where for where in range(len(times)) if times[where] - times[position] > bounds.upper]
    if later:
        refuted = _refuted(candidates, right)
        if refuted is not None:
            ways.append(max(refuted, later[0]))
    return Settled(False, min(ways)) if ways else None


def _refuted(candidates: Sequence[int], right: Sequence[Settled]) -> int | None:
    """From which event on it is known that `right` fails at all of the candidates; None if it is not."""
    if any(where >= len(right) or right[where].value for where in candidates):
        return None
    return max((right[where].at for where in candidates), default=0)
