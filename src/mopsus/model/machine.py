"""Stage 0: what a logic makes of a formula: a machine over event names that the core can run.

A machine knows nothing of parameters. What the engine needs to make it parametric (creation
events, enable and coenable sets) is computed with it, over event names.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from mopsus.model.drawing import Drawing

Families: TypeAlias = "Mapping[str, frozenset[frozenset[str]]]"
"""For each event, a set of event sets."""

OTHERS = "others"
"""How a drawing calls all events of a state that are not drawn on their own."""


EXHAUSTED = "exhausted"
"""The category of a machine that has run out of the steps or the memory that it may use. It is for good. Machines
that can run out have it in their goal, whoever asked."""


@dataclass(frozen=True, slots=True)
class Remark:
    """Something odd about a formula, at `offset` (and `length` characters on) of its text."""

    code: str
    message: str
    hint: str = ""
    offset: int = 0
    length: int = 0
    """0: all of the formula."""
    other: int | None = None
    """The offset of another part of the formula that it speaks of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine(ABC):
    """What machines of every kind have in common.

    Only categories in `goal` are ever reported, and all analyses are for reports of categories in `goal`.
    """

    alphabet: tuple[str, ...]
    goal: frozenset[str]
    creation: frozenset[str]
    """Events that can be the first of a trace that reaches a goal; for a formula with truth values, all events that
    make a difference when they come first."""
    enable: Mapping[str, Families] = field(repr=False)
    """By goal category, then event: the sets of events seen before it on some way to the goal.
    An event without an entry is unrestricted: there are too many sets to list, so assume any."""
    coenable: Mapping[str, Families] = field(repr=False)
    """By goal category, then event: the non-empty sets of events still to come on some way to the goal.
    A family that has the empty set stands for one with too many sets to list: nothing is known to be needed."""
    truth: Mapping[str, bool | None] = field(default_factory=dict)
    """The truth value that a category stands for, where the logic has one."""
    remarks: tuple[Remark, ...] = ()

    def reportable(self) -> frozenset[str]:
        """The goal categories that some trace may reach; all, where that cannot be decided."""
        return self.goal

    def spent(self) -> str:
        """What was too much when it became `exhausted`, in a whole sentence; nothing if it cannot."""
        return ""

    @abstractmethod
    def drawing(self) -> Drawing:
        """What a picture of the machine shows; every kind has one."""

    def _reports(self) -> str:
        """The last words of a drawing's summary."""
        return f"reports {', '.join(sorted(self.goal)) or 'nothing'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableMachine(Machine):
    """A finite Moore machine: `table[state][letter]` is the next state, complete.

    States and letters are numbered from 0.
    """

    initial: int
    table: tuple[tuple[int, ...], ...]
    categories: tuple[frozenset[str], ...]
    """Of each state, all that the logic names."""
    names: tuple[str, ...]
    """Of each state, for drawings."""
    final: tuple[frozenset[str], ...]
    """Of each state, the categories that it has and that every state reachable from it has."""
    alive: tuple[frozenset[frozenset[str]], ...] = field(repr=False)
    """Of each state, the minimal sets of events that take it to a further report; none: it never reports again.
    The empty set stands for too many sets to list: nothing is known to be needed."""
    after_report: tuple[int, ...] = ()
    """Of each state, where a handler's reset leads: what was reported is over, and other matches that have begun go
    on. Empty: to the initial state."""
    every: bool = False
    """A final category is reported at every event at which it holds, not only when it is reached."""
    presumed: tuple[bool | None, ...] = ()
    """Of each state, whether the formula presumably holds if the trace ends there; None where a verdict is final
    or the logic does not say. Empty unless the end of traces was asked for."""

    def reports(self, source: int, target: int) -> frozenset[str]:
        """The categories that a step from one state to another reports."""
        said = frozenset[str]() if self.every else self.final[target] & self.final[source]
        return (self.categories[target] & self.goal) - said

    def reportable(self) -> frozenset[str]:
        entered = {target for row in self.table for target in row}
        return frozenset[str]().union(*(self.categories[state] for state in entered)) & self.goal

    def drawing(self) -> Drawing:
        from mopsus.model.drawing import Drawing, Edge, Node

        count = len(self.table)
        size = f"{count} state{'s' * (count > 1)}"
        return Drawing(
            nodes=tuple(
                Node(name, self._note(state), bool(self.categories[state] & self.goal))
                for state, name in enumerate(self.names)
            ),
            edges=tuple(Edge(state, label, target) for state in range(count) for label, target in self._edges(state)),
            initial=self.initial,
            summary=f"{size}, starts in {self.names[self.initial]}, {self._reports()}",
        )

    def _note(self, state: int) -> str:
        """What a state reports, unless its name says it; for ever or only as long as it is there."""
        parts = [
            category + (" for good" if category in self.final[state] else "")
            for category in sorted(self.categories[state] & self.goal)
        ]
        return ", ".join(parts) if parts != [self.names[state]] else ""

    def _edges(self, state: int) -> list[tuple[str, int]]:
        """The transitions of a state as (label, target), one for each target.

        The target of most events comes last, labelled `others` if they are three or more, `every event` if they
        are all.
        """
        events: dict[int, list[str]] = {}
        for letter, target in enumerate(self.table[state]):
            events.setdefault(target, []).append(self.alphabet[letter])
        if len(events) == 1 and len(self.alphabet) > 1:
            return [("every event", next(iter(events)))]
        common = max(events, key=lambda target: len(events[target]), default=None)
        edges = [(", ".join(names), target) for target, names in events.items() if target != common]
        if common is not None:
            names = events[common]
            # An event of that name would make the word ambiguous.
            edges.append((OTHERS if len(names) > 2 and OTHERS not in self.alphabet else ", ".join(names), common))
        return edges
