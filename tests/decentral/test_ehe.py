"""Encodings of the core against those of the definition, on random automata, traces and knowledge."""

from __future__ import annotations

from itertools import combinations

import pytest
from decentral.encodings import defined, expression, informed, known, new, partly_known, runs, states_of
from hypothesis import given
from hypothesis import strategies as st
from oracle import ehe
from oracle.ehe import Atom
from oracle.tables import NAMES, Table

from mopsus import _core
from mopsus.decentral.core import KnowledgeError


@given(partly_known())
def test_states_and_verdicts_are_those_of_the_definition(case):
    table, trace, observations = case
    encoding, memory = informed(table, len(trace), observations), known(observations)
    by_definition = defined(table, trace)
    for time in range(len(trace) + 1):
        values = {q: ehe.evaluate(e, memory) for (at, q), e in by_definition.items() if at == time}
        assert encoding.states(time) == sorted(q for q, value in values.items() if value is not False)
        assert encoding.state(time) == ehe.sel(by_definition, memory, time)
        verdict = ehe.ver_at(table.labelled, by_definition, memory, time)
        assert verdict is None or encoding.verdict(time) == verdict
        assert encoding.verdict(time) in (None, table.verdicts[states_of(table, trace)[time]])
    assert encoding.entries() == sum(len(encoding.states(time)) for time in range(len(trace) + 1))


@given(partly_known())
def test_expressions_are_those_of_the_definition_and_irredundant(case):
    table, trace, observations = case
    encoding, memory = informed(table, len(trace), observations), known(observations)
    for (time, state), whole in defined(table, trace).items():
        expected = ehe.rw(whole, memory)
        assert ehe.equivalent(expression(encoding, time, state), expected)
        products = encoding.expression(time, state)
        as_parts = [
            [Atom(at, str(put)) if value else ("not", Atom(at, str(put))) for at, put, value in product]
            for product in products
        ]
        for number, part in enumerate(as_parts):
            others = [ehe.conjunction(each) for each in as_parts[:number] + as_parts[number + 1 :]]
            assert not ehe.equivalent(ehe.disjunction(others), expected)
            for gone in range(len(part)):
                shorter = ehe.conjunction(part[:gone] + part[gone + 1 :])
                assert not ehe.equivalent(ehe.disjunction([*others, shorter]), expected)


@given(partly_known())
def test_the_size_is_that_of_the_expressions(case):
    table, trace, observations = case
    encoding = informed(table, len(trace), observations)
    total = 0
    for time in range(len(trace) + 1):
        for state in encoding.states(time):
            products = encoding.expression(time, state)
            literals = [(put, value) for product in products for _, put, value in product]
            operators = sum(not value for _, value in literals) + sum(max(0, len(each) - 1) for each in products)
            constant = not literals
            total += 4 + 4 + sum(4 + len(NAMES[put]) for put, _ in literals) + operators + len(products) - 1 + constant
    assert encoding.data() == total


@given(partly_known())
def test_what_is_missing_is_what_the_expressions_depend_on(case):
    table, trace, observations = case
    encoding, memory = informed(table, len(trace), observations), known(observations)
    by_definition = ehe.inc(defined(table, trace), memory)
    needed = {
        time: {atom for (at, _), e in by_definition.items() if at == time for atom in ehe.support(e)}
        for time in range(len(trace) + 1)
    }
    for time, atoms in needed.items():
        assert encoding.missing(time) == sorted((atom.time, int(atom.name)) for atom in atoms)
    last = max(time for time in needed if encoding.state(time) is not None)
    open_now = {atom for time, atoms in needed.items() if time > last for atom in atoms if atom.time > last}
    if not open_now:
        assert encoding.earliest() is None
    else:
        first = min(atom.time for atom in open_now)
        assert encoding.earliest() == (first, sorted(int(a.name) for a in needed[first] if a.time == first))


@given(partly_known())
def test_reasons_are_as_few_as_can_be(case):
    table, trace, observations = case
    encoding = informed(table, len(trace), observations)
    for time in range(len(trace) + 1):
        verdict, state = encoding.verdict(time), encoding.state(time)
        if verdict is None and state is None:
            with pytest.raises(KnowledgeError, match="neither the verdict nor the state"):
                encoding.reasons(time)
            continue
        reasons = encoding.reasons(time)
        assert set(reasons) <= set(observations)
        assert reasons == sorted(reasons)

        def suffice(some, time=time, verdict=verdict, state=state):
            fresh = informed(table, len(trace), some)
            return fresh.verdict(time) == verdict if verdict is not None else fresh.state(time) == state

        assert suffice(reasons)
        if reasons:
            assert not any(suffice(some) for some in combinations(observations, len(reasons) - 1))


@given(runs(states=4, inputs=3, length=8))
def test_whoever_knows_everything_is_where_the_automaton_is(case):
    table, trace, everything = case
    encoding = _core.Ehe(table.core)
    memory = _core.Memory(everything)
    for time, state in enumerate(states_of(table, trace)[1:], 1):
        encoding.tick()
        assert encoding.update(memory)
        assert (encoding.resolved, encoding.state(time)) == (time, state)
        assert encoding.drop_resolved() == 1
    assert encoding.simplifications == 0
    assert (encoding.nodes(), encoding.earliest()) == (0, None)


@given(runs(), st.data())
def test_updates_stop_where_those_of_the_definition_do(case, data):
    table, trace, everything = case
    encoding, history = _core.Ehe(table.core), ehe.History(table.labelled)
    for _ in trace:
        encoding.tick()
        history.tick()
        some = data.draw(st.lists(st.sampled_from(everything), unique=True))
        memory = _core.Memory(some)
        # The definition puts a memory into what it looks at only; the core learns all of it at once.
        while True:
            found = encoding.update(memory)
            if history.update(known(some)):
                assert found
                assert encoding.resolved <= history.resolved
            if not found:
                break
        while history.update(known(some)):
            pass
        assert encoding.resolved >= history.resolved
        assert encoding.state(history.resolved) == ehe.sel(history.encoding, {}, history.resolved)


@given(partly_known())
def test_work_is_counted_as_for_expressions(case):
    table, trace, observations = case
    encoding, history = new(table, len(trace)), ehe.History(table.labelled)
    for _ in trace:
        history.tick()
    memory = _core.Memory(observations)
    assert encoding.update(memory) == history.update(known(observations))
    assert encoding.resolved == history.resolved
    assert encoding.evaluations == history.evaluations
    assert encoding.simplifications == history.simplifications


@given(partly_known(length=5), st.integers(0, 6))
def test_dropping_keeps_what_is_known_of_the_rest(case, time):
    table, trace, observations = case
    encoding = informed(table, len(trace), observations)
    whole = encoding.copy()
    dropped = encoding.drop(time)
    assert encoding.start == dropped
    assert encoding.end == whole.end
    kept = [at for at in range(min(time, len(trace)) + 1) if whole.state(at) is not None]
    assert encoding.start == max(kept)
    for at in range(encoding.start, encoding.end + 1):
        assert encoding.states(at) == whole.states(at)
    with pytest.raises(KnowledgeError):
        encoding.states(encoding.end + 1)


def test_a_run_can_begin_anew_later():
    table = Table(1, (None, True), ((0, 1), (1, 1)))
    encoding = new(table, 3)
    encoding.learn(2, 0, True)
    assert encoding.resolve()
    assert (encoding.resolved, encoding.verdict(2)) == (2, True)
    assert encoding.missing(1) == [(1, 0)]
    assert not encoding.drop(1)
    encoding.reset(5)
    assert (encoding.origin, encoding.start, encoding.end, encoding.resolved) == (5, 5, 5, 5)
    encoding.tick()
    assert encoding.states(6) == [0, 1]
    encoding.learn(5, 0, True)  # too early to matter
    assert encoding == _at(table, 5, 1)


def _at(table, origin, ticks):
    encoding = _core.Ehe(table.core, origin)
    for _ in range(ticks):
        encoding.tick()
    return encoding


def test_expressions_are_not_written_out_beyond_a_limit():
    parity = Table(1, (None, None), ((0, 1), (1, 0)))
    encoding = new(parity, 12)
    assert len(encoding.expression(12, 0)) == 2**11
    with pytest.raises(KnowledgeError, match="more than 2047 products"):
        encoding.expression(12, 0, most=2047)
    with pytest.raises(KnowledgeError, match="no state 2"):
        encoding.expression(12, 2)
    long = new(parity, 200)
    assert long.nodes() < 400 + 1
    assert long.data() == 2**64 - 1  # more than can be counted


def test_explanations_of_many_observations_are_few():
    # Only the first of twelve inputs matters, and only at the last step.
    names = [f"i{number}" for number in range(12)]
    chain = [(number, number + 1 if number < 11 else ~0, ~0) for number in range(12)]
    automaton = _core.Automaton(names, [None, False], chain, [0, ~1])
    encoding = _core.Ehe(automaton)
    for time in range(1, 40):
        encoding.tick()
        for number in range(12):
            encoding.learn(time, number, True)
    assert encoding.reasons(39) == []
    assert encoding.state(39) == 0
