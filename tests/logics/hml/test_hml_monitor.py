"""The real monitor against the definitions: random formulas over random events with data, after every event."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.components import start
from oracle.modal import values, wholes, words
from oracle.symbolic import monitored

from mopsus.logics.hml.compile import Reading
from mopsus.logics.hml.reference import verdicts

starts = values.map(lambda value: start("jobs", "worker", value))


def agree(whole, word, *, linear, first_match=False):
    said, given_ = monitored(whole, word, first_match=first_match)
    assert said == verdicts(Reading(linear=linear), whole, word, first_match=first_match)
    assert len(given_) <= 1


@given(wholes(linear=False), starts, words)
def test_sets_of_obligations(whole, first, word):
    agree(whole, [first, *word], linear=False)


@given(wholes(linear=False), starts, words)
def test_first_match(whole, first, word):
    agree(whole, [first, *word], linear=False, first_match=True)


@given(wholes(linear=True), starts, words)
def test_linear(whole, first, word):
    agree(whole, [first, *word], linear=True)


@given(st.booleans().flatmap(wholes), words)
def test_components_that_a_form_does_not_select(whole, word):
    for other in (start("jobs", "boss", 1), start("jobs", "worker"), start("shop", "worker", 1)):
        assert monitored(whole, [other, *word]) == ([None] * (2 + len(word)), [])


@settings(max_examples=30)
@given(wholes(linear=True), starts, words)
def test_histories_change_no_verdict(whole, first, word):
    trace = [first, *word]
    assert monitored(whole, trace, history=0)[0] == monitored(whole, trace)[0]
