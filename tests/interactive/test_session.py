"""A session over the toy machine: events, verdicts, points, stops."""

from __future__ import annotations

from dataclasses import dataclass

from interactive.toy import STOP, Toy, ToyDebugger

import mopsus
from mopsus.interactive.session import Session
from mopsus.model import Event, Place, PlaceKind, Reading, ReadingKind


@dataclass(frozen=True)
class FormalEvent:
    place: Place
    readings: dict[str, Reading]


PAIRS = """
Pairs(x) {
    event open(x)
    event close(x)
    fsm: s0 [open -> s1] s1 [close -> s0]
    @fail {}
}
"""


def at(line: int, *names: str):
    return FormalEvent(Place(PlaceKind.LINE, str(line)), {name: Reading(ReadingKind.NAME, name) for name in names})


def start(text: str, places: dict[str, list[FormalEvent]], program: Toy, **options: object):
    debugger = ToyDebugger(program)
    session = Session(debugger)
    debugger.driver = session

    def formal(event: Event) -> list[FormalEvent]:
        return places[event.name]

    for spec in mopsus.parse(text).values():
        session.add(spec, formal=formal, **options)
    session.start()
    return session, debugger


def test_a_violation_stops_the_program_at_its_very_event():
    program = Toy([("put", "x", 1), ("put", "x", 1), ("put", "x", 2), STOP], {"x": 1})
    session, debugger = start(PAIRS, {"open": [at(0, "x"), at(2, "x")], "close": []}, program)
    debugger.cont()
    assert program.pc == 2
    assert [verdict.category for verdict in session.verdicts] == ["fail"]
    outcome = session.outcome()
    assert outcome.stop is not None
    assert outcome.stop.location == "toy:2"
    debugger.cont()
    assert debugger.ended
    assert session.outcome().status == 0
