"""Stage 2: the meaning of an automaton, straight from the definition of its runs.

A run is accepted or not by the transitions that recur in it for ever. These are a set of transitions
that is strongly connected; every such set of an automaton is tried here, so this is for very
small automata only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from mopsus.logics.hoa.automaton import Condition, Hoa, Often, Op, Reading

Step = tuple[int, str, int, frozenset[int]]
"""A transition: from, event, to, marks."""


def categories_after(automaton: Hoa, alphabet: tuple[str, ...], word: Sequence[str]) -> frozenset[str]:
    """The categories after `word`, as the automaton's reading has them."""
    steps = [
        (source, event, edge.target, state.marks | edge.marks)
        for source, state in enumerate(automaton.states)
        for edge in state.edges
        for event in alphabet
        if edge.letters & automaton.letter(event)
    ]
    reached = set(automaton.initial)
    for event in word:
        reached = {target for source, name, target, _ in steps if source in reached and name == event}
    match automaton.reading:
        case Reading.OMEGA:
            return frozenset({_infinite(automaton, alphabet, steps, reached)})
        case Reading.FINITE:
            accepted = {number for number, state in enumerate(automaton.states) if 0 in state.marks}
            if reached & accepted:
                return frozenset({"match"})
            return frozenset({"?"} if _reachable(steps, reached) & accepted else {"fail"})
        case Reading.CATEGORIES:
            (state,) = reached
            return frozenset(automaton.categories[mark] for mark in automaton.states[state].marks)


def _infinite(automaton: Hoa, alphabet: tuple[str, ...], steps: list[Step], reached: set[int]) -> str:
    if not _some_run(automaton.condition, steps, reached, wanted=True):
        return "violation"
    if _holds(automaton.condition, None):
        return "validation" if _never_stuck(automaton, alphabet, steps, reached) else "?"
    for state in reached:
        ahead = _reachable(steps, {state})
        runs = [sum(s == source and name == event for s, name, *_ in steps) for source in ahead for event in alphabet]
        if all(count == 1 for count in runs) and not _some_run(automaton.condition, steps, {state}, wanted=False):
            return "validation"
    return "?"


def _some_run(condition: Condition, steps: list[Step], start: set[int], *, wanted: bool) -> bool:
    """Has some infinite run from `start` a recurring set that the condition accepts, or refuses?"""
    ahead = _reachable(steps, start)
    inside = [step for step in steps if step[0] in ahead]
    return any(_holds(condition, recurring) is wanted for recurring in _recurring(inside))


def _recurring(steps: list[Step]) -> Iterator[Sequence[Step]]:
    for size in range(1, len(steps) + 1):
        for chosen in combinations(steps, size):
            states = {step[0] for step in chosen} | {step[2] for step in chosen}
            if all(_reachable(chosen, {state}) == states for state in states):
                yield chosen


def _holds(condition: Condition, recurring: Sequence[Step] | None) -> bool:
    """Does the condition hold of a recurring set; without one, does it hold whatever the visits are said to be?"""
    stack: list[bool] = []
    for item in condition:
        match item:
            case Op():
                right, left = stack.pop(), stack.pop()
                stack.append(left and right if item is Op.AND else left or right)
            case Often(infinitely, number, outside):
                visited = any((number in step[3]) != outside for step in recurring or ())
                stack.append(recurring is not None and visited is infinitely)
            case _:
                stack.append(bool(item))
    return stack[0]


def _never_stuck(automaton: Hoa, alphabet: tuple[str, ...], steps: list[Step], reached: set[int]) -> bool:
    """Can every word go on for ever from here? Sets of states are followed until they repeat."""
    seen = {frozenset(reached)}
    work = [frozenset(reached)]
    while work:
        states = work.pop()
        if not _some_run((True,), steps, set(states), wanted=True):
            return False
        for event in alphabet:
            following = frozenset(target for source, name, target, _ in steps if source in states and name == event)
            if following not in seen:
                seen.add(following)
                work.append(following)
    return True


def _reachable(steps: Iterable[Step], start: set[int]) -> set[int]:
    steps = list(steps)
    found = set(start)
    while fresh := {target for source, _, target, _ in steps if source in found} - found:
        found |= fresh
    return found
