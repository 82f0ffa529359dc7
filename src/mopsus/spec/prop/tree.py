"""Stage 1: what a `.prop` text consists of, with the places of its words.

The tree is the same for a property file, whose transitions declare their events, and for a formula of the logic `efsm`,
whose transitions name events of the spec.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from mopsus.model import Acceptance, Place, Reading
from mopsus.spec.cursor import Block, Word

WORDS = frozenset({"state", "transition", "event", "call", "before", "after", "success", "failure"}) | {
    "slice",
    "initialization",
    "import",
    "accepting",
    "final",
}
"""Words of the language: no state can have such a name."""


@dataclass(frozen=True, slots=True)
class Value:
    """A parameter of an event: what is read, and the name that code knows it by."""

    name: Word
    reading: Reading


@dataclass(frozen=True, slots=True)
class Declared:
    """An event as a property file declares it: where it happens and what is read there."""

    place: Place
    values: tuple[Value, ...] = ()
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)

    @property
    def meaning(self) -> object:
        """What tells it apart from other events: not the order of its values."""
        return self.place, frozenset((str(value.name), value.reading) for value in self.values)


EventT = TypeVar("EventT", bound="Declared | Word")


@dataclass(frozen=True, slots=True)
class End:
    """`success { … } f() state`; a part that is not written is None."""

    block: Block | None = None
    action: Word | None = None
    target: Word | None = None
    start: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Transition(Generic[EventT]):
    event: EventT
    guard: Block | None = None
    success: End | None = None
    failure: End | None = None
    start: int = field(default=0, compare=False)

    def ends(self) -> Iterator[tuple[str, End]]:
        """The ends that are written, each after its word."""
        if self.success is not None:
            yield "success", self.success
        if self.failure is not None:
            yield "failure", self.failure


@dataclass(frozen=True, slots=True)
class State(Generic[EventT]):
    name: Word
    acceptance: Acceptance = Acceptance.NEUTRAL
    final: bool = False
    action: Word | None = None
    imported: Word | None = None
    """The state whose transitions it has, too."""
    transitions: tuple[Transition[EventT], ...] = ()
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)
    """Where its last brace is, if it has one."""


@dataclass(frozen=True, slots=True)
class Automaton(Generic[EventT]):
    """All of a text. `comments` are those between its words, each with its place."""

    slices: tuple[Word, ...] = ()
    initialization: Block | None = None
    states: tuple[State[EventT], ...] = ()
    comments: tuple[tuple[int, str], ...] = field(default=(), compare=False)
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)

    def transitions(self) -> Iterator[Transition[EventT]]:
        """All that are written, in order."""
        for state in self.states:
            yield from state.transitions

    def state(self, name: str) -> State[EventT] | None:
        """The first of that name."""
        return next((state for state in self.states if state.name == name), None)

    def transitions_of(self, state: State[EventT]) -> tuple[Transition[EventT], ...]:
        """Its own, then those that it imports, of states that those import, too."""
        found: list[Transition[EventT]] = []
        seen: set[str] = set()
        here: State[EventT] | None = state
        while here is not None and here.name not in seen:
            seen.add(here.name)
            found += here.transitions
            here = self.state(here.imported) if here.imported is not None else None
        return tuple(found)
