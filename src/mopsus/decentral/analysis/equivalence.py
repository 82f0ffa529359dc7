"""Whether two monitors, or two decentralized specifications, give the same verdict on every trace.

A specification is first made into one automaton (`flattened`). References look into the future: the run of a
monitor goes on in several *worlds*, one for each answer that a reference may get, until the referred monitor has shown
which of them is the real one. What is known is what all worlds that are left agree on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from mopsus.decentral.analysis.monitorability import undecidable_states
from mopsus.decentral.automaton import Automaton
from mopsus.decentral.errors import DecentralError
from mopsus.decentral.specification import Specification
from mopsus.decentral.synthesis import automaton_of
from mopsus.logics.ltl.letters import Valuations, Work

MAX_STATES = 3_000
"""Of a flattened specification, before it is minimised."""

Claim: TypeAlias = "tuple[str, int, bool]"
"""A monitor that is now in this state will answer so."""
World: TypeAlias = "tuple[int, frozenset[Claim]]"
"""A state of the root, and what must still come true for it."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A shortest trace after which two monitors say different things: of each step, the propositions that are true."""

    trace: tuple[frozenset[str], ...]
    first: bool | None
    second: bool | None


def difference(one: Automaton | Specification, other: Automaton | Specification) -> Difference | None:
    """A shortest trace on which the verdicts differ; None if there is none."""
    first, second = (flattened(each) if isinstance(each, Specification) else each for each in (one, other))
    letters = Valuations(tuple(dict.fromkeys((*first.inputs, *second.inputs))), Work())
    mine, its = _transferred(first, letters), _transferred(second, letters)
    width = len(second.verdicts)
    reached: dict[int, tuple[int, frozenset[str]] | None] = {0: None}
    queue = [0]
    memo: dict[tuple[int, int], int] = {}
    for pair in queue:  # grows while it is walked
        verdicts = first.verdicts[pair // width], second.verdicts[pair % width]
        if verdicts[0] is not verdicts[1]:
            return Difference(_way(reached, pair), *verdicts)
        step = letters.join(lambda p, q: p * width + q, mine[pair // width], its[pair % width], memo)
        for target, letter in _examples(step, letters).items():
            if target not in reached:
                reached[target] = (pair, letter)
                queue.append(target)
    return None


def flattened(specification: Specification) -> Automaton:
    """The minimal automaton over propositions that has the root's verdict as soon as it is known.

    It decides all that the semantics of references decides, and more where the answers of several references exclude
    each other. `DecentralError` if it is too large.
    """
    return _Flattening(specification).run()


class _MissingInputError(Exception):
    """A step cannot be taken before this proposition is known."""


class _MissingAnswerError(Exception):
    """A step cannot be taken before the answer of this monitor is assumed."""


class _Flattening:
    def __init__(self, specification: Specification) -> None:
        self._root = specification.root
        self._monitors = specification.monitors
        self._silent = {name: undecidable_states(each.automaton) for name, each in self._monitors.items()}
        names = dict.fromkeys(
            name for each in self._monitors.values() for name in each.automaton.inputs if name in each.propositions
        )
        self._letters = Valuations(tuple(names), Work())

    def run(self) -> Automaton:
        start = frozenset({(0, frozenset[Claim]())})
        numbers = {start: 0}
        queue = [start]
        verdicts: list[bool | None] = []
        steps: list[int] = []
        for worlds in queue:  # grows while it is walked
            verdicts.append(self._verdict(worlds))
            if verdicts[-1] is not None:
                steps.append(~numbers[worlds])
                continue
            steps.append(self._step(worlds, {}, numbers, queue))
            if len(queue) > MAX_STATES:
                raise DecentralError(
                    f"the specification as one automaton has more than {MAX_STATES:,} states", code="DECENTRAL-027"
                )
        return automaton_of(verdicts, steps, self._letters)

    def _verdict(self, worlds: frozenset[World]) -> bool | None:
        automaton = self._monitors[self._root].automaton
        found = {automaton.verdicts[state] for state, _ in worlds}
        return found.pop() if len(found) == 1 else None

    def _step(
        self,
        worlds: frozenset[World],
        known: Mapping[str, bool],
        numbers: dict[frozenset[World], int],
        queue: list[frozenset[World]],
    ) -> int:
        """The diagram of a step, split by propositions as they turn out to be needed."""
        try:
            after = _reduced(frozenset[World]().union(*(self._follow(world, known, {}) for world in worlds)))
        except _MissingInputError as missing:
            name = str(missing)
            low, high = (self._step(worlds, {**known, name: value}, numbers, queue) for value in (False, True))
            return _choice(self._letters, name, high, low)
        if after not in numbers:
            numbers[after] = len(numbers)
            queue.append(after)
        return self._letters.constant(numbers[after])

    def _follow(self, world: World, known: Mapping[str, bool], answers: dict[str, bool]) -> frozenset[World]:
        """The worlds that a world becomes, if fresh runs of monitors answer like this and others as they may."""
        state, claims = world
        try:
            after = self._read(self._root, state, known, answers)
            fresh = {(name, 0, answer) for name, answer in answers.items()}
            left = set[Claim]()
            for name, place, answer in claims | fresh:
                target = self._read(name, place, known, answers)
                verdict = self._monitors[name].automaton.verdicts[target]
                if verdict is not None and verdict is not answer:
                    return frozenset()
                if verdict is None and target not in self._silent[name]:
                    left.add((name, target, answer))
        except _MissingAnswerError as missing:
            name = str(missing)
            return self._follow(world, known, {**answers, name: True}) | self._follow(
                world, known, {**answers, name: False}
            )
        return frozenset({(after, frozenset(left))})

    def _read(self, name: str, state: int, known: Mapping[str, bool], answers: Mapping[str, bool]) -> int:
        monitor = self._monitors[name]
        automaton = monitor.automaton
        place = automaton.roots[state]
        while place >= 0:
            level, low, high = automaton.nodes[place]
            each = automaton.inputs[level]
            if each in monitor.references:
                if each not in answers:
                    raise _MissingAnswerError(each)
                value = answers[each]
            elif each in known:
                value = known[each]
            else:
                raise _MissingInputError(each)
            place = high if value else low
        return ~place


def _reduced(worlds: frozenset[World]) -> frozenset[World]:
    """Without worlds that others make superfluous: one that claims more than another, and two that differ in what
    one run answers, of which always one comes true."""
    found = set(worlds)
    while True:
        more = {
            (state, claims - {(name, place, answer)})
            for state, claims in found
            for name, place, answer in claims
            if (state, claims - {(name, place, answer)} | {(name, place, not answer)}) in found
        }
        found |= more
        found = {
            (state, claims)
            for state, claims in found
            if not any(its_state == state and its_claims < claims for its_state, its_claims in found)
        }
        if not more:
            return frozenset(found)


def _choice(letters: Valuations, name: str, high: int, low: int) -> int:
    """One diagram where a proposition is true, another where it is not, whatever both test."""
    test = letters.atom(name, 1, 0)
    # Values are not negative, so they leave room to mark those that do not count.
    taken = letters.join(lambda holds, value: value + 1 if holds else 0, test, high, {})
    other = letters.join(lambda holds, value: 0 if holds else value + 1, test, low, {})
    return letters.join(lambda mine, its: max(mine, its) - 1, taken, other, {})


def _transferred(automaton: Automaton, letters: Valuations) -> list[int]:
    """The transitions of all states as diagrams over other letters, in which inputs may have another order."""
    made: dict[int, int] = {}

    def diagram(place: int) -> int:
        if place < 0:
            return place
        if place not in made:
            level, low, high = automaton.nodes[place]
            made[place] = _choice(letters, automaton.inputs[level], diagram(high), diagram(low))
        return made[place]

    return [diagram(root) for root in automaton.roots]


def _examples(diagram: int, letters: Valuations) -> Mapping[int, frozenset[str]]:
    """For each value of a diagram, a letter that has it."""
    found: dict[int, frozenset[str]] = {}
    seen: set[int] = set()
    stack = [(diagram, frozenset[str]())]
    while stack:
        place, true = stack.pop()
        if place < 0:
            found.setdefault(~place, true)
        elif place not in seen:
            seen.add(place)
            level, low, high = letters.node(place)
            stack += ((high, true | {letters.propositions[level]}), (low, true))
    return found


def _way(reached: Mapping[int, tuple[int, frozenset[str]] | None], pair: int) -> tuple[frozenset[str], ...]:
    trace: list[frozenset[str]] = []
    while (before := reached[pair]) is not None:
        pair, letter = before
        trace.append(letter)
    return tuple(reversed(trace))
