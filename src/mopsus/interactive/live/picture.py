"""The picture of a debugging session: all that a view shows of it, as plain data.

A picture is whole: whoever shows one needs none of those before it. Values are text already, as a session tells them,
because the objects stay in the process of the program. Nodes and edges of an automaton are known by their number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from mopsus.model import Acceptance
from mopsus.model.drawing import Edge


class Course(StrEnum):
    """What the program does."""

    WAITING = "waiting"
    """It has not begun."""
    RUNNING = "running"
    STOPPED = "stopped"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is in the program; whatever is not known is None."""

    file: str | None = None
    line: int | None = None
    function: str | None = None
    thread: str | None = None


@dataclass(frozen=True, slots=True)
class Program:
    """How the program stands."""

    course: Course
    name: str = ""
    """How it was called."""
    reason: str = ""
    """Why it stands still, in one line; empty while it runs."""
    explanation: tuple[str, ...] = ()
    """How it came to a stop for a verdict, line by line."""
    place: Place = Place()
    status: int | None = None
    """That it has ended with; a signal's number negated."""


@dataclass(frozen=True, slots=True)
class Source:
    """Lines of a file around the one where the program stands."""

    file: str
    first: int
    """The number of the first of the lines."""
    lines: tuple[str, ...]
    current: int
    """The number of the line where the program stands."""


@dataclass(frozen=True, slots=True)
class Node:
    """A state of an automaton, as it is drawn."""

    name: str
    note: str = ""
    acceptance: Acceptance = Acceptance.NEUTRAL


@dataclass(frozen=True, slots=True)
class Automaton:
    """The drawing of one property: it stays as it is as long as its monitor is there."""

    property: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    initial: int | None
    summary: str = ""
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Slice:
    """An instance of a property, and what it did last."""

    property: str
    binding: Mapping[str, str]
    """The values of its parameters; empty: it has none."""
    state: str
    """In words."""
    node: int | None = None
    """The state in the automaton; None: this kind of machine has none that could be named."""
    previous: int | None = None
    """The state before its last transition; None: it has made none that anybody saw."""
    edge: int | None = None
    """The transition that it took last; None: none was seen, or several at once."""
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Now:
    """Where all slices of one property are together: this is what its automaton is coloured by."""

    property: str
    counts: Mapping[int, int]
    """By node, how many slices are there; nodes without any are left out."""
    previous: tuple[int, ...] = ()
    """The nodes that slices were in before the last change."""
    taken: tuple[int, ...] = ()
    """The edges that were taken in the last change."""


@dataclass(frozen=True, slots=True)
class Said:
    """A verdict of a monitor."""

    text: str
    """In one line."""
    violation: bool
    category: str
    binding: Mapping[str, str] = field(default_factory=dict)
    place: Place = Place()
    explanation: tuple[str, ...] = ()
    """The events that led to it, and remarks, line by line."""


@dataclass(frozen=True, slots=True)
class Monitor:
    """One monitor of the session."""

    number: int
    spec: str
    automata: tuple[Automaton, ...]
    """One for each of its properties."""
    now: tuple[Now, ...]
    """One for each of its properties, in the same order."""
    slices: tuple[Slice, ...] = ()
    """Those that moved last come first; not all, if there are very many."""
    slice_count: int = 0
    """Of all slices."""
    event_count: int = 0
    verdicts: tuple[Said, ...] = ()
    """The last ones, the newest last."""
    verdict_count: int = 0
    inside: bool = False
    """It is stepped inside of the program: its events are not told one by one."""


@dataclass(frozen=True, slots=True)
class Happened:
    """An event that a monitor was told of."""

    number: int
    """Counted from 1 over the whole session."""
    monitor: int
    event: str
    values: Mapping[str, str]
    place: Place = Place()
    time: float | None = None
    """In seconds since the program began."""


@dataclass(frozen=True, slots=True)
class Saved:
    """A checkpoint."""

    number: int
    place: Place
    states: str
    """Of all monitors, in one line."""


@dataclass(frozen=True, slots=True)
class Picture:
    """How a session stands."""

    serial: int
    """Greater than that of every other picture before it; one may be sent again."""
    debugger: str
    program: Program
    source: Source | None = None
    monitors: tuple[Monitor, ...] = ()
    events: tuple[Happened, ...] = ()
    """The last ones, the newest last."""
    event_count: int = 0
    """Of all that were told one by one."""
    checkpoints: tuple[Saved, ...] = ()
