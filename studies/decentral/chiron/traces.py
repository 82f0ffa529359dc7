"""Runs of a user interface like Chiron: 91 events, each dispatched to the artists that have registered for it.

Propositions (a1 and a2 are the artists, e1 and e2 the kinds of events):

A, the dispatcher    a0 … a3: a1 is registered for e1, for e2, a2 for e1, for e2; a4 … a7: it begins to notify them, in
                     the same order; a8, a9: nobody is registered for e1, for e2; a10, a11: both are.
B, the first artist  what it did last: b0, b1: was notified of e1, of e2; b2, b3: registers for e1, for e2;
                     b4, b5: unregisters.
C, the second one    c0 … c5: the same.
D, the main program  d0: it ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from mopsus.decentral.traces import Event, Trace

COMPONENTS = {"A": 12, "B": 6, "C": 6, "D": 1}
"""How many propositions each component has."""

LENGTH = 279
EVENTS = 91
ALONE = 6
"""Events of the first kind that come after the first artist has unregistered: they reach one artist only, and take a
step less."""
SECOND_REGISTERS_FIRST = 1 / 6
"""How likely the second artist registers for the second kind before the first event comes."""

_NOTIFIED, _REGISTERS, _UNREGISTERS = 0, 2, 4


@dataclass
class _Program:
    """The state of the program, and the steps that it has taken."""

    registered: set[tuple[int, int]] = field(default_factory=set)
    did: dict[int, int | None] = field(default_factory=lambda: {0: None, 1: None})
    steps: list[dict[str, Event]] = field(default_factory=list)

    def step(self, *, notifies: tuple[int, int] | None = None, ends: bool = False) -> None:
        """Take a step: what is so now is observed."""
        pairs = [(artist, kind) for artist in (0, 1) for kind in (0, 1)]
        listeners = [sum((artist, kind) in self.registered for artist in (0, 1)) for kind in (0, 1)]
        dispatcher = [
            *((pair in self.registered) for pair in pairs),
            *(pair == notifies for pair in pairs),
            *(count == 0 for count in listeners),
            *(count == 2 for count in listeners),
        ]
        artists = [[self.did[artist] == action for action in range(6)] for artist in (0, 1)]
        values = (dispatcher, *artists, [ends])
        self.steps.append(
            {
                name: {f"{name.lower()}{number}": value for number, value in enumerate(own)}
                for name, own in zip(COMPONENTS, values, strict=True)
            }
        )

    def register(self, artist: int, kind: int) -> None:
        """An artist registers, which the dispatcher has done a step later."""
        self.did[artist] = _REGISTERS + kind
        self.step()
        self.registered.add((artist, kind))

    def unregister(self, artist: int, kind: int) -> None:
        """An artist unregisters, which the dispatcher has done a step later."""
        self.did[artist] = _UNREGISTERS + kind
        self.step()
        self.registered.discard((artist, kind))

    def dispatch(self, kind: int) -> None:
        """Every artist that is registered is notified; it has heard of it a step later."""
        for artist in (0, 1):
            if (artist, kind) in self.registered:
                self.step(notifies=(artist, kind))
                self.did[artist] = _NOTIFIED + kind
        self.step()


def generate_run(number: int, seed: int = 0) -> dict[str, Trace]:
    """What each component observes in the run of this number."""
    source = Random(f"{seed}/{number}")
    program = _Program()
    kinds = list(_kinds(source))
    early = source.random() < SECOND_REGISTERS_FIRST
    for _ in range(3):
        program.step()
    for artist, kind in ((0, 0), (1, 0), (0, 1)):
        program.register(artist, kind)
    if early:
        program.register(1, 1)
    left = kinds.count(0)
    for place, kind in enumerate(kinds):
        if kind == 0:
            if left == ALONE:
                program.unregister(0, 0)
            left -= 1
        program.dispatch(kind)
        if place == 0 and not early:
            program.register(1, 1)
    for artist, kind in ((0, 1), (1, 0), (1, 1)):
        program.unregister(artist, kind)
    program.step(ends=True)
    return {name: tuple(step[name] for step in program.steps) for name in COMPONENTS}


def _kinds(source: Random) -> Iterator[int]:
    """The kinds of the events: the first one begins, and there are enough of it."""
    while True:
        kinds = [0, *(source.randint(0, 1) for _ in range(EVENTS - 1))]
        if kinds.count(0) > ALONE:
            yield from kinds
            return
