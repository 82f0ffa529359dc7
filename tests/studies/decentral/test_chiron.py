"""Runs of the user interface have the published length, and a centralized monitor says of them what is expected."""

from __future__ import annotations

import pytest
from oracle.decentral import run_centralized
from studies.decentral.chiron import SPECS
from studies.decentral.chiron.traces import COMPONENTS, EVENTS, LENGTH, generate_run

from mopsus.decentral import load_specification
from mopsus.decentral.algorithms.split import split_formula
from mopsus.decentral.traces import system_of

RUNS = [generate_run(number) for number in range(10)]


def test_runs_have_the_published_size():
    for run in RUNS:
        assert {name: len(trace) for name, trace in run.items()} == dict.fromkeys(COMPONENTS, LENGTH)
        assert {name: len(trace[0]) for name, trace in run.items()} == COMPONENTS
        begins = sum(event["a4"] or event["a5"] or (event["a6"] and not before["b0"]) for event, before in _pairs(run))
        assert begins == EVENTS


def _pairs(run):
    """Each event of the dispatcher, with what the first artist does then: who was told just before is told no more."""
    return zip(run["A"], run["B"], strict=True)


def test_runs_differ_and_are_the_same_again():
    assert RUNS[0] != RUNS[1]
    assert generate_run(3) == RUNS[3]


@pytest.mark.parametrize(
    ("name", "verdict", "times"),
    [
        ("1", None, {LENGTH}),
        ("2", None, {LENGTH}),
        ("3", True, {7, 8}),
        ("5", None, {LENGTH}),
        ("15a", None, {LENGTH}),
        ("15b", True, {LENGTH}),
    ],
)
def test_centralized_verdicts(name, verdict, times):
    monitor = load_specification(SPECS / f"{name}.toml").specification.monitors["root"]
    for run in RUNS:
        trace = [dict(zip(run, events, strict=True)) for events in zip(*run.values(), strict=True)]
        found, time = run_centralized(monitor.automaton, trace)
        assert found is verdict
        assert time in times


def test_the_choreography_of_15b_is_the_published_one():
    formula = load_specification(SPECS / "15b.toml").specification.monitors["root"].formula
    choreography = split_formula(formula, system_of(RUNS[0]))
    assert {name: part.monitor.place for name, part in choreography.parts.items()} == {"m0": "D", "m1": "B", "m2": "D"}
    assert sum(len(part.receivers) for part in choreography.parts.values()) == 2
