"""Stage 2: are two machines the same to whoever watches certain categories?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from mopsus.logics.machines.automaton import trace_to

POSITIVE = frozenset({"match", "validation", "succeed"})
"""The categories by which logics say that a trace is what the formula describes."""

NEGATIVE = frozenset({"fail", "violation"})
"""The categories by which logics say that it is not."""


class Moore(Protocol):
    """What an automaton and a finished table machine have in common."""

    @property
    def alphabet(self) -> tuple[str, ...]: ...
    @property
    def initial(self) -> int: ...
    @property
    def table(self) -> tuple[tuple[int, ...], ...]: ...
    @property
    def categories(self) -> tuple[frozenset[str], ...]: ...


@dataclass(frozen=True, slots=True)
class Difference:
    """A trace after which two machines say different things, and what each says of what is compared."""

    trace: tuple[str, ...]
    first: frozenset[str]
    second: frozenset[str]


def shared_categories(first: frozenset[str], second: frozenset[str]) -> dict[str, str]:
    """Which categories of one logic correspond to which of another, where nobody has said so.

    Those of the same name; if there are none, those that say the same of a formula: `match` is `validation`,
    `fail` is `violation`. Empty if the two have nothing in common.
    """
    known = POSITIVE | NEGATIVE
    same = {category: category for category in sorted(first & second & known)}
    if same:
        return same
    return {
        mine: theirs
        for meaning in (POSITIVE, NEGATIVE)
        for mine in sorted(first & meaning)
        for theirs in sorted(second & meaning)
    }


def compare(first: Moore, second: Moore, pairs: Mapping[str, str]) -> Difference | None:
    """A shortest non-empty trace after which one machine has a category and the other has not its counterpart.

    None if there is none. `pairs` maps the categories of the first machine to those of the second. Both must have
    the same events, in any order. The empty trace is left out because no verdict is given before the first event.
    """
    if frozenset(first.alphabet) != frozenset(second.alphabet):
        raise ValueError("machines over different events cannot be compared")
    watched = tuple(pairs.items())
    letters = [(event, letter, second.alphabet.index(event)) for letter, event in enumerate(first.alphabet)]
    start = (first.initial, second.initial)
    reached: dict[tuple[int, int], tuple[tuple[int, int], str] | None] = {start: None}
    queue = [start]
    for place in queue:  # grows while it is walked
        for event, mine, theirs in letters:
            pair = (first.table[place[0]][mine], second.table[place[1]][theirs])
            held = (first.categories[pair[0]], second.categories[pair[1]])
            if any((one in held[0]) != (other in held[1]) for one, other in watched):
                return Difference(
                    (*trace_to(reached, place), event),
                    frozenset(one for one, _ in watched if one in held[0]),
                    frozenset(other for _, other in watched if other in held[1]),
                )
            if pair not in reached:
                reached[pair] = (place, event)
                queue.append(pair)
    return None


def distinguish(one: Moore, other: Moore, goal: frozenset[str]) -> tuple[str, ...] | None:
    """A shortest non-empty trace after which the two differ in a goal category; None if there is none."""
    found = compare(one, other, {category: category for category in goal})
    return found.trace if found else None
