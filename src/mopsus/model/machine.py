"""Stage 0: what a logic makes of a formula: a machine over event names that the core can run.

A machine knows nothing of parameters. What the engine needs to make it parametric (creation
events, enable and coenable sets) is computed with it, over event names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Families: TypeAlias = "Mapping[str, frozenset[frozenset[str]]]"
"""For each event, a set of event sets."""


@dataclass(frozen=True, slots=True)
class TableMachine:
    """A finite Moore machine: `table[state][letter]` is the next state, complete.

    States and letters are numbered from 0. Only categories in `goal` are ever reported,
    and all analyses below are for reports of categories in `goal`.
    """

    alphabet: tuple[str, ...]
    initial: int
    table: tuple[tuple[int, ...], ...]
    categories: tuple[frozenset[str], ...]  # of each state, all that the logic names
    names: tuple[str, ...]  # of each state, for drawings
    goal: frozenset[str]
    final: tuple[frozenset[str], ...]
    """Of each state, the categories that it has and that every state reachable from it has."""
    creation: frozenset[str]
    """Events that can be the first of a trace that reaches a goal."""
    enable: Mapping[str, Families] = field(repr=False)
    """By goal category, then event: the sets of events seen before it on some way to the goal.
    An event without an entry is unrestricted: there are too many sets to list, so assume any."""
    coenable: Mapping[str, Families] = field(repr=False)
    """By goal category, then event: the non-empty sets of events still to come on some way to the goal.
    A family that has the empty set stands for one with too many sets to list: nothing is known to be needed."""
    alive: tuple[frozenset[frozenset[str]], ...] = field(repr=False)
    """Of each state, the minimal sets of events that take it to a further report; none: it never reports again.
    The empty set stands for too many sets to list: nothing is known to be needed."""
    truth: Mapping[str, bool | None] = field(default_factory=dict)
    """The truth value that a category stands for, where the logic has one."""
