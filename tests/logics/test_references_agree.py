"""Each logic's machine against its definition: the same categories after every prefix of every word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from logics.formulas import ALPHABET, expressions, run, state_machines, words

from mopsus.logics import Request, load_logic

FSM, ERE = load_logic("fsm"), load_logic("ere")


def goals(logic, formula):
    return st.frozensets(st.sampled_from(sorted(logic.categories(formula))), min_size=1)


@pytest.mark.parametrize(("logic", "formulas"), [(FSM, state_machines()), (ERE, expressions)], ids=["fsm", "ere"])
@given(data=st.data(), word=words)
def test_machine_has_the_categories_of_the_definition(logic, formulas, data, word):
    formula = data.draw(formulas)
    goal = data.draw(goals(logic, formula))
    machine = logic.compile(formula, Request(ALPHABET, goal))
    for length, state in enumerate(run(machine, word)[1:], 1):
        assert machine.categories[state] & goal == logic.reference(formula, ALPHABET, word[:length]) & goal


@given(expression=expressions, word=words)
def test_suffix_machine_matches_when_some_suffix_does(expression, word):
    machine = ERE.compile(expression, Request(ALPHABET, frozenset({"match"}), suffix=True))
    for length, state in enumerate(run(machine, word)[1:], 1):
        suffixes = [word[start:length] for start in range(length)]
        wanted = any("match" in ERE.reference(expression, ALPHABET, suffix) for suffix in suffixes)
        assert ("match" in machine.categories[state]) == wanted
        assert "fail" not in machine.categories[state]


@given(expression=expressions, word=words)
def test_a_reset_ends_the_matches_that_are_complete_and_no_others(expression, word):
    request = Request(ALPHABET, frozenset({"match"}), restart=frozenset({"match"}), suffix=True)
    machine = ERE.compile(expression, request)
    state, begun = machine.initial, []
    for event in word:
        state = machine.table[state][ALPHABET.index(event)]
        begun = [(*each, event) for each in (*begun, ())]
        complete = [each for each in begun if "match" in ERE.reference(expression, ALPHABET, each)]
        assert ("match" in machine.categories[state]) == bool(complete)
        if complete:
            state = machine.after_report[state]
            begun = [each for each in begun if each not in complete]


@pytest.mark.parametrize(("logic", "formulas"), [(FSM, state_machines()), (ERE, expressions)], ids=["fsm", "ere"])
@given(data=st.data())
def test_printing_and_parsing_give_the_formula_back(logic, formulas, data):
    formula = data.draw(formulas)
    assert logic.parse(logic.print(formula), ALPHABET) == formula


@given(machine=state_machines())
def test_events_of_a_machine_are_those_it_can_tell_from_unknown_ones(machine):
    spoken = FSM.events(machine)
    for event in set(ALPHABET) - spoken:
        assert all(state.target(event) == "fail" for state in machine.states)


def test_reference_refuses_events_outside_of_the_alphabet():
    machine = FSM.parse("s [ a -> s ]", ("a",))
    with pytest.raises(ValueError, match="not an event"):
        FSM.reference(machine, ("a",), ["b"])
