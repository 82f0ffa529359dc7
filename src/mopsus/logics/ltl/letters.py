"""Stage 2: functions from letters to values, for both kinds of letter.

What happens at a step depends on the letter read there. A *diagram* says so for all letters at
once: it maps each letter to a number, and equal maps are equal diagrams. Over events
(`Events`) it is a tuple with a number for each letter. Over valuations of propositions (`Valuations`) it is a
multi-terminal binary decision diagram, so that 2^n letters are never listed (BDD libraries for
Python have none with several terminals).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic
from typing import Protocol, TypeAlias, TypeVar

from mopsus.logics.machines.automaton import too_large

MAX_WORK = 3_000_000
"""How many elementary steps the synthesis of one monitor may take; a few seconds."""

MAX_PROPOSITIONS = 400
"""Recursion over a decision diagram is as deep as there are propositions."""

Join: TypeAlias = Callable[[int, int], int]
Map: TypeAlias = Callable[[int], int]
Row: TypeAlias = tuple[int, ...]
D = TypeVar("D")
"""A diagram, which can be a key."""


class Letters(Protocol[D]):
    """How diagrams over one kind of letter are made and combined."""

    def constant(self, value: int) -> D:
        """The same value for every letter."""

    def atom(self, name: str, yes: int, no: int) -> D:
        """One value where the event or proposition `name` is true, another where it is not."""

    def join(self, function: Join, one: D, other: D, memo: dict[tuple[D, D], D]) -> D:
        """`function` applied letter by letter; `memo` must be kept for this function only."""

    def map(self, function: Map, diagram: D, memo: dict[D, D]) -> D:
        """`function` applied letter by letter; `memo` must be kept for this function only."""

    def values(self, diagram: D) -> Sequence[int]:
        """The distinct values, in a fixed order."""


class Work:
    """Counts the steps of a synthesis, and ends it when they are too many or have taken too long."""

    def __init__(self, timeout_s: float | None = None) -> None:
        self._left = MAX_WORK
        self._end = None if timeout_s is None else monotonic() + timeout_s

    def spend(self, steps: int) -> None:
        """`LogicError` if the synthesis has taken too many steps or too much time by now."""
        self._left -= steps
        if self._left < 0 or (self._end is not None and monotonic() >= self._end):
            raise too_large("its construction takes too long")


class Events:
    """Letters are events, one at each step: those given and, if there are `others`, one more that stands for them."""

    def __init__(self, events: Sequence[str], others: bool, work: Work) -> None:
        self._letter = {event: letter for letter, event in enumerate(events)}
        self._width = len(events) + others
        self._work = work

    def constant(self, value: int) -> Row:
        return (value,) * self._width

    def atom(self, name: str, yes: int, no: int) -> Row:
        letter = self._letter[name]
        return tuple(yes if each == letter else no for each in range(self._width))

    def join(
        self,
        function: Join,
        one: Row,
        other: Row,
        memo: dict[tuple[Row, Row], Row],
    ) -> Row:
        found = memo.get((one, other))
        if found is None:
            self._work.spend(self._width)
            found = memo[one, other] = tuple(map(function, one, other))
        return found

    def map(self, function: Map, diagram: Row, memo: dict[Row, Row]) -> Row:
        found = memo.get(diagram)
        if found is None:
            self._work.spend(self._width)
            found = memo[diagram] = tuple(map(function, diagram))
        return found

    def values(self, diagram: Row) -> Sequence[int]:
        return tuple(dict.fromkeys(diagram))


class Valuations:
    """Letters are sets of propositions, those that are true at a step.

    A diagram is a number: `~value` (negative) for a constant, else a node that tests the proposition `test(node)`.
    """

    def __init__(self, propositions: Sequence[str], work: Work) -> None:
        if len(propositions) > MAX_PROPOSITIONS:
            raise too_large(f"more than {MAX_PROPOSITIONS} propositions")
        self.propositions = tuple(propositions)
        self._level = {name: level for level, name in enumerate(propositions)}
        self._nodes: list[tuple[int, int, int]] = []
        self._numbers: dict[tuple[int, int, int], int] = {}
        self._work = work

    def node(self, diagram: int) -> tuple[int, int, int]:
        """Of a diagram that is not constant: the level of the proposition it tests, and what follows if that is false
        and if it is true."""
        return self._nodes[diagram]

    def constant(self, value: int) -> int:
        return ~value

    def atom(self, name: str, yes: int, no: int) -> int:
        return self.make(self._level[name], ~no, ~yes)

    def make(self, level: int, low: int, high: int) -> int:
        """The diagram that tests the proposition of `level`, which must stand before all that `low` and `high` test."""
        if low == high:
            return low
        key = (level, low, high)
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self._nodes)
            self._nodes.append(key)
        return found

    def join(self, function: Join, one: int, other: int, memo: dict[tuple[int, int], int]) -> int:
        if one < 0 and other < 0:
            return ~function(~one, ~other)
        found = memo.get((one, other))
        if found is not None:
            return found
        self._work.spend(1)
        if one < 0:
            level, low, high = self._nodes[other]
            made = self.make(level, self.join(function, one, low, memo), self.join(function, one, high, memo))
        elif other < 0:
            level, low, high = self._nodes[one]
            made = self.make(level, self.join(function, low, other, memo), self.join(function, high, other, memo))
        else:
            mine, my_low, my_high = self._nodes[one]
            its, its_low, its_high = self._nodes[other]
            if mine < its:
                its_low = its_high = other
            elif its < mine:
                my_low = my_high = one
            made = self.make(
                min(mine, its),
                self.join(function, my_low, its_low, memo),
                self.join(function, my_high, its_high, memo),
            )
        memo[one, other] = made
        return made

    def map(self, function: Map, diagram: int, memo: dict[int, int]) -> int:
        if diagram < 0:
            return ~function(~diagram)
        found = memo.get(diagram)
        if found is None:
            self._work.spend(1)
            level, low, high = self._nodes[diagram]
            found = memo[diagram] = self.make(level, self.map(function, low, memo), self.map(function, high, memo))
        return found

    def values(self, diagram: int) -> Sequence[int]:
        found: dict[int, None] = {}
        seen: set[int] = set()
        stack = [diagram]
        while stack:
            each = stack.pop()
            if each < 0:
                found[~each] = None
            elif each not in seen:
                seen.add(each)
                _, low, high = self._nodes[each]
                stack += (high, low)
        return tuple(found)
