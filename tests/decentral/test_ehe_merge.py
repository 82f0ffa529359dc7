"""The laws of merging, and that replicas agree whatever the order in which they hear of each other."""

from __future__ import annotations

import pytest
from decentral.encodings import defined, informed, known, new, replicas, runs, states_of
from hypothesis import given
from hypothesis import strategies as st
from oracle import ehe
from oracle.tables import Table

from mopsus import _core
from mopsus.decentral.core import KnowledgeError


def merged(*parts):
    whole = parts[0].copy()
    for part in parts[1:]:
        whole.merge(part)
    return whole


@given(replicas(3, states=4, inputs=3, length=5))
def test_merging_is_commutative_associative_and_idempotent(case):
    _, _, (a, b, c) = case
    assert merged(a, b) == merged(b, a)
    assert merged(merged(a, b), c) == merged(a, merged(b, c))
    assert merged(a, a) == a
    assert merged(a, b, a, b) == merged(a, b)


@given(replicas(2, states=4, inputs=3, length=5))
def test_merging_forgets_nothing_and_is_never_wrong(case):
    table, trace, parts = case
    whole = merged(*parts)
    truth = states_of(table, trace)
    for time in range(whole.start, whole.end + 1):
        states = whole.states(time)
        assert truth[time] in states
        for part in parts:
            if part.start <= time <= part.end:
                assert set(states) <= set(part.states(time))
    assert whole.resolved == max(part.resolved for part in parts)


@given(runs(), st.data())
def test_merging_decides_whatever_disjunction_decides(case, data):
    table, trace, everything = case
    one, other = (data.draw(st.lists(st.sampled_from(everything), unique=True)) for _ in range(2))
    whole = defined(table, trace)
    sources = [ehe.inc(whole, known(one)), ehe.inc(whole, known(other))]
    disjoint = ehe.either(*sources)
    core = merged(informed(table, len(trace), one), informed(table, len(trace), other))
    together = ehe.replace(known(one), known(other))
    for (time, state), expression in disjoint.items():
        decided = ehe.evaluate(expression, {})
        exact = ehe.evaluate(whole[time, state], together)
        assert decided is None or decided == exact
        assert not (decided is True and any(source[time, state] is False for source in sources))
        assert exact == (None if state in core.states(time) and core.state(time) is None else core.state(time) == state)


@given(runs(states=4, inputs=3, length=6), st.data())
def test_replicas_that_hear_of_each_other_agree_in_the_end(case, data):
    table, trace, everything = case
    truth = states_of(table, trace)
    nodes = [_core.Ehe(table.core) for _ in range(3)]
    owner = [data.draw(st.integers(0, 2)) for _ in range(table.inputs)]
    actions = st.lists(st.tuples(st.sampled_from(["tick", "resolve", "send"]), st.integers(0, 2), st.integers(0, 2)))
    on_the_way: list[tuple[int, _core.Ehe]] = []

    def observe(number):
        for time, put, value in everything:
            if owner[put] == number and nodes[number].start < time <= nodes[number].end:
                nodes[number].learn(time, put, value)

    for action, here, there in data.draw(actions):
        node = nodes[here]
        if action == "tick" and node.end < len(trace):
            node.tick()
            observe(here)
        elif action == "resolve" and node.resolve():
            assert node.state(node.resolved) == truth[node.resolved]
            node.drop_resolved()
        elif action == "send":
            on_the_way.append((there, node.copy()))
            if data.draw(st.booleans()):  # late, out of order, more than once
                to, message = data.draw(st.sampled_from(on_the_way))
                nodes[to].merge(message)
                observe(to)
    for number, node in enumerate(nodes):
        while node.end < len(trace):
            node.tick()
        observe(number)
    whole = merged(*nodes)
    for order in ((0, 1, 2), (2, 1, 0), (1, 0, 2, 0, 1)):
        assert merged(*(nodes[number] for number in order)) == whole
    assert whole.state(len(trace)) == truth[-1]


def test_only_what_is_about_the_same_run_can_be_merged():
    table = Table(1, (None, None), ((0, 1), (1, 0)))
    other = Table(1, (None, None), ((1, 0), (1, 0)))
    with pytest.raises(KnowledgeError, match="another automaton"):
        new(table, 1).merge(new(other, 1))
    with pytest.raises(KnowledgeError, match="began at timestamp 2"):
        new(table, 1).merge(_core.Ehe(table.core, 2))
    one, two = informed(table, 1, [(1, 0, True)]), informed(table, 1, [(1, 0, False)])
    with pytest.raises(KnowledgeError, match="contradicts what is known of timestamp 1"):
        one.merge(two)
    assert two.resolve()
    two.drop_resolved()
    with pytest.raises(KnowledgeError, match="contradicts what is known of timestamp 1"):
        one.merge(two)
    assert one == informed(table, 1, [(1, 0, True)])


def test_automata_that_are_equal_need_not_be_the_same():
    make = Table(1, (None, None), ((0, 1), (1, 0)))
    again = Table(1, (None, None), ((0, 1), (1, 0)))
    assert make.core is not again.core
    whole = merged(new(make, 2), informed(again, 1, [(1, 0, True)]))
    assert whole.state(1) == 1
    assert whole == informed(make, 2, [(1, 0, True)])
