"""What `stats()` counts, on random cases."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from monitor.ways import WAYS, Recorder
from oracle.strategies import random_case

import mopsus
from mopsus.monitor import Monitor


class Thing:
    """Something that an event can be about."""


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_statistics_agree_with_the_trace_and_the_verdicts(way):
    for seed in range(60):
        rng = Random(seed)
        case = random_case(rng, way.values, noise=way.noise)
        recorder = Recorder(case)
        with Monitor(case.spec, on_verdict=recorder) as monitor:
            way.feed(monitor, recorder, case, rng)
            stats = monitor.stats()
        declared = {event.name for event in case.spec.events}
        seen = Counter(entry.event for entry in case.trace)
        assert stats.events == sum(count for event, count in seen.items() if event in declared)
        assert stats.ignored == seen["noise"]
        assert {event: count for event, count in stats.seen.items() if count and event in declared} == {
            event: count for event, count in seen.items() if event in declared
        }
        verdicts = Counter(verdict.category for verdict in recorder.verdicts)
        assert {category: count for category, count in stats.verdicts.items() if count} == dict(verdicts)
        assert 0 <= stats.alive == stats.created - stats.collected
        assert stats.most <= stats.created
        assert case.spec.modifiers.perthread or stats.alive <= stats.most
        assert stats.bad_rows == 0


def test_instances_that_can_still_report():
    spec = mopsus.parse(
        """U(c, i) { event create(c, i)
                     event update(c)
                     event next(i)
                     ere : create next* update+ next
                     @match }"""
    )["U"]
    monitor = spec.monitor()
    assert monitor.instances() == []
    monitor.emit("create", c=1, i="a")
    monitor.emit("create", c=1, i="b")
    [(first, [state]), (second, [same])] = monitor.instances()
    assert (first, second) == ({"c": 1, "i": "a"}, {"c": 1, "i": "b"})
    assert state == same
    monitor.emit("update", c=1)
    monitor.emit("next", i="a")
    [(left, [updated])] = monitor.instances()
    assert left == {"c": 1, "i": "b"}
    assert updated != state


@pytest.mark.parametrize("logic", ["ere : open use* close @match", "ltl : [](close => [](not use)) @violation", "efsm"])
def test_what_instances_remember_that_can_still_report(logic):
    """The last ones that something happened to, with their events, whatever engine has them."""
    efsm = """efsm : state init accepting { transition { event open success opened } }
                     state opened { transition { event use success opened } }"""
    formula = efsm if logic == "efsm" else logic
    spec = mopsus.parse(f"U(x) {{ event open(x) event use(x) event close(x) {formula} }}")["U"]
    monitor = spec.monitor()
    for name, value in [("open", 1), ("open", 2), ("use", 1), ("open", 3), ("use", 1)]:
        monitor.emit(name, x=value)
    found = {binding["x"]: [each.event for each in events] for binding, _, events in monitor.recall(100) if binding}
    assert found.keys() == {1, 2, 3}
    assert found[1][:1] == ([] if logic.startswith("ltl") else ["open"])  # what changes nothing is not remembered
    everything = monitor.recall(100)
    assert [binding for binding, *_ in everything if binding] == [b for b, _ in monitor.instances() if b]


def test_only_the_instances_are_recalled_that_something_happened_to_last():
    spec = mopsus.parse("U(x) { event open(x) event close(x) ere : open close @match }")["U"]
    monitor = spec.monitor()
    for row, value in enumerate([5, 4, 3, 2, 1], 1):
        monitor.row("open", {"x": value}, row=row)
    assert [binding["x"] for binding, *_ in monitor.recall(2)] == [2, 1]


def test_the_most_instances_that_there_were_at_a_time():
    spec = mopsus.parse("S(o) { event e(o) ere : e e @match }")["S"]
    with Monitor(spec) as monitor:
        event = monitor.event("e")
        for size in (2, 3, 1):
            things = [Thing() for _ in range(size)]
            for thing in things:
                event(thing)
            del thing, things
        assert (monitor.stats().created, monitor.stats().most, monitor.stats().alive) == (6, 3, 0)
