"""The real monitor against the definitions: random formulas over random events with data, after every event."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.components import start
from oracle.modal import cases, wholes, words
from oracle.symbolic import monitored

from mopsus.logics.hml.compile import Reading
from mopsus.logics.hml.reference import verdicts


def agree(case, *, linear, first_match=False):
    whole, word = case
    said, reported = monitored(whole, word, first_match=first_match)
    assert said == verdicts(Reading(linear=linear), whole, word, first_match=first_match)
    assert len(reported) <= 1


@given(cases(linear=False))
def test_sets_of_obligations(case):
    agree(case, linear=False)


@given(cases(linear=False))
def test_first_match(case):
    agree(case, linear=False, first_match=True)


@given(cases(linear=True))
def test_linear(case):
    agree(case, linear=True)


@given(st.booleans().flatmap(wholes), words)
def test_components_that_a_form_does_not_select(whole, word):
    for other in (start("jobs", "boss", 1), start("jobs", "worker"), start("shop", "worker", 1)):
        assert monitored(whole, [other, *word]) == ([None] * (2 + len(word)), [])


@settings(max_examples=30)
@given(st.booleans().flatmap(cases))
def test_histories_change_no_verdict(case):
    whole, word = case
    assert monitored(whole, word, history=0)[0] == monitored(whole, word)[0]
