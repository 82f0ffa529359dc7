"""Stage 2: what the engine needs to know of a machine beside its table.

All analyses are about *reports*. On a transition the machine reports the goal categories of
the target state, except those that were final in the source state already: a final verdict is
reported once, unless `Request.every` event is to have its report. Where the machine may be reset
(`Request.restart` when such a category is reported, `Request.interrupted` after any event), it goes
on from its initial state, from where `Automaton.after_report` leads, or from the target, and the
sets cover all of them.

Event sets are bit masks here. There can be exponentially many, so their number is bounded:
beyond `MAX_SETS` the events that the request calls alike are taken together, and if that does
not suffice the answer is the representation of "any set" that `TableMachine` defines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from mopsus.logics.logic import Request
from mopsus.logics.machines.automaton import Automaton, predecessors

MAX_SETS = 4096
"""How many pairs of a state and an event set one analysis may visit."""

NEEDS_NOTHING = frozenset({frozenset[str]()})

EventSets = frozenset[frozenset[str]]
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Analysis:
    """The analysed part of a `TableMachine`; see there."""

    final: tuple[frozenset[str], ...]
    creation: frozenset[str]
    enable: Mapping[str, Mapping[str, EventSets]]
    coenable: Mapping[str, Mapping[str, EventSets]]
    alive: tuple[EventSets, ...]


def analyse(automaton: Automaton, request: Request, begins: frozenset[str] | None = None) -> Analysis:
    """Analyse `automaton`, all of whose states must be reachable, for reports of the goal categories.

    `begins` restricts the creation events. It does not restrict the enable sets, because a spec may declare
    creation events of its own.
    """
    final = final_categories(automaton)
    graph = _Reports(automaton, final, request)
    scales = scales_of(request)
    enable = bounded(scales, partial(_enable, graph))
    alive = bounded(scales, partial(_alive, graph))
    states = range(len(automaton.table))
    return Analysis(
        final=final,
        creation=frozenset(
            event
            for event, useful in zip(automaton.alphabet, graph.useful[automaton.initial], strict=True)
            if useful and (begins is None or event in begins)
        ),
        enable=enable or {category: {} for category in graph.goal},
        coenable={
            category: bounded(scales, partial(_coenable, graph, category))
            or dict.fromkeys(automaton.alphabet, NEEDS_NOTHING)
            for category in graph.goal
        },
        alive=alive or tuple(NEEDS_NOTHING if graph.goes_on(state) else frozenset() for state in states),
    )


def final_categories(automaton: Automaton) -> tuple[frozenset[str], ...]:
    """Of each state, the categories that it and every state reachable from it have."""
    into = predecessors(automaton.table)
    lasting = list(automaton.categories)
    work = list(range(len(lasting)))
    while work:
        target = work.pop()
        for source, _ in into[target]:
            if not lasting[source] <= lasting[target]:
                lasting[source] &= lasting[target]
                work.append(source)
    return tuple(lasting)


class _Reports:
    """A machine as the analyses see it: where each transition may lead, what it reports and what it is good for."""

    def __init__(self, automaton: Automaton, final: tuple[frozenset[str], ...], request: Request) -> None:
        self.goal = sorted(request.goal)
        self.initial = automaton.initial
        self.after_report = automaton.after_report or (automaton.initial,) * len(automaton.table)
        states = range(len(automaton.table))
        self.reported = [
            [
                (automaton.categories[target] & request.goal)
                - (frozenset() if request.every else final[target] & final[state])
                for target in automaton.table[state]
            ]
            for state in states
        ]
        self.resetting: set[int] = set()
        """States that the machine may be reset in when it enters them."""
        self.targets: list[list[tuple[int, ...]]] = []
        for row, said in zip(automaton.table, self.reported, strict=True):
            resets = [request.interrupted or bool(categories & request.restart) for categories in said]
            self.resetting.update(target for target, reset in zip(row, resets, strict=True) if reset)
            self.targets.append(
                [
                    (target, *self.resets_to(target)) if reset else (target,)
                    for target, reset in zip(row, resets, strict=True)
                ]
            )
        self.into: list[list[tuple[int, int]]] = [[] for _ in states]
        for state in states:
            for letter, targets in enumerate(self.targets[state]):
                for target in targets:
                    self.into[target].append((state, letter))
        ahead = self._ahead()
        self.useful = [
            [
                reported.union(*(ahead[target] for target in targets))
                for reported, targets in zip(self.reported[state], self.targets[state], strict=True)
            ]
            for state in states
        ]
        """Of each transition, the categories that it reports or that can be reported after it."""

    def goes_on(self, state: int) -> bool:
        """Can anything be reported after entering `state`, if need be after a reset there?"""
        return any(self.useful[state]) or (
            state in self.resetting and any(any(self.useful[reset]) for reset in self.resets_to(state))
        )

    def resets_to(self, state: int) -> set[int]:
        """Where a reset may lead when the machine has entered `state`."""
        return {self.initial, self.after_report[state]}

    def _ahead(self) -> list[set[str]]:
        """Of each state, the categories that can be reported after it."""
        ahead: list[set[str]] = [set().union(*row) for row in self.reported]
        work = [state for state, categories in enumerate(ahead) if categories]
        while work:
            target = work.pop()
            for source, _ in self.into[target]:
                if not ahead[source] >= ahead[target]:
                    ahead[source] |= ahead[target]
                    work.append(source)
        return ahead


class Scale:
    """Which events are told apart: the bit of each letter, and masks turned back into event sets."""

    def __init__(self, alphabet: tuple[str, ...], alike: tuple[frozenset[str], ...]) -> None:
        self.alphabet = alphabet
        group_of = {event: group for group in alike for event in group}
        self._groups = list(dict.fromkeys(group_of.get(event, frozenset({event})) for event in alphabet))
        self.bits = [1 << self._groups.index(group_of.get(event, frozenset({event}))) for event in alphabet]
        self._sets: dict[int, frozenset[str]] = {}

    def event_sets(self, masks: Iterable[int]) -> EventSets:
        """The event sets that masks stand for."""
        return frozenset(self._event_set(mask) for mask in masks)

    def _event_set(self, mask: int) -> frozenset[str]:
        found = self._sets.get(mask)
        if found is None:
            members = [group for number, group in enumerate(self._groups) if mask >> number & 1]
            found = self._sets[mask] = frozenset().union(*members)
        return found


def scales_of(request: Request) -> list[Scale]:
    """The scales to try, the finest first."""
    scales = [Scale(request.alphabet, ())]
    if any(len(group) > 1 for group in request.alike):
        scales.append(Scale(request.alphabet, request.alike))
    return scales


class TooManySetsError(Exception):
    """An analysis visits more than `MAX_SETS` sets."""


def bounded(scales: Iterable[Scale], analysis: Callable[[Scale], Answer]) -> Answer | None:
    """The answer on the finest scale that keeps within the bound; None if none does."""
    for scale in scales:
        try:
            return analysis(scale)
        except TooManySetsError:
            continue
    return None


def _enable(graph: _Reports, scale: Scale) -> dict[str, dict[str, EventSets]]:
    """Enable sets by category and event.

    What was seen is kept per state that is *reached* (Meredith 2012, ch. 3, keys it by the state that is left,
    which loses sets). All categories share one walk: a state that can still reach a category was
    itself reached only through states that could.
    """
    seen: list[set[int]] = [set() for _ in graph.useful]
    seen[graph.initial].add(0)
    work = [(graph.initial, 0)]
    visited = 1
    before: list[dict[str, set[int]]] = [{category: set() for category in graph.goal} for _ in scale.alphabet]
    while work:
        state, mask = work.pop()
        for letter, useful in enumerate(graph.useful[state]):
            if not useful:
                continue
            for category in useful:
                before[letter][category].add(mask)
            after = mask | scale.bits[letter]
            for target in graph.targets[state][letter]:
                if after not in seen[target]:
                    visited += 1
                    if visited > MAX_SETS:
                        raise TooManySetsError
                    seen[target].add(after)
                    work.append((target, after))
    return {
        category: {event: scale.event_sets(before[letter][category]) for letter, event in enumerate(scale.alphabet)}
        for category in graph.goal
    }


def _coenable(graph: _Reports, category: str, scale: Scale) -> dict[str, EventSets]:
    """Coenable sets of one category by event: what can follow each event up to and with a report."""
    ahead: list[set[int]] = [set() for _ in graph.useful]
    work: list[tuple[int, int]] = []

    def add(state: int, mask: int) -> None:
        if mask not in ahead[state]:
            ahead[state].add(mask)
            work.append((state, mask))

    for state, row in enumerate(graph.reported):
        for letter, reported in enumerate(row):
            if category in reported:
                add(state, scale.bits[letter])
    visited = 0
    while work:
        visited += 1
        if visited > MAX_SETS:
            raise TooManySetsError
        target, mask = work.pop()
        for state, letter in graph.into[target]:
            add(state, mask | scale.bits[letter])
    after: list[set[int]] = [set() for _ in scale.alphabet]
    for transitions in graph.targets:
        for letter, targets in enumerate(transitions):
            after[letter].update(*(ahead[target] for target in targets))
    return {event: scale.event_sets(after[letter]) for letter, event in enumerate(scale.alphabet)}


def _alive(graph: _Reports, scale: Scale) -> tuple[EventSets, ...]:
    """Of each state, the minimal event sets that lead to a report.

    A state in which the machine may be reset also has what leads to a report from where resets lead.
    """
    minimal: list[list[int]] = [[] for _ in graph.useful]
    # Masks are taken up by size, so a set that is kept is never displaced by a later one.
    by_size: list[list[tuple[int, int]]] = [[] for _ in range(len(scale.alphabet) + 1)]
    for state, row in enumerate(graph.reported):
        for letter, reported in enumerate(row):
            if reported:
                by_size[1].append((state, scale.bits[letter]))
    visited = 0
    for pending in by_size:
        for state, mask in pending:  # grows while it is walked: a repeated event adds nothing to the size
            if any(known & mask == known for known in minimal[state]):
                continue
            visited += 1
            if visited > MAX_SETS:
                raise TooManySetsError
            minimal[state].append(mask)
            for source, letter in graph.into[state]:
                wider = mask | scale.bits[letter]
                by_size[wider.bit_count()].append((source, wider))
    own = tuple(minimal)
    for state in graph.resetting:
        minimal[state] = antichain([mask for each in (state, *graph.resets_to(state)) for mask in own[each]])
    return tuple(scale.event_sets(masks) for masks in minimal)


def antichain(masks: Iterable[int]) -> list[int]:
    """Those masks that contain no other one, the smallest first."""
    kept: list[int] = []
    for mask in sorted(set(masks), key=int.bit_count):
        if not any(known & mask == known for known in kept):
            kept.append(mask)
    return kept
