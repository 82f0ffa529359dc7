"""Whoever knows only the reasons of a verdict comes to the same verdict."""

from __future__ import annotations

import os

import pytest
from decentral.support import OWN, PLACES, monitors, traces
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.decentral import run_decentralized

from mopsus.decentral import Specification, System, monitor_of
from mopsus.decentral.algorithms import load_algorithm
from mopsus.decentral.algorithms.algorithm import Task, set_up
from mopsus.decentral.simulate.feed import Change, Changes, feed_of
from mopsus.decentral.simulate.network import Crash, Network
from mopsus.decentral.simulate.run import simulate

# A component that observes nothing does not move, so each observes something that nobody reads.
CLOCKS = {name: f"clock_{name}" for name in OWN}
SYSTEM = System({name: (*own, CLOCKS[name]) for name, own in OWN.items()})
GENERAL = load_algorithm("general")
CASES = max(30, int(os.environ.get("MOPSUS_CASES", "0")) // 50)


def task_of(formulas, **options):
    made = {name: monitor_of(name, formula, place=PLACES[name]) for name, formula in formulas.items()}
    return Task(Specification(made, "root"), SYSTEM, options)


def clocked(trace):
    return [{name: {**event, CLOCKS[name]: True} for name, event in events.items()} for events in trace]


def run(task, trace, **options):
    observed = {name: [events[name] for events in trace] for name in OWN}
    return simulate(set_up(GENERAL, task), task, observed, algorithm=GENERAL, **options)


@pytest.mark.parametrize("cyclic", [False, True])
@settings(max_examples=CASES)
@given(data=st.data(), trace=traces(5), crash=st.integers(0, 4), delay=st.integers(1, 3))
def test_reasons_are_true_and_suffice(cyclic, data, trace, crash, delay):
    task = task_of(data.draw(monitors(cyclic=cyclic)))
    trace = clocked(trace)
    crashes = (
        (Crash(crash, crash + 1, "m1"),) if crash and "m1" in {part.name for part in set_up(GENERAL, task)} else ()
    )
    outcome = run(task, trace, network=Network((delay, delay), crashes=crashes), limit=30)
    if outcome.verdict is None:
        return
    known = [{name: {CLOCKS[name]: True} for name in OWN} for _ in trace]
    for reason in outcome.explanation.reasons:
        if not reason.name.startswith("@"):
            assert trace[reason.time - 1][reason.component][reason.name] is reason.value
            known[reason.time - 1][reason.component][reason.name] = reason.value
    places = {name: PLACES[name] for name in task.specification.monitors}
    if known:  # else it needs no observation
        assert run_decentralized(task.specification, known, places)["root", 1] is outcome.verdict


def test_changes_are_explained_like_events():
    task = task_of({"root": "a0 U @m1", "m1": "b0 & X X b0"}, hold=True)
    changes = Changes(9, {"A": [Change(1, "a0", True)], "B": [Change(4, "b0", True), Change(8, "b0", False)]})
    outcome = simulate(set_up(GENERAL, task), task, feed_of(SYSTEM, changes), algorithm=GENERAL)
    assert outcome.verdict is True
    assert [(each.time, each.name, each.value) for each in outcome.explanation.reasons] == [
        (1, "a0", True),
        (2, "a0", True),
        (3, "a0", True),
        (4, "@m1", True),
        (4, "b0", True),
        (6, "b0", True),
    ]


def test_what_is_missing_is_said_by_the_root():
    task = task_of({"root": "a0 & @m1", "m1": "F b0"})
    trace = clocked([{"A": {"a0": True, "a1": True}, "B": {"b0": False}, "C": {"c0": True}}] * 3)
    outcome = run(task, trace)
    assert outcome.verdict is None
    assert [(each.time, each.name) for each in outcome.explanation.missing] == [(1, "@m1")]
