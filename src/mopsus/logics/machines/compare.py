"""Stage 2: are two machines the same to whoever watches certain categories?"""

from __future__ import annotations

from typing import Protocol


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


def distinguish(one: Moore, other: Moore, goal: frozenset[str]) -> tuple[str, ...] | None:
    """A shortest non-empty trace after which the two differ in a goal category; None if there is none.

    Both must have the same events, in any order. The empty trace is left out because no
    verdict is given before the first event.
    """
    if frozenset(one.alphabet) != frozenset(other.alphabet):
        raise ValueError("machines over different events cannot be compared")
    letters = [(event, letter, other.alphabet.index(event)) for letter, event in enumerate(one.alphabet)]
    start = (one.initial, other.initial)
    traces: dict[tuple[int, int], tuple[str, ...]] = {start: ()}
    queue = [start]
    for mine, theirs in queue:  # grows while it is walked
        for event, my_letter, their_letter in letters:
            pair = (one.table[mine][my_letter], other.table[theirs][their_letter])
            trace = (*traces[mine, theirs], event)
            if one.categories[pair[0]] & goal != other.categories[pair[1]] & goal:
                return trace
            if pair not in traces:
                traces[pair] = trace
                queue.append(pair)
    return None
