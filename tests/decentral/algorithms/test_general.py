"""Networks of monitors that refer to each other, against the recursive definition of what they say."""

from __future__ import annotations

import pytest
from decentral.support import OWN, monitors, traces
from hypothesis import given
from hypothesis import strategies as st
from oracle.decentral import run_decentralized

from mopsus.decentral.algorithms.algorithm import AlgorithmError, Task, set_up
from mopsus.decentral.algorithms.general import General
from mopsus.decentral.errors import DecentralError
from mopsus.decentral.simulate.feed import Change, Changes
from mopsus.decentral.simulate.network import parse_network
from mopsus.decentral.simulate.run import simulate
from mopsus.decentral.specification import Specification, monitor_of, specification_of
from mopsus.decentral.system import Link, System

SYSTEM = System(OWN)
FAULTS = ("", "delay=1..4", "delay=1..3,reorder", "duplicate=0.5,delay=1..2", "loss=0.3,resend=2")


def run(formulas, trace, *, system=SYSTEM, network="", seed=0, **options):
    """The parts of the network, and the outcome."""
    task = Task(specification_of(formulas), system, options)
    parts = set_up(General(), task)
    by_component = {name: [events[name] for events in trace] for name in system.components}
    outcome = simulate(
        parts, task, by_component, algorithm=General(), network=parse_network(network), seed=seed, limit=10_000
    )
    return parts, outcome


def streams(outcome, names, length):
    """For each monitor and timestamp, its verdict."""
    found = {(name, time): None for name in names for time in range(1, length + 1)}
    for name, stretches in outcome.monitor_verdicts.items():
        for first, last, value in stretches:
            for time in range(first, last + 1):
                assert found[name, time] is None
                found[name, time] = value
    return found


def defined(formulas, parts, trace):
    places = {part.name: part.place for part in parts}
    return run_decentralized(specification_of(formulas), trace, places)


@st.composite
def with_pauses(draw):
    """Traces in which components sometimes observe nothing."""
    return [
        {name: {} if draw(st.integers(0, 5)) == 0 else own for name, own in events.items()} for events in draw(traces())
    ]


@given(
    formulas=monitors() | monitors(cyclic=True),
    trace=with_pauses(),
    network=st.sampled_from(FAULTS),
    seed=st.integers(0, 1000),
)
def test_all_verdicts_are_those_of_the_definition(formulas, trace, network, seed):
    parts, outcome = run(formulas, trace, network=network, seed=seed, watch="all")
    found = defined(formulas, parts, trace)
    assert streams(outcome, formulas, len(trace)) == found
    if trace:
        assert outcome.verdict == found["root", 1]


@given(formulas=monitors(), trace=with_pauses(), seed=st.integers(0, 1000))
def test_what_gets_lost_is_unknown_and_nothing_is_wrong(formulas, trace, seed):
    parts, outcome = run(formulas, trace, network="loss=0.4,partition=2..4:A|B", seed=seed, watch="all")
    expected = defined(formulas, parts, trace)
    for key, verdict in streams(outcome, formulas, len(trace)).items():
        assert verdict is None or verdict is expected[key]


@given(formulas=monitors(), trace=traces(), network=st.sampled_from(FAULTS))
def test_the_root_alone(formulas, trace, network):
    parts, outcome = run(formulas, trace, network=network)
    assert outcome.verdict == (defined(formulas, parts, trace)["root", 1] if trace else None)
    assert not outcome.monitor_verdicts


@given(formulas=monitors(), trace=traces())
def test_one_after_the_other_says_the_same_or_waits(formulas, trace):
    parts, outcome = run(formulas, trace, watch="all", respawn="sequential")
    expected = defined(formulas, parts, trace)
    for (name, time), verdict in streams(outcome, formulas, len(trace)).items():
        assert verdict is None or verdict is expected[name, time]
    _, root = run(formulas, trace, respawn="sequential")
    assert root.verdict is None or root.verdict is expected["root", 1]


@given(formulas=monitors(), trace=traces(10), network=st.sampled_from(FAULTS), lag=st.sampled_from([0, 2, 100]))
def test_changes_say_as_much_as_all_observations(formulas, trace, network, lag):
    _, whole = run(formulas, trace, watch="all")
    by_component = {}
    for name, own in OWN.items():
        before = dict.fromkeys(own, False)
        by_component[name] = [
            Change(time, proposition, value)
            for time, events in enumerate(trace, 1)
            for proposition, value in events[name].items()
            if before[proposition] is not value and [before.__setitem__(proposition, value)]
        ]
    task = Task(specification_of(formulas), SYSTEM, {"watch": "all", "hold": True, "lag": lag})
    parts = set_up(General(), task)
    changes = Changes(len(trace), by_component)
    outcome = simulate(parts, task, changes, algorithm=General(), network=parse_network(network), limit=10_000)
    assert outcome.monitor_verdicts == whole.monitor_verdicts
    polled = Task(task.specification, SYSTEM, {"watch": "all"})
    outcome = simulate(set_up(General(), polled), polled, changes, algorithm=General(), limit=10_000)
    assert outcome.monitor_verdicts == whole.monitor_verdicts


LINE = System(OWN, (Link("A", "B"), Link("B", "A"), Link("B", "C"), Link("C", "B")))


@given(formulas=monitors(), trace=with_pauses(), network=st.sampled_from(FAULTS))
def test_relays_pass_verdicts_on(formulas, trace, network):
    parts, outcome = run(formulas, trace, system=LINE, network=network, watch="all")
    assert streams(outcome, formulas, len(trace)) == defined(formulas, parts[:3], trace)


def test_relays_are_where_there_is_no_link():
    formulas = {"root": "a0 & @m1", "m1": "c0", "m2": "a1 | @m1"}
    parts, _ = run(formulas, [], system=LINE, watch="all")
    assert [(part.name, part.place, part.peers) for part in parts] == [
        ("root", "A", ("m1 via B",)),
        ("m1", "C", ("m1 via B",)),
        ("m2", "A", ("m1 via B",)),
        ("m1 via B", "B", ("m1", "root", "m2")),
    ]
    one_way = System(OWN, (Link("A", "B"), Link("B", "C")))
    with pytest.raises(DecentralError, match="no placement") as caught:
        run(formulas, [], system=one_way, watch="all")
    assert caught.value.code == "DECENTRAL-026"


def test_only_what_is_needed_runs():
    formulas = {"root": "a0 & @m1", "m1": "b0", "m2": "c0"}
    assert [part.name for part in run(formulas, [])[0]] == ["root", "m1"]
    assert [part.name for part in run(formulas, [], watch="m2")[0]] == ["root", "m1", "m2"]
    assert [part.name for part in run(formulas, [], watch="tops")[0] if part.settings["report"]] == ["root", "m2"]


def test_specifications_without_a_root_can_be_watched():
    formulas = {"one": "a0 & @two", "two": "b0", "three": "c0"}
    event = {"A": {"a0": True, "a1": False}, "B": {"b0": True}, "C": {"c0": False}}
    _, outcome = run(formulas, [event, event], watch="one,three")
    assert outcome.verdict is None
    assert outcome.monitor_verdicts == {"one": ((1, 2, True),), "three": ((1, 2, False),)}
    with pytest.raises(DecentralError, match="which monitor is the root"):
        run(formulas, [event])


def test_what_cannot_be_set_up():
    with pytest.raises(DecentralError, match="is about 'A' and 'B'") as caught:
        run({"root": "a0 & b0"}, [])
    assert caught.value.code == "DECENTRAL-022"
    with pytest.raises(AlgorithmError, match="no monitor 'rot' to watch"):
        run({"root": "a0"}, [], watch="rot")
    with pytest.raises(AlgorithmError, match="'lag' is -1"):
        run({"root": "a0"}, [], lag=-1)
    with pytest.raises(AlgorithmError, match="'respawn' is never"):
        run({"root": "a0"}, [], respawn="never")


def test_a_reference_is_no_proposition_of_the_same_name():
    formulas = {"root": "F<=1 @b0", "b0": "!b0"}
    trace = [{"A": {"a0": False, "a1": False}, "B": {"b0": value}, "C": {"c0": False}} for value in (True, False)]
    specification = Specification({name: monitor_of(name, text, place="B") for name, text in formulas.items()})
    task = Task(specification, SYSTEM, {"watch": "all"})
    observed = {name: [events[name] for events in trace] for name in SYSTEM.components}
    found = simulate(set_up(General(), task), task, observed, algorithm=General())
    assert found.monitor_verdicts == {"b0": ((1, 1, False), (2, 2, True)), "root": ((1, 2, True),)}


def test_one_monitor_alone_is_where_its_inputs_are():
    # It was on the first component by name, where it never saw them: there was no verdict, whatever happened.
    system = System({"A": ["a0"], "D": ["d0"]})
    task = Task(Specification({"root": monitor_of("root", "F d0")}), system)
    parts = set_up(General(), task)
    assert [part.place for part in parts] == ["D"]
    traces = {"A": [{"a0": True}] * 2, "D": [{"d0": False}, {"d0": True}]}
    assert simulate(parts, task, traces, algorithm=General()).verdict is True
    elsewhere = Task(Specification({"root": monitor_of("root", "F d0", place="A")}), system)
    with pytest.raises(DecentralError, match="is about 'A' and 'D', but can be on one component only"):
        set_up(General(), elsewhere)
