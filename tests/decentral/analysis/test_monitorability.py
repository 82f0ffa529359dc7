"""Monitorability against searching all states, and the reference's examples."""

from __future__ import annotations

import math
from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from logics.temporal_formulas import formulas

from mopsus.decentral.analysis.monitorability import depths, monitorability, monitorable, undecidable_states
from mopsus.decentral.specification import specification_of
from mopsus.decentral.synthesis import from_formula
from mopsus.logics.temporal.syntax import FUTURE, PAST

PROPOSITIONS = ("a", "b", "c")
LETTERS = [frozenset(letter) for letter in chain.from_iterable(combinations(PROPOSITIONS, size) for size in range(4))]


@given(
    formula=formulas(PAST | FUTURE, atoms=PROPOSITIONS, max_leaves=6),
    known=st.dictionaries(st.sampled_from(PROPOSITIONS), st.booleans()),
)
def test_states_without_hope(formula, known):
    automaton = from_formula(formula)
    letters = [letter for letter in LETTERS if all((name in letter) == value for name, value in known.items())]

    def reachable(state):
        found = {state}
        while more := {automaton.step(each, letter) for each in found for letter in letters} - found:
            found |= more
        return found

    lost = {state for state in reachable(0) if all(automaton.verdicts[each] is None for each in reachable(state))}
    assert undecidable_states(automaton, known) == lost


@pytest.mark.parametrize(
    ("text", "expected"),
    [("G F p", False), ("F p", True), ("G F a & !G F a", True), ("!G F a", False), ("a | (b & X G F c)", False)],
)
def test_examples(text, expected):
    assert monitorable(from_formula(text)) is expected


def test_knowledge_helps():
    assert not monitorable(from_formula("a | G F b"))
    assert monitorable(from_formula("a | G F b"), {"a": True})


def test_specifications():
    lights = specification_of({"root": "G(s -> X(@m1 U !s))", "m1": "l"})
    assert monitorability(lights).proven
    assert monitorability(lights).reasons() == ()
    assert depths(lights) == {"root": 2, "m1": 1}


def test_a_circle_is_not_proven():  # although it is monitorable
    circle = specification_of({"root": "a | @m1", "m1": "b | @root"})
    found = monitorability(circle)
    assert not found.proven
    assert found.reasons() == ("they depend on each other: root -> m1 -> root",)
    assert depths(circle) == {"root": math.inf, "m1": math.inf}


def test_halves_that_are_not_monitorable():
    found = monitorability(specification_of({"root": "@m1 & @m2", "m1": "G F a", "m2": "!G F a"}))
    assert not found.proven
    assert set(found.undecidable) == {"m1", "m2"}
    assert "monitor 'm1' reaches no verdict from state q0" in found.reasons()
    assert depths(specification_of({"root": "@m1 | b", "m1": "G F a"})) == {"root": math.inf, "m1": math.inf}
