"""Transitions as Boolean expressions, for people: short sums of products.

The products are irredundant (Minato & Morreale): none can be left out, and no literal of one can be.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from mopsus.decentral.automaton import Automaton
from mopsus.logics.ltl.letters import Valuations, Work

Cube: TypeAlias = "tuple[tuple[int, bool], ...]"
"""A conjunction of literals: an input and whether it must be true."""

FALSE, TRUE = ~0, ~1


def transition_labels(automaton: Automaton, state: int) -> Mapping[int, str]:
    """For each state that can follow, when it does."""
    functions = _Functions(automaton)
    return {target: functions.label(automaton.roots[state], target) for target in automaton.targets(state)}


class _Functions:
    """Boolean functions of an automaton's inputs."""

    def __init__(self, automaton: Automaton) -> None:
        self._automaton = automaton
        self._letters = Valuations(automaton.inputs, Work())
        self._and_not_memo: dict[tuple[int, int], int] = {}
        self._or_memo: dict[tuple[int, int], int] = {}

    def label(self, root: int, target: int) -> str:
        function = self._leads_to(root, target, {})
        cubes, _ = self._cover(function, function)
        if cubes == [()]:
            return "true"
        return " | ".join(
            " & ".join(f"{'' if value else '!'}{self._automaton.inputs[level]}" for level, value in cube)
            for cube in cubes
        )

    def _leads_to(self, place: int, target: int, memo: dict[int, int]) -> int:
        if place < 0:
            return TRUE if ~place == target else FALSE
        if place not in memo:
            level, low, high = self._automaton.nodes[place]
            memo[place] = self._letters.make(
                level, self._leads_to(low, target, memo), self._leads_to(high, target, memo)
            )
        return memo[place]

    def _cover(self, lower: int, upper: int) -> tuple[list[Cube], int]:
        """Products whose disjunction, also given as a function, is implied by `lower` and implies `upper`."""
        if lower == FALSE:
            return [], FALSE
        if upper == TRUE:
            return [()], TRUE
        level = min(self._letters.node(place)[0] for place in (lower, upper) if place >= 0)
        lower_low, lower_high = self._split(lower, level)
        upper_low, upper_high = self._split(upper, level)
        lows, low = self._cover(self._and_not(lower_low, upper_high), upper_low)
        highs, high = self._cover(self._and_not(lower_high, upper_low), upper_high)
        rest = self._or(self._and_not(lower_low, low), self._and_not(lower_high, high))
        both, either = self._cover(rest, self._and_not(upper_low, self._and_not(TRUE, upper_high)))
        cubes = [((level, True), *cube) for cube in highs] + [((level, False), *cube) for cube in lows] + both
        return cubes, self._letters.make(level, self._or(low, either), self._or(high, either))

    def _split(self, function: int, level: int) -> tuple[int, int]:
        if function < 0 or self._letters.node(function)[0] != level:
            return function, function
        return self._letters.node(function)[1:]

    def _and_not(self, one: int, other: int) -> int:
        return self._letters.join(lambda mine, its: mine & ~its, one, other, self._and_not_memo)

    def _or(self, one: int, other: int) -> int:
        return self._letters.join(lambda mine, its: mine | its, one, other, self._or_memo)
