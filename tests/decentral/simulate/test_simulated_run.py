"""Runs in the simulator against the automaton that sees everything, and the numbers of the reference run."""

from __future__ import annotations

import msgspec
import pytest
from decentral.support import OWN, PROPOSITIONS, events, traces
from hypothesis import given
from hypothesis import strategies as st
from logics.temporal_formulas import formulas
from oracle.decentral import run_centralized
from oracle.rounds import run_rounds

from mopsus.decentral import System, monitor_of, specification_of
from mopsus.decentral.algorithms import load_algorithm
from mopsus.decentral.algorithms.algorithm import Part, Task, set_up
from mopsus.decentral.algorithms.pauses import has_pauses
from mopsus.decentral.simulate.network import Crash, Network, Partition
from mopsus.decentral.simulate.run import simulate
from mopsus.decentral.specification import Specification
from mopsus.decentral.traces import parse_trace
from mopsus.logics.temporal.syntax import FUTURE

CENTRAL = ("orch", "migr", "migrr")
LIGHT = Task(specification_of({"check": "G(a0 -> X(b0 U !a0))"}), System({"A": ("a0",), "B": ("b0",)}))
LIGHT_TRACES = {"A": parse_trace("a0:f>a0:t>a0:t>a0:t>a0:f"), "B": parse_trace("b0:f>b0:f>b0:t>b0:f>b0:t")}


def run(name, task, observed, **options):
    algorithm = load_algorithm(name)
    return simulate(set_up(algorithm, task), task, observed, algorithm=algorithm, name=name, **options)


def by_component(trace, components=OWN):
    return {name: [events[name] for events in trace] for name in components}


@pytest.mark.parametrize(("name", "messages"), [("orch", 5), ("migr", 2), ("migrr", 4)])
def test_the_run_of_the_reference(name, messages):
    outcome = run(name, LIGHT, LIGHT_TRACES)
    assert (outcome.verdict, outcome.time, outcome.round, outcome.rounds) == (False, 4, 5, 5)
    assert outcome.measures["msg_num"] == messages
    assert outcome.measures["run_len"] == 5
    assert [(each.time, each.name, each.component, each.value) for each in outcome.explanation.reasons] == [
        (4, "a0", "A", True),
        (4, "b0", "B", False),
    ]


networks = st.builds(
    Network,
    delay=st.tuples(st.integers(1, 3), st.integers(0, 3)).map(lambda pair: (pair[0], sum(pair))),
    reorder=st.booleans(),
    duplicate=st.sampled_from([0, 0.3]),
    loss=st.sampled_from([0, 0.4]),
    resend=st.integers(0, 3),
    partitions=st.lists(
        st.builds(Partition, start=st.just(3), end=st.integers(4, 8), groups=st.just((("A",), ("B", "C")))), max_size=1
    ).map(tuple),
    crashes=st.lists(
        st.builds(Crash, start=st.just(2), end=st.integers(3, 6), monitor=st.just("monitor B")), max_size=1
    ).map(tuple),
)


@pytest.mark.parametrize("name", CENTRAL)
@given(formula=formulas(FUTURE, atoms=PROPOSITIONS, max_leaves=6), trace=traces(8))
def test_the_verdict_is_that_of_whoever_sees_everything(name, formula, trace):
    monitor = monitor_of("root", formula)
    outcome = run(name, Task(Specification({"root": monitor}), System(OWN)), by_component(trace))
    verdict, time = run_centralized(monitor.automaton, trace)
    assert outcome.verdict == verdict
    assert outcome.time is None or outcome.time >= time


@pytest.mark.parametrize("name", CENTRAL)
@given(
    formula=formulas(FUTURE, atoms=PROPOSITIONS, max_leaves=5),
    trace=st.lists(st.one_of(events(), st.just({name: {} for name in OWN})), max_size=7),
)
def test_nothing_moves_when_nothing_is_observed(name, formula, trace):
    monitor = monitor_of("root", formula)
    task = Task(Specification({"root": monitor}), System(OWN), {"pauses": True})
    outcome = run(name, task, by_component(trace))
    assert outcome.verdict == run_centralized(monitor.automaton, trace)[0]
    assert has_pauses(by_component(trace)) == any(not event["A"] for event in trace)


@pytest.mark.parametrize("name", ["migr", "migrr"])
@given(
    formula=formulas(FUTURE, atoms=PROPOSITIONS, max_leaves=6),
    trace=traces(8),
    active=st.integers(1, 3),
    loss=st.sampled_from([0.2, 0.5]),
    delay=st.integers(1, 3),
    seed=st.integers(0, 2**32),
)
def test_encodings_that_are_lost_are_sent_again(name, formula, trace, active, loss, delay, seed):
    monitor = monitor_of("root", formula)
    task = Task(Specification({"root": monitor}), System(OWN), {"active": active, "patience": 3})
    network = Network(delay=(1, delay), reorder=True, duplicate=0.2, loss=loss)
    outcome = run(name, task, by_component(trace), network=network, seed=seed, limit=1000)
    assert outcome.verdict == run_centralized(monitor.automaton, trace)[0]


@pytest.mark.parametrize("name", CENTRAL)
def test_an_observation_that_nobody_made_is_not_waited_for(name):
    task = Task(specification_of({"root": "F a0 | F (b0 & c0)"}), System(OWN))
    observed = {
        "A": [{"a0": False, "a1": False}] * 4,
        "B": [{"b0": False}, {"b0": False}, {"b0": True}, {"b0": True}],
        "C": [{"c0": True}] * 4,
    }
    outcome = run(name, task, observed, network=Network(crashes=(Crash(1, 3, "monitor A"),)))
    assert outcome.verdict is True
    undecided = run(
        name, task, observed | {"C": [{"c0": False}] * 4}, network=Network(crashes=(Crash(1, 3, "monitor A"),))
    )
    assert undecided.verdict is None
    assert {(each.time, each.name, each.component) for each in undecided.explanation.missing} >= {
        (1, "a0", "A"),
        (2, "a0", "A"),
    }


@pytest.mark.parametrize("name", CENTRAL)
@given(
    formula=formulas(FUTURE, atoms=PROPOSITIONS, max_leaves=6), trace=traces(8), network=networks, seed=st.integers(0)
)
def test_under_faults_it_is_right_or_unknown(name, formula, trace, network, seed):
    monitor = monitor_of("root", formula)
    task = Task(Specification({"root": monitor}), System(OWN))
    seed %= 2**64
    outcome = run(name, task, by_component(trace), network=network, seed=seed)
    assert outcome.verdict in (run_centralized(monitor.automaton, trace)[0], None)
    again = run(name, task, by_component(trace), network=network, seed=seed)
    assert (outcome, outcome.explanation) == (again, again.explanation)


@pytest.mark.parametrize("name", CENTRAL)
@given(
    formula=formulas(FUTURE, atoms=PROPOSITIONS, max_leaves=6),
    trace=traces(8),
    cut=st.integers(0, 8),
    more=st.integers(0, 9),
)
def test_rounds_and_measures_are_those_of_the_definitions(name, formula, trace, cut, more):
    task = Task(Specification({"root": monitor_of("root", formula)}), System(OWN))
    observed = by_component(trace)
    observed["B"] = observed["B"][:cut]
    algorithm = load_algorithm(name)
    parts = set_up(algorithm, task)
    limit = len(trace) + more
    found, measures = run_rounds(parts, task.system, observed, algorithm, limit)
    outcome = simulate(parts, task, observed, algorithm=algorithm, limit=limit)
    assert (outcome.time, outcome.verdict, outcome.round) == (found or (None, None, None))
    assert {key: outcome.measures[key] for key in measures} == pytest.approx(measures)


def test_a_part_is_plain_data():
    parts = set_up(load_algorithm("migr"), LIGHT)
    assert msgspec.json.decode(msgspec.json.encode(parts), type=tuple[Part, ...]) == parts
