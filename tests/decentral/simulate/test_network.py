"""The network of the simulator does what it is described to do, and no more."""

from __future__ import annotations

from collections import defaultdict

import msgspec
import pytest
from decentral.support import OWN
from hypothesis import given
from hypothesis import strategies as st

from mopsus.decentral import System, specification_of
from mopsus.decentral.algorithms import load_algorithm
from mopsus.decentral.algorithms.algorithm import Task, set_up
from mopsus.decentral.simulate.network import Crash, Network, NetworkError, Partition, parse_network
from mopsus.decentral.simulate.run import simulate

ORCH = load_algorithm("orch")
TASK = Task(specification_of({"root": "F(a0 & b0 & c0)"}), System(OWN))
PARTS = set_up(ORCH, TASK)
TRACES = {name: [dict.fromkeys(names, False)] * 12 for name, names in OWN.items()}


def recorded(network, seed=0, limit=200):
    outcome = simulate(PARTS, TASK, TRACES, algorithm=ORCH, network=network, seed=seed, record=True, limit=limit)
    return outcome.recording, outcome.measures


def by_message(recording):
    """The rounds of arrival of what each monitor sent in each round."""
    arrivals = defaultdict(list)
    for message in recording.messages:
        arrivals[message.source, message.sent].append(message.delivered)
    return arrivals


def test_messages_arrive_in_the_next_round():
    recording, measures = recorded(Network())
    assert by_message(recording) == {(f"monitor {name}", now): [now + 1] for now in range(1, 13) for name in "BC"}
    assert (recording.rounds, measures["msg_lost"], measures["msg_num"]) == (13, 0, 24)


@given(
    least=st.integers(1, 4),
    more=st.integers(0, 4),
    reorder=st.booleans(),
    duplicate=st.sampled_from([0, 0.5, 1]),
    loss=st.sampled_from([0, 0.5, 1]),
    resend=st.integers(0, 3),
    seed=st.integers(0, 2**32),
)
def test_delays_order_doubles_and_losses(least, more, reorder, duplicate, loss, resend, seed):
    network = Network((least, least + more), reorder, duplicate, loss, resend)
    recording, measures = recorded(network, seed)
    assert recorded(network, seed) == (recording, measures)
    arrivals = by_message(recording)
    assert len(arrivals) == measures["msg_num"] == 24
    for (source, sent), rounds in arrivals.items():
        came = [each for each in rounds if each is not None]
        assert all(each >= sent + least for each in came)
        if not resend and reorder:
            assert all(each <= sent + least + more for each in came)
        if not loss:
            assert len(came) == len(rounds)
        if loss == 1:
            assert not came
        elif resend:
            assert came
        if duplicate in (0, 1) and not loss:
            assert len(came) == 1 + duplicate
        if not reorder:
            assert came == sorted(came)
            later = [
                each for (other, when), all_ in arrivals.items() if other == source and when > sent for each in all_
            ]
            assert all(each is None or each >= max(came) for each in later if came)


def test_a_partition_lets_nothing_through_and_heals():
    network = Network(partitions=(Partition(4, 8, (("A", "B"), ("C",))),))
    arrivals = by_message(recorded(network)[0])
    for now in range(1, 13):
        assert arrivals["monitor B", now] == [now + 1]
        assert arrivals["monitor C", now] == [None if 4 <= now < 8 else now + 1]
    again = by_message(recorded(Network(resend=1, partitions=network.partitions))[0])
    assert [again["monitor C", now] for now in range(4, 8)] == [[9]] * 4


def test_a_crashed_monitor_does_nothing_and_hears_nothing():
    recording, _ = recorded(Network(crashes=(Crash(4, 8, "monitor A"), Crash(2, 3, "monitor B"))))
    turns = defaultdict(list)
    for step in recording.steps:
        turns[step.monitor].append(step.round)
    assert turns["monitor A"] == [1, 2, 3, 8, 9, 10, 11, 12, 13]
    assert turns["monitor B"] == [1, *range(3, 13)]
    arrivals = by_message(recording)
    assert [arrivals["monitor C", now] for now in range(1, 9)] == [[2], [3], [None], [None], [None], [None], [8], [9]]
    assert [(fault.round, fault.kind, fault.who) for fault in recording.faults] == [
        (2, "crash", ["monitor B"]),
        (3, "restart", ["monitor B"]),
        (4, "crash", ["monitor A"]),
        (8, "restart", ["monitor A"]),
    ]


def test_monitors_of_one_component_need_no_network():
    parts = [msgspec.structs.replace(part, place="A") for part in PARTS]
    outcome = simulate(parts, TASK, TRACES, algorithm=ORCH, network=Network((3, 5), loss=1, duplicate=1), record=True)
    assert all(message.delivered == message.sent + 1 for message in outcome.recording.messages)


def test_a_line_describes_a_network():
    text = "delay=1..4, reorder,duplicate=0.1,loss=0.2,resend=3,partition=5..20:A+B|C,crash=10..15:monitor A"
    assert parse_network(text) == Network(
        (1, 4), True, 0.1, 0.2, 3, (Partition(5, 20, (("A", "B"), ("C",))),), (Crash(10, 15, "monitor A"),)
    )
    assert parse_network(" ") == Network()
    assert parse_network("delay=2") == Network((2, 2))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("delay", "does not describe"),
        ("delay=x", "does not describe"),
        ("delay=3..2", "3 to 2 rounds"),
        ("reorder=1", "does not describe"),
        ("loss=much", "does not describe"),
        ("loss=-1", "from 0 to 1"),
        ("duplicate=nan", "from 0 to 1"),
        ("resend=-1", "before it was sent"),
        ("partition=3:A|B", "does not describe"),
        ("crash=3..3:monitor A", "from round 3 to before round 3"),
        ("crash=0..3:monitor A", "from round 0"),
        ("crash=1..3", "does not describe"),
        ("fire=1..3:A", "does not describe"),
        ("delay=99999999999999999999", "more than"),
        ("resend=99999999999999999999", "more than"),
        ("crash=1..99999999999999999999:monitor A", "from round 1"),
    ],
)
def test_what_describes_no_network_is_refused(text, words):
    with pytest.raises(NetworkError, match=words):
        parse_network(text)
