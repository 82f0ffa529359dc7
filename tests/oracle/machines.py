"""Machines made at random, with their analyses found by exhaustive search straight from the definitions.

Slicing is checked on these without any logic in between, and the analyses that a logic computes
can be compared with these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from mopsus.model import TableMachine

Seen = frozenset[str]
Step = Callable[[int, int], set[int]]


def analysed(
    alphabet: tuple[str, ...],
    initial: int,
    table: tuple[tuple[int, ...], ...],
    categories: tuple[frozenset[str], ...],
    goal: frozenset[str],
    resets: frozenset[str] = frozenset(),
    *,
    anytime: bool = False,
) -> TableMachine:
    """A machine with every derived field computed.

    A report of a category in `resets` may restart it; with `anytime`, somebody else's report may.
    """

    def step(state: int, letter: int) -> set[int]:
        targets = {table[state][letter]}
        if anytime or categories[state] & goal & resets:
            targets.add(table[initial][letter])
        return targets

    states = range(len(table))
    reach = {state: _reachable(state, len(alphabet), step) for state in states}
    final = tuple(
        frozenset(name for name in categories[state] if all(name in categories[other] for other in reach[state]))
        for state in states
    )
    enable = {category: _enable(alphabet, initial, step, reach, categories, category) for category in goal}
    return TableMachine(
        alphabet=alphabet,
        initial=initial,
        table=table,
        categories=categories,
        names=tuple(f"s{state}" for state in states),
        goal=goal,
        final=final,
        creation=frozenset(e for families in enable.values() for e, seen in families.items() if frozenset() in seen),
        enable=enable,
        coenable={},
        alive=tuple(_alive(alphabet, state, step, categories, goal, final) for state in states),
    )


def random_machine(
    rng: Random, alphabet: tuple[str, ...], resets: frozenset[str] = frozenset(), *, anytime: bool = False
) -> TableMachine:
    """A machine with one or two goal categories; about half of them have a sink that is one."""
    size = rng.randint(1, 5)
    sink = rng.random() < 0.5
    table = tuple(
        tuple(state if sink and state == size - 1 else rng.randrange(size) for _ in alphabet) for state in range(size)
    )
    names = ("match", "fail")[: rng.randint(1, 2)]
    categories = [frozenset(name for name in names if rng.random() < 0.25) for _ in range(size)]
    if sink:
        categories[-1] |= {names[-1]}
    goal = frozenset(rng.sample(names, rng.randint(1, len(names))))
    return analysed(alphabet, 0, table, tuple(categories), goal, resets, anytime=anytime)


def _reachable(state: int, letters: int, step: Step) -> set[int]:
    found, work = {state}, [state]
    while work:
        here = work.pop()
        new = {target for letter in range(letters) for target in step(here, letter)} - found
        found |= new
        work += new
    return found


def _walk(alphabet: tuple[str, ...], start: int, step: Step) -> Iterator[tuple[int, Seen, int, str, int]]:
    """Every step from any pair of a state and the events seen on some way to it."""
    visited = {(start, frozenset[str]())}
    work = list(visited)
    while work:
        state, seen = work.pop()
        for letter, event in enumerate(alphabet):
            for target in step(state, letter):
                yield state, seen, letter, event, target
                reached = (target, seen | {event})
                if reached not in visited:
                    visited.add(reached)
                    work.append(reached)


def _enable(
    alphabet: tuple[str, ...],
    initial: int,
    step: Step,
    reach: dict[int, set[int]],
    categories: tuple[frozenset[str], ...],
    category: str,
) -> dict[str, frozenset[Seen]]:
    families: dict[str, set[Seen]] = {event: set() for event in alphabet}
    for _, seen, _, event, target in _walk(alphabet, initial, step):
        if any(category in categories[state] for state in reach[target]):
            families[event].add(seen)
    return {event: frozenset(family) for event, family in families.items()}


def _alive(
    alphabet: tuple[str, ...],
    start: int,
    step: Step,
    categories: tuple[frozenset[str], ...],
    goal: frozenset[str],
    final: tuple[frozenset[str], ...],
) -> frozenset[Seen]:
    ways = {
        seen | {event}
        for state, seen, _, event, target in _walk(alphabet, start, step)
        if (categories[target] & goal) - (final[target] & final[state])
    }
    return frozenset(way for way in ways if not any(other < way for other in ways))
