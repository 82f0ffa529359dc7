"""Stage 2: the deterministic monitor of a formula: after each prefix of a word, true, false or not known yet.

Three-valued LTL (Bauer, Leucker & Schallhart 2011): a prefix violates a formula if no
continuation satisfies it, and validates it if none satisfies its negation. A state is the set of
places that a prefix leads to, of the formula and of its negation, without those that accept nothing;
when a set is empty, the verdict is known for good.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Generic

from mopsus.logics.ltl.alternating import Alternating, accepting
from mopsus.logics.ltl.letters import D, Letters, Work
from mopsus.logics.ltl.normal import Normal
from mopsus.logics.machines.automaton import MAX_STATES, too_large
from mopsus.logics.temporal.syntax import Formula


@dataclass(frozen=True, slots=True)
class Deterministic(Generic[D]):
    """A complete deterministic monitor; state 0 is the initial one, and a verdict that is not None is final."""

    verdicts: list[bool | None]
    steps: list[D]
    """Of each state, a diagram whose values are states."""
    presumed: list[bool]
    """Of each state, whether the formula holds if the word ends there; empty unless asked for."""


def determine(formula: Formula, letters: Letters[D], work: Work, *, ending: bool = False) -> Deterministic[D]:
    """The monitor of `formula`, not minimal. `LogicError` if it or its construction is too large.

    `ending` asks what to presume of words that end.
    """
    normal = Normal(ending=ending)
    number = normal.add(formula)
    alternating = Alternating(normal, letters, work)
    satisfying = alternating.begin(number)
    violating = alternating.begin(normal.negate(number))
    alternating.explore()
    return _Subsets(alternating, letters, work).run(satisfying, violating, ending)


class _Subsets(Generic[D]):
    """The subset construction. Sets of places are numbered; 0 is the empty one."""

    def __init__(self, alternating: Alternating[D], letters: Letters[D], work: Work) -> None:
        self._alternating = alternating
        self._letters = letters
        self._work = work
        edges = alternating.edges
        targets = [
            list({edge for value in letters.values(step) for edge in edges[value]}) for step in alternating.steps
        ]
        self._live = accepting(targets, alternating.obligations.marks)
        self._sets: list[frozenset[int]] = [frozenset()]
        self._numbers: dict[frozenset[int], int] = {frozenset(): 0}
        self._unions: dict[tuple[int, int], int] = {}
        self._union_memo: dict[tuple[D, D], D] = {}
        self._live_steps = self._place_steps(self._live.__contains__)

    def run(self, satisfying: frozenset[int], violating: frozenset[int], ending: bool) -> Deterministic[D]:
        states: list[tuple[int, int, int]] = []
        numbers: dict[tuple[int, int, int], int] = {}

        def state(hopes: int, fears: int, ends: int) -> int:
            key = (hopes, fears, ends) if hopes and fears else (bool(hopes), bool(fears), 0)
            found = numbers.get(key)
            if found is None:
                found = numbers[key] = len(states)
                states.append(key)
                if found > MAX_STATES:
                    raise too_large(f"more than {MAX_STATES:,} states")
            return found

        every = self._place_steps(lambda place: True) if ending else []
        state(
            self._number(satisfying & self._live),
            self._number(violating & self._live),
            self._number(satisfying) if ending else 0,
        )
        pairs: list[tuple[int, int]] = []
        pair_numbers: dict[tuple[int, int], int] = {}

        def pair(hopes: int, fears: int) -> int:
            found = pair_numbers.setdefault((hopes, fears), len(pairs))
            if found == len(pairs):
                pairs.append((hopes, fears))
            return found

        pair_memo: dict[tuple[D, D], D] = {}
        state_memo: dict[tuple[D, D], D] = {}
        nothing = self._letters.constant(0)
        result: Deterministic[D] = Deterministic([], [], [])
        for number, (hopes, fears, ends) in enumerate(states):  # grows while it is walked
            verdict = None if hopes and fears else bool(hopes)
            result.verdicts.append(verdict)
            if ending:
                result.presumed.append(any(map(self._alternating.satisfied_by_end, self._sets[ends])))
            if verdict is not None:
                result.steps.append(self._letters.constant(number))
                continue
            both = self._letters.join(
                pair, self._after(hopes, self._live_steps), self._after(fears, self._live_steps), pair_memo
            )
            after = self._after(ends, every) if ending else nothing
            result.steps.append(self._letters.join(lambda two, end: state(*pairs[two], end), both, after, state_memo))
        return result

    def _place_steps(self, keep: Callable[[int], bool]) -> list[D]:
        """Of each place, the sets of kept places that it leads to."""
        edges = self._alternating.edges
        memo: dict[D, D] = {}

        def targets(value: int) -> int:
            return self._number(target for target, _ in edges[value] if keep(target))

        return [self._letters.map(targets, step, memo) for step in self._alternating.steps]

    def _after(self, number: int, steps: list[D]) -> D:
        """The sets that a set leads to."""
        return reduce(
            lambda one, other: self._letters.join(self._union, one, other, self._union_memo),
            (steps[place] for place in sorted(self._sets[number])),
            self._letters.constant(0),
        )

    def _union(self, one: int, other: int) -> int:
        if one == other or not other:
            return one
        if not one:
            return other
        found = self._unions.get((one, other))
        if found is None:
            dominates = self._alternating.dominates
            first, second = self._sets[one], self._sets[other] - self._sets[one]
            self._work.spend(1 + (len(first) * len(second) >> 4))
            # Neither set has places that ask for more than another of it, so only those of the other matter.
            kept = [place for place in first if not any(dominates(each, place) for each in second)]
            kept += [place for place in second if not any(dominates(each, place) for each in first)]
            found = self._unions[one, other] = self._numbered(frozenset(kept))
        return found

    def _number(self, places: Iterable[int]) -> int:
        """The number of a set of places, of which those are left out that ask for more than another."""
        number = 0
        for place in places:
            number = self._union(number, self._numbered(frozenset({place})))
        return number

    def _numbered(self, places: frozenset[int]) -> int:
        found = self._numbers.setdefault(places, len(self._sets))
        if found == len(self._sets):
            self._sets.append(places)
        return found
