"""Symbolic machines in the real monitor against their definition, after every event of random ones."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle.nodes import verdict_of
from oracle.randomly import NAMES, compiled, events, machines

from mopsus.monitor import Monitor

SLOW = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
words = st.lists(st.tuples(st.sampled_from("pq"), events), max_size=8)


def said_by(monitor):
    return {verdict.binding["p"]: (verdict.category, verdict.final) for verdict in monitor.verdicts}


def defined(machine, word):
    found = {p: verdict_of(machine, [event for other, event in word if other == p]) for p in "pq"}
    return {p: (verdict[0], True) for p, verdict in found.items() if verdict is not None}


def agree(machine, word, history):
    monitor = Monitor(compiled(machine), history=history)
    for number, (p, (letter, data)) in enumerate(word, 1):
        monitor.event(NAMES[letter])(p, *data)
        assert said_by(monitor) == defined(machine, word[:number])
    assert len(monitor.verdicts) == len(said_by(monitor))


@SLOW
@given(machines(linear=False), words, st.sampled_from([0, 3]))
def test_sets(machine, word, history):
    agree(machine, word, history)


@SLOW
@given(machines(linear=True), words, st.sampled_from([0, 3]))
def test_combinations(machine, word, history):
    agree(machine, word, history)


@SLOW
@given(machines(linear=False, first_match=True), words)
def test_first_match(machine, word):
    agree(machine, word, 0)


@SLOW
@given(st.booleans().flatmap(lambda linear: machines(linear=linear)), words, st.integers(0, 8))
def test_snapshots(machine, word, cut):
    before = Monitor(compiled(machine))
    for p, (letter, data) in word[:cut]:
        before.row(NAMES[letter], {"p": p} | {f"{NAMES[letter]}{k}": each for k, each in enumerate(data)})
    after = Monitor(compiled(machine))
    after.restore(before.snapshot())
    for p, (letter, data) in word[cut:]:
        after.event(NAMES[letter])(p, *data)
    assert said_by(before) | said_by(after) == defined(machine, word)
    assert len(before.verdicts) + len(after.verdicts) == len(defined(machine, word))


@SLOW
@given(st.booleans().flatmap(lambda linear: machines(linear=linear)), words)
def test_explanations_end_with_the_event_of_the_verdict(machine, word):
    monitor = Monitor(compiled(machine))
    for number, (p, (letter, data)) in enumerate(word, 1):
        monitor.row(NAMES[letter], {"p": p} | {f"{NAMES[letter]}{k}": each for k, each in enumerate(data)}, row=number)
    for verdict in monitor.verdicts:
        rows = [step.row for step in verdict.steps]
        assert rows == sorted(rows)
        assert not rows or rows[-1] == verdict.row
        mine = {number: event for number, (p, event) in enumerate(word, 1) if p == verdict.binding["p"]}
        for step in verdict.steps:
            letter, data = mine[step.row]
            assert (step.event, step.data) == (NAMES[letter], data)
