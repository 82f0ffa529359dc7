"""Stage 0: a state machine whose transitions look at the values of events and at variables of its own.

Its guards and blocks are Python. Each instance has its *environment*: the variables that `initialization` and the
blocks assign. An instance for more parameters than another begins as a copy of it, in its state and with its
environment.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from mopsus.model.machine import Machine
from mopsus.model.spec import Code

if TYPE_CHECKING:
    from mopsus.model.drawing import Drawing

_SHORT = 40
INITIAL = "init"
"""The name of the state that every instance without a parent begins in."""


class Acceptance(StrEnum):
    """What a state says of the trace that led to it."""

    ACCEPTING = "accepting"
    NON_ACCEPTING = "non-accepting"
    NEUTRAL = ""


@dataclass(frozen=True, slots=True)
class End:
    """One way out of a transition: what runs, which function is called, and where it leads (None: it stays).

    A block that returns the name of a state leads there instead.
    """

    block: Code | None = None
    action: str | None = None
    target: str | None = None
    returned: tuple[str, ...] = ()
    """The states that the block returns as it is written, for drawings; it may compute others."""


@dataclass(frozen=True, slots=True)
class Transition:
    """Taken on `event`, by `success` if the guard gives true (or there is none), by `failure` if false; not at all if
    it gives None, or if the end that it asks for is not there."""

    event: str
    guard: Code | None = None
    success: End | None = None
    failure: End | None = None

    def labels(self) -> Iterator[tuple[str, End]]:
        """Its ends, each with what a drawing says of when it is taken: the event, and a guard that is short."""
        text = self.guard.text.strip() if self.guard is not None else ""
        short = text.removeprefix("return ") if "\n" not in text and len(text) < _SHORT else "guard"
        if self.success is not None:
            yield f"{self.event} [{short}]" if self.guard is not None else self.event, self.success
        if self.failure is not None:
            yield f"{self.event} [else]", self.failure


@dataclass(frozen=True, slots=True)
class State:
    """A state: the transitions are tried in order, those of imported states after its own."""

    name: str
    acceptance: Acceptance = Acceptance.NEUTRAL
    final: bool = False
    """An instance that arrives here is forgotten."""
    action: str | None = None
    """A function that is called on arrival."""
    transitions: tuple[Transition, ...] = ()

    def events(self) -> frozenset[str]:
        """The events that it reacts to."""
        return frozenset(transition.event for transition in self.transitions)


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardedMachine(Machine):
    """An extended finite-state machine. Its categories are the names of its states; `goal` are those that are
    reported."""

    states: tuple[State, ...]
    initialization: Code | None = None
    variables: tuple[str, ...] = ()
    """Every name that `initialization` or a block of an end assigns: the environment."""
    values: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    """Of each event, the names of its parameters and fields: what guards and blocks see."""

    def drawing(self) -> Drawing:
        from mopsus.model.drawing import Drawing, Edge, Node

        numbers = {state.name: number for number, state in enumerate(self.states)}
        edges: dict[tuple[int, str, int], None] = {}
        for number, state in enumerate(self.states):
            for transition in state.transitions:
                for label, end in transition.labels():
                    for target in (end.target or state.name, *end.returned):
                        edges[number, label, numbers[target]] = None
        return Drawing(
            nodes=tuple(
                Node(state.name, state.acceptance.value, state.acceptance is Acceptance.NON_ACCEPTING)
                for state in self.states
            ),
            edges=tuple(Edge(*edge) for edge in edges),
            initial=numbers[INITIAL],
            summary=f"{len(self.states)} states, starts in {INITIAL}, {self._reports()}",
        )


@dataclass(frozen=True, slots=True)
class Change:
    """An instance of a guarded machine took a transition, which may lead to where it was."""

    property: str
    binding: dict[str, object]
    old: str
    new: str
    transition: Transition
    end: str
    """`success` or `failure`."""
