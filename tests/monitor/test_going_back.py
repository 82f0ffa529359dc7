"""Monitors of every kind of machine go back to a checkpoint, and say which events they need."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

import mopsus
from mopsus.model import Verdict

pytestmark = pytest.mark.interpreter

NEXT = "It(i) {{ event hasnext(i)\n event next(i)\n {} }}"
LOGICS = {
    "table": "fsm : start [ next -> unsafe, hasnext -> safe ] safe [ next -> start, hasnext -> safe ]\n"
    " unsafe [ default unsafe ]\n @unsafe",
    "table of a pattern": "ere : (hasnext hasnext* next)*\n @fail",
    "stack": "cfg : S -> S H next | epsilon, H -> H hasnext | hasnext\n @fail",
    "rewrite": "srs : hasnext next -> #epsilon . hasnext hasnext -> hasnext . ^ next -> #fail .\n @fail",
    "caret": "ptcaret : next => (*) hasnext\n @violation",
    "timed": "mtl : next => (*) hasnext\n @violation",
    "guarded": "efsm : initialization { n = 0 }\n"
    "state init { transition { event hasnext success { n += 1 } safe }\n transition { event next success bad } }\n"
    "state safe { transition { event hasnext { return n < 3 } success { n += 1 } failure bad }\n"
    " transition { event next success { n = 0 } init } }\n"
    "state bad non-accepting import transitions from state init",
}
PAIRS = (
    "Pair(c, i) { creation event create(c, i)\n event update(c)\n event next(i)\n"
    " ere : create next* update+ next\n @match }"
)


def one(text: str) -> mopsus.Spec:
    (spec,) = mopsus.parse(text).values()
    return spec


def drive(monitor: mopsus.Monitor, rng: Random, objects: list[object]) -> tuple[list[Verdict], object]:
    told = len(monitor.verdicts)
    events = monitor.spec.events
    for _ in range(40):
        event = rng.choice(events)
        monitor.emit(event.name, **{name: rng.choice(objects) for name in event.parameters})
    verdicts = [_timeless(verdict) for verdict in monitor.verdicts[told:]]
    return verdicts, (replace(monitor.stats(), bytes=0), monitor.instances())


def _timeless(verdict: Verdict) -> Verdict:
    """The clock goes on, whatever the monitor does."""
    return replace(verdict, time=None, witness=tuple(replace(each, time=None) for each in verdict.witness))


class Thing: ...


@pytest.mark.parametrize("text", [*(NEXT.format(each) for each in LOGICS.values()), PAIRS], ids=[*LOGICS, "slicing"])
@pytest.mark.parametrize("objects", [[1, "two", 3.0], [Thing(), [4], Thing()]], ids=["scalars", "objects"])
def test_the_same_events_give_the_same_after_going_back(text: str, objects: list[object]) -> None:
    monitor = mopsus.Monitor(one(text))
    drive(monitor, Random(1), objects)
    early = monitor.checkpoint()
    first = drive(monitor, Random(2), objects)
    late = monitor.checkpoint()
    second = drive(monitor, Random(3), objects)
    assert first[0]
    for _ in range(2):
        monitor.rewind(early)
        assert drive(monitor, Random(2), objects) == first
        monitor.rewind(late)
        assert drive(monitor, Random(3), objects) == second


def test_monitor_variables_go_back_too() -> None:
    text = """Count(i) {
        var n: int = 0
        var all: list = []
        event e(i) {
            n += 1
            all.append(n)
        }
        ere : e e e
        @match { __MONITOR.verdict.binding["n"] = list(all) }
    }"""
    monitor = mopsus.Monitor(one(text))
    monitor.emit("e", i=1)
    checkpoint = monitor.checkpoint()
    for _ in range(2):
        monitor.emit("e", i=1)
        monitor.emit("e", i=1)
        monitor.rewind(checkpoint)
    assert [each.binding["n"] for each in monitor.verdicts] == [[1, 2, 3]] * 2


@pytest.mark.parametrize("logic", ["table", "table of a pattern", "guarded"])
def test_an_event_that_is_not_needed_changes_nothing(logic: str) -> None:
    spec = one(NEXT.format(LOGICS[logic]))
    every, needed = mopsus.Monitor(spec), mopsus.Monitor(spec)
    rng = Random(4)
    skipped = 0
    for _ in range(200):
        event, value = rng.choice(("next", "hasnext")), rng.choice((1, 2, 3))
        every.emit(event, i=value)
        if event in needed.needed():
            needed.emit(event, i=value)
        else:
            skipped += 1
    told = [(each.category, each.binding) for each in every.verdicts]
    assert told == [(each.category, each.binding) for each in needed.verdicts]
    assert every.instances() == needed.instances()


def test_what_a_table_needs_follows_its_states() -> None:
    text = "fsm : a [ one -> b ] b [ two -> c ] c [ default c ]\n @c"
    monitor = mopsus.Monitor(one(f"Steps {{ event one\n event two\n event three\n {text} }}"))
    assert monitor.needed() == {"one"}
    monitor.emit("one")
    assert "two" in monitor.needed()


def test_all_events_are_needed_where_nothing_is_known() -> None:
    monitor = mopsus.Monitor(one(PAIRS))
    assert monitor.needed() == {"create", "update", "next"}
