"""What formulas say at every second of a recording, straight from the definitions: whole signals at once.

True and False are verdicts, None is what the end of the recording leaves open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mopsus.decentral.synthesis import REFERENCE
from mopsus.logics.temporal.syntax import Formula, Op

Signal = Sequence[bool | None]


def evaluate(formula: Formula, signals: Mapping[str, Signal], length: int) -> list[bool | None]:
    """The formula at each second; its names are those of signals. Only bounded operators are known."""
    parts = [evaluate(part, signals, length) for part in formula.parts]
    if formula.op is Op.ATOM:
        return list(signals[formula.name.removeprefix(REFERENCE)])
    if formula.op is Op.NOT:
        return [None if value is None else not value for value in parts[0]]
    if formula.op in (Op.AND, Op.OR):
        return [_joined(values, formula.op is Op.OR) for values in zip(*parts, strict=True)]
    if formula.op is Op.IMPLIES:
        return [_joined((None if left is None else not left, right), True) for left, right in zip(*parts, strict=True)]
    if formula.op in (Op.EVENTUALLY, Op.ALWAYS):
        low, high = int(formula.interval.lower), int(formula.interval.upper)
        after = [*parts[0], *[None] * (high + 1)]
        return [
            _joined(after[second + low : second + high + 1], formula.op is Op.EVENTUALLY) for second in range(length)
        ]
    raise NotImplementedError(formula.op)


def _joined(values, neutral_breaker):
    """Or (`True`) and and (`False`) of three values."""
    if neutral_breaker in values:
        return neutral_breaker
    return None if None in values else not neutral_breaker
