"""Choreographies against whoever sees everything, and the runs of the reference."""

from __future__ import annotations

import pytest
from decentral.support import OWN, PROPOSITIONS, traces
from hypothesis import given
from hypothesis import strategies as st
from logics.temporal_formulas import formulas
from oracle.decentral import run_centralized, run_decentralized

from mopsus.decentral.algorithms import load_algorithm
from mopsus.decentral.algorithms.algorithm import AlgorithmError, Task, set_up
from mopsus.decentral.algorithms.split import split_formula
from mopsus.decentral.simulate.network import parse_network
from mopsus.decentral.simulate.run import simulate
from mopsus.decentral.specification import Monitor, Specification, specification_of
from mopsus.decentral.synthesis import from_formula, from_transitions
from mopsus.decentral.system import Link, System
from mopsus.decentral.traces import parse_trace
from mopsus.logics.temporal.syntax import FUTURE

FAULTS = ("", "delay=1..4", "delay=1..3,reorder", "duplicate=0.5,delay=1..2", "loss=0.3,resend=2")


def run(formula, observed, system, *, network="", seed=0, limit=10_000, **options):
    task = Task(specification_of({"root": formula}), system, options)
    algorithm = load_algorithm("chor")
    parts = set_up(algorithm, task)
    faults = parse_network(network)
    return simulate(parts, task, observed, algorithm=algorithm, network=faults, seed=seed, limit=limit)


@pytest.mark.parametrize("respawn", ["parallel", "sequential"])
def test_the_run_of_the_reference(respawn):
    observed = {"A": parse_trace("a0:f>a0:t>a0:t>a0:t>a0:f"), "B": parse_trace("b0:f>b0:f>b0:t>b0:f>b0:t")}
    system = System({"A": ("a0",), "B": ("b0",)})
    outcome = run("G(a0 -> X(b0 U !a0))", observed, system, respawn=respawn)
    assert (outcome.verdict, outcome.time, outcome.round) == (False, 4, 5)
    assert outcome.measures["msg_num"] == 5  # the last one is sent in the round in which the root ends the run


@given(
    formula=formulas(FUTURE, atoms=PROPOSITIONS, bounded=True, max_leaves=6),
    trace=traces(8),
    network=st.sampled_from(FAULTS),
    respawn=st.sampled_from(["parallel", "sequential"]),
    seed=st.integers(0, 1000),
)
def test_the_verdict_is_that_of_the_split_and_never_wrong(formula, trace, network, respawn, seed):
    system = System(OWN)
    observed = {name: [events[name] for events in trace] for name in OWN}
    outcome = run(formula, observed, system, network=network, respawn=respawn, seed=seed)
    whole, _ = run_centralized(from_formula(formula), trace)
    assert outcome.verdict in (None, whole)
    split = split_formula(formula, system)
    places = {name: part.monitor.place for name, part in split.parts.items()}
    if trace and respawn == "parallel":
        assert outcome.verdict is run_decentralized(split.specification, trace, places)["m0", 1]


@given(formula=formulas(FUTURE, atoms=PROPOSITIONS, max_leaves=6), trace=traces(8), seed=st.integers(0, 1000))
def test_what_gets_lost_is_unknown(formula, trace, seed):
    observed = {name: [events[name] for events in trace] for name in OWN}
    network = "loss=0.4,delay=1..3,reorder,crash=3..6:m0"
    outcome = run(formula, observed, System(OWN), network=network, seed=seed)
    assert outcome.verdict in (None, run_centralized(from_formula(formula), trace)[0])


UNREGISTERED = "(b2 -> (!d0 U b4)) U (d0 | G(!d0))"
"""An artist unregisters before the program ends (15b): the reference's bad split."""
LENGTH = 120


def unregistering():
    """b2 at 5, b4 at 100, d0 at 110."""
    return System({"B": ("b2", "b4"), "D": ("d0",)}), {
        "B": [{"b2": time == 5, "b4": time == 100} for time in range(1, LENGTH + 1)],
        "D": [{"d0": time == 110} for time in range(1, LENGTH + 1)],
    }


def test_nobody_waits_for_others():
    system, observed = unregistering()
    outcome = run(UNREGISTERED, observed, system)
    blocked = run(UNREGISTERED, observed, system, respawn="sequential")
    trace = [{name: events[time] for name, events in observed.items()} for time in range(LENGTH)]
    whole, when = run_centralized(from_formula(UNREGISTERED), trace)
    assert (whole, when) == (True, 110)
    for each in (outcome, blocked):
        assert (each.verdict, each.round, each.measures["answers"]) == (True, when, 220)
    # One timestamp has to wait for 96 others; of all timestamps a round passes until their states are known.
    assert outcome.measures["delay_age_sum"] / outcome.measures["delay_age_num"] < 1
    assert outcome.measures["delay_gap_sum"] / outcome.measures["delay_gap_num"] < 1.5
    assert blocked.measures["delay_age_sum"] / blocked.measures["delay_age_num"] > 20


def test_by_way_of_others():
    line = System(OWN, (Link("A", "B"), Link("B", "A"), Link("B", "C"), Link("C", "B")))
    observed = {"A": parse_trace("a0:t,a1:f"), "B": parse_trace("b0:f"), "C": parse_trace("c0:t")}
    outcome = run("a0 & c0 & a0", observed, line)
    assert (outcome.verdict, outcome.round, outcome.measures["msg_num"]) == (True, 3, 3)


def test_only_formulas_are_split():
    table = Monitor("root", from_transitions([None, True], [(0, "a0", 1)]))
    with pytest.raises(AlgorithmError, match="splits a formula"):
        set_up(load_algorithm("chor"), Task(Specification({"root": table}), System(OWN)))
