"""Stage 2: a plain complete deterministic automaton with a set of categories per state.

This is what a logic builds and what the algorithms of this folder pass on; it is checked
nowhere but here, so each algorithm may rely on completeness.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from mopsus.logics.logic import LogicError

State = TypeVar("State", bound=Hashable)

MAX_STATES = 50_000
"""More states than this are refused: a formula that needs them is a mistake far more often than a wish."""

MAX_CELLS = 500_000
"""Likewise for states times events."""


@dataclass(frozen=True, slots=True)
class Automaton:
    """`table[state][letter]` is the next state; a state may be anonymous (its name is empty)."""

    alphabet: tuple[str, ...]
    initial: int
    table: tuple[tuple[int, ...], ...]
    categories: tuple[frozenset[str], ...]
    names: tuple[str, ...]
    presumed: tuple[bool | None, ...] = ()
    """Of each state, whether a trace that ends there presumably satisfies the formula; empty if the logic has no such
    notion."""
    after_report: tuple[int, ...] = ()
    """Of each state, where a handler's reset leads; empty: to the initial state."""

    def __post_init__(self) -> None:
        states = range(len(self.table))
        if self.initial not in states or not len(self.categories) == len(self.names) == len(self.table):
            raise ValueError("an automaton needs an initial state, and categories and a name for each state")
        if self.presumed and len(self.presumed) != len(self.table):
            raise ValueError("an automaton presumes something of all states or of none")
        if self.after_report and len(self.after_report) != len(self.table):
            raise ValueError("an automaton says of all states where a reset leads, or of none")
        width = len(self.alphabet)
        if any(len(row) != width or any(target not in states for target in row) for row in self.table):
            raise ValueError("an automaton needs a next state for each state and letter")


def explore(
    alphabet: tuple[str, ...],
    initial: State,
    step: Callable[[State, int], State],
    categories: Callable[[State], frozenset[str]],
    name: Callable[[State], str] = lambda _: "",
    presumed: Callable[[State], bool | None] | None = None,
    after_report: Callable[[State], State] | None = None,
) -> Automaton:
    """The automaton of the states reachable from `initial` by events and resets, numbered in breadth-first order.

    `LogicError` if there are more than `MAX_STATES`, or if their table has more than `MAX_CELLS` cells.
    """
    limit = min(MAX_STATES, MAX_CELLS // max(1, len(alphabet)))
    numbers = {initial: 0}
    order = [initial]
    table: list[tuple[int, ...]] = []
    resets: list[int] = []
    letters = range(len(alphabet))

    def number_of(state: State) -> int:
        number = numbers.get(state)
        if number is None:
            number = numbers[state] = len(order)
            order.append(state)
        return number

    for state in order:  # grows while it is walked
        table.append(tuple(number_of(step(state, letter)) for letter in letters))
        if after_report is not None:
            resets.append(number_of(after_report(state)))
        if len(order) > limit:
            raise too_large(f"more than {limit:,} states over {len(alphabet):,} event{'s' * (len(alphabet) > 1)}")
    return Automaton(
        alphabet,
        0,
        tuple(table),
        tuple(map(categories, order)),
        tuple(map(name, order)),
        tuple(map(presumed, order)) if presumed else (),
        tuple(resets),
    )


def too_large(what: str) -> LogicError:
    """The error for a formula whose machine outgrows what can be built."""
    return LogicError(
        f"the machine of this formula is too large: {what}",
        code="LOGIC-007",
        hint="use smaller repetitions and bounds, nest less, or split the property",
    )


def trace_to(reached: Mapping[State, tuple[State, str] | None], place: State) -> tuple[str, ...]:
    """The events that lead to a place. Of each place: from which one and by which event it was reached, or None."""
    events: list[str] = []
    while (before := reached[place]) is not None:
        place, event = before
        events.append(event)
    return tuple(reversed(events))


def predecessors(table: Sequence[Sequence[int]]) -> list[list[tuple[int, int]]]:
    """For each state, the transitions into it as (source, letter)."""
    into: list[list[tuple[int, int]]] = [[] for _ in table]
    for source, row in enumerate(table):
        for letter, target in enumerate(row):
            into[target].append((source, letter))
    return into


def reaching(table: Sequence[Sequence[int]], targets: Iterable[int]) -> set[int]:
    """The states from which some state of `targets` is reachable, themselves included."""
    into = predecessors(table)
    found = set(targets)
    work = list(found)
    while work:
        for source, _ in into[work.pop()]:
            if source not in found:
                found.add(source)
                work.append(source)
    return found
