"""Stage 2: which obligations make others superfluous.

A deadline in three steps makes one in five superfluous. Without noticing this, a formula with deadlines
would remember every one that is open; with it, the next one is enough. Implications are found from the
shape of formulas only: all that are said here are true, but some true ones are not said.
"""

from __future__ import annotations

from mopsus.logics.ltl.normal import FALSE, TRUE, UNBOUNDED, Kind, Node, Normal

MAX_DEPTH = 50
"""Formulas that differ only deeper than this are not compared, so that the recursion is never deep."""


class Implication:
    """Does one formula of `normal` imply another, at every position of every word?"""

    def __init__(self, normal: Normal) -> None:
        self._nodes = normal.nodes
        self._known: dict[tuple[int, int], bool] = {}
        self._depth = 0

    def __call__(self, one: int, other: int) -> bool:
        if one in (other, FALSE) or other == TRUE:
            return True
        known = self._known.get((one, other))
        if known is None:
            self._depth += 1
            known = self._depth <= MAX_DEPTH and self._find(one, other)
            self._depth -= 1
            self._known[one, other] = known
        return known

    def _find(self, one: int, other: int) -> bool:
        mine, its = self._nodes[one], self._nodes[other]
        if mine.kind is Kind.OR:
            return all(self(part, other) for part in mine.parts)
        if its.kind is Kind.AND:
            return all(self(one, part) for part in its.parts)
        if mine.kind is Kind.AND and any(self(part, other) for part in mine.parts):
            return True
        if its.kind is Kind.OR and any(self(one, part) for part in its.parts):
            return True
        return self._alike(mine, its) or self._now(one, other, mine, its)

    def _alike(self, mine: Node, its: Node) -> bool:
        """Two operators of a kind, part by part, the bounds in the right order."""
        next_kinds = (Kind.NEXT, Kind.WEAK_NEXT)
        if mine.kind in next_kinds and its.kind in next_kinds:
            # A position that must exist is one that may exist, but not the other way round.
            fits = mine.slot == its.slot and (mine.kind is its.kind or mine.kind is Kind.NEXT)
        elif mine.kind is its.kind is Kind.UNTIL:
            fits = _within(mine.slot, its.slot)
        elif mine.kind is its.kind is Kind.RELEASE:
            fits = _within(its.slot, mine.slot)
        else:
            return False
        return fits and all(map(self, mine.parts, its.parts))

    def _now(self, one: int, other: int, mine: Node, its: Node) -> bool:
        """What the operators say of the present position alone."""
        return (
            (its.kind is Kind.UNTIL and self(one, its.parts[1]))
            or (its.kind is Kind.RELEASE and self(one, its.parts[0]) and self(one, its.parts[1]))
            or (mine.kind is Kind.RELEASE and self(mine.parts[1], other))
            or (mine.kind is Kind.UNTIL and self(mine.parts[0], other) and self(mine.parts[1], other))
        )


def _within(bound: int, wider: int) -> bool:
    return wider == UNBOUNDED or (bound != UNBOUNDED and bound <= wider)
