"""Stage 2: an automaton of the HOA format as plain data, read for one event per step.

A step of the format is a valuation of all propositions. Here exactly one event happens in a step,
so only the valuations count in which one proposition is true, or none (an event that the
automaton does not mention). A label is the set of those *letters* that satisfy it, as a bit mask:
bit 0 for no proposition, bit k + 1 for the k-th alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, TypeAlias


class Reading(Enum):
    """What the acceptance sets of an automaton mean."""

    OMEGA = "infinite words"
    """The condition decides which infinite words are accepted."""
    FINITE = "finite words"
    """A finite word is accepted if it ends in a state of set 0."""
    CATEGORIES = "categories"
    """The states of set k have the k-th category: a machine that Mopsus has exported."""


class Op(Enum):
    """The operators of labels and conditions."""

    NOT = "!"
    AND = "&"
    OR = "|"


class Often(NamedTuple):
    """A set, or with `outside` its complement, is visited infinitely often, or only finitely often."""

    infinitely: bool
    number: int
    outside: bool = False


Condition: TypeAlias = "tuple[Often | bool | Op, ...]"
"""An acceptance condition in postfix order; it has no negation."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A transition for all letters of a mask."""

    letters: int
    target: int
    marks: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class State:
    """A state; its marks count for every transition that leaves it."""

    name: str = ""
    marks: frozenset[int] = frozenset()
    edges: tuple[Edge, ...] = ()


@dataclass(frozen=True, slots=True)
class Hoa:
    """An automaton, checked: every state, mark and proposition that it speaks of is there."""

    propositions: tuple[str, ...]
    initial: tuple[int, ...]
    sets: int
    condition: Condition
    states: tuple[State, ...]
    reading: Reading = Reading.OMEGA
    categories: tuple[str, ...] = ()
    goal: tuple[str, ...] = ()
    """What an exported machine reported."""
    name: str = ""

    def letter(self, event: str) -> int:
        """The mask of the letter that an event is."""
        return 1 << (self.propositions.index(event) + 1) if event in self.propositions else 1

    def letters(self) -> int:
        """The mask of all letters."""
        return (1 << (len(self.propositions) + 1)) - 1
