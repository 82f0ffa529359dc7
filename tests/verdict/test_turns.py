"""Which part of a formula turned at which event, told only where it is certain."""

from __future__ import annotations

import pytest

from mopsus.logics import compile_spec
from mopsus.model import Event, Property, Spec, Verdict, WitnessEvent
from mopsus.verdict import explain, plain_text, show_turn, witness_turns

SPEC = Spec(
    "Door", events=(Event("open"), Event("enter")), properties=(Property("ltl", "ltl", "[](enter => <*> open)"),)
)
PAST = Spec("Door", events=(Event("open"), Event("enter")), properties=(Property("p", "ptltl", "enter => <*> open"),))


def verdict(*events, prop, category="violation"):
    witness = tuple(WitnessEvent(name, {}, None, None, row) for row, name in enumerate(events, 1))
    return Verdict("Door", prop, category, False, True, {}, None, None, witness, row=len(events))


def told(spec, *events, history=32):
    machine = compile_spec(spec).machines[0]
    found = verdict(*events, prop=spec.properties[0].name)
    return explain(found, machine, history, spec)


def test_parts_of_the_formula_turn_at_events():
    explanation = told(PAST, "enter")
    turns = [show_turn(turn) for turn in explanation.steps[0].turns]
    assert any(turn.endswith("= false") for turn in turns)
    assert all(f"        {turn}" in plain_text(explanation).splitlines() for turn in turns)


def test_nothing_is_told_of_a_witness_that_may_lack_its_beginning():
    explanation = told(PAST, "enter", history=1)
    assert explanation.steps[0].turns == ()
    assert explanation.remarks[0] == (
        "Only the last 1 events are known, too few to say which parts of the formula turned."
    )


def test_nothing_is_told_where_the_witness_does_not_lead_to_the_verdict_from_the_start():
    """After a reset the witness is not a word from the beginning."""
    assert told(PAST, "open", "enter").steps[1].turns == ()


def test_nothing_is_told_by_a_logic_that_does_not_explain_itself():
    spec = Spec("Door", events=(Event("open"),), properties=(Property("p", "ere", "open"),))
    found = verdict("open", prop="p", category="match")
    assert witness_turns(found, compile_spec(spec).machines[0], 32, spec) is None
    assert witness_turns(found, None, 32, None) is None


@pytest.mark.parametrize("spec", [SPEC, PAST])
def test_positions_are_those_of_the_witness(spec):
    found = verdict("enter", prop=spec.properties[0].name)
    turns = witness_turns(found, None, 32, spec)
    assert turns is not None
    assert set(turns) <= {0}
