"""Equivalence against explicit traces, and specifications as one automaton against their definition."""

from __future__ import annotations

from itertools import chain, combinations, product

import pytest
from decentral.support import PLACES, monitors, traces
from hypothesis import given
from hypothesis import strategies as st
from logics.temporal_formulas import formulas
from oracle.decentral import run_centralized, run_decentralized

from mopsus.decentral.analysis import equivalence
from mopsus.decentral.analysis.equivalence import difference, flattened
from mopsus.decentral.errors import DecentralError
from mopsus.decentral.specification import specification_of
from mopsus.decentral.synthesis import from_formula
from mopsus.logics.temporal.syntax import FUTURE, PAST

PROPOSITIONS = ("a", "b")
LETTERS = [frozenset(letter) for letter in chain.from_iterable(combinations(PROPOSITIONS, size) for size in range(3))]


def after(automaton, word):
    state = 0
    for letter in word:
        state = automaton.step(state, letter)
    return automaton.verdicts[state]


some_formulas = formulas(PAST | FUTURE, atoms=PROPOSITIONS, max_leaves=4)


@given(one=some_formulas, other=some_formulas)
def test_a_shortest_difference(one, other):
    first, second = from_formula(one), from_formula(other)
    found = difference(first, second)
    if found is not None:
        assert (after(first, found.trace), after(second, found.trace)) == (found.first, found.second)
        assert found.first is not found.second
    short = 4 if found is None else min(4, len(found.trace))
    for size in range(short):
        for word in product(LETTERS, repeat=size):
            assert after(first, word) is after(second, word)


def test_examples():
    assert difference(from_formula("!(a U b)"), from_formula("!a R !b")) is None
    assert difference(from_formula("F a"), from_formula("F b")) == equivalence.Difference((frozenset("b"),), None, True)
    assert difference(from_formula("G F a"), from_formula("G F b")) is None  # neither ever says anything
    split = specification_of({"root": "G(s -> X(@m1 U !s))", "m1": "l"})
    assert difference(split, from_formula("G(s -> X(l U !s))")) is None
    assert difference(split, specification_of({"root": "G(s -> X(@m1 U !s))", "m1": "!l"})).trace


@given(formulas=monitors(max_leaves=3), trace=traces(4))
def test_one_automaton_decides_what_references_decide(formulas, trace):
    check_flattened(specification_of(formulas), trace)


@given(formulas=monitors(cyclic=True, max_leaves=3), trace=traces(4))
def test_circles(formulas, trace):
    check_flattened(specification_of(formulas), trace)


def check_flattened(specification, trace):
    flat = flattened(specification)
    defined = None
    for size in range(len(trace) + 1):
        part = trace[:size]
        verdict, _ = run_centralized(flat, part)
        if part:
            defined = run_decentralized(specification, part, PLACES)["root", 1]
            assert defined in (None, verdict)


@given(formulas=monitors(max_leaves=3), trace=traces(3), more=st.data())
def test_one_automaton_is_never_wrong(formulas, trace, more):
    """Where it decides earlier than the definition, nothing that follows may say otherwise."""
    specification = specification_of(formulas)
    verdict, _ = run_centralized(flattened(specification), trace)
    longer = [*trace, *more.draw(traces(6))]
    if verdict is not None and longer:
        assert run_decentralized(specification, longer, PLACES)["root", 1] in (None, verdict)


def test_answers_that_exclude_each_other():
    both = specification_of({"root": "@m1 & @m2", "m1": "F<=1 a", "m2": "G<=1 !a"})
    assert flattened(both).verdicts[0] is None
    assert set(flattened(both).verdicts) == {None, False}


def test_a_limit(monkeypatch):
    monkeypatch.setattr(equivalence, "MAX_STATES", 2)
    with pytest.raises(DecentralError) as caught:
        flattened(specification_of({"root": "X X X @m", "m": "a"}))
    assert caught.value.code == "DECENTRAL-027"
