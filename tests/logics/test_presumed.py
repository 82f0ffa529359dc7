"""What machines presume of traces that end undecided, and that asking for it changes no verdict."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from logics.formulas import ALPHABET, automata, compiled, expressions, reported, requests, run, words

from mopsus.logics import Request
from mopsus.logics.ere.compile import compile_expression
from mopsus.logics.ere.reference import categories_after
from mopsus.logics.machines import Automaton
from mopsus.logics.machines.finish import finish


def test_machines_presume_nothing_unless_asked():
    assert compiled("ere", "a b*", "a b").presumed == ()


def test_a_state_machine_has_nothing_to_presume():
    assert compiled("fsm", "s [ a -> s ]", "a b", at_end=True).presumed == ()


def test_an_expression_is_presumed_to_match_where_it_does():
    machine = compiled("ere", "a b*", "a b", at_end=True)
    assert [machine.presumed[state] for state in run(machine, "ab")] == [False, True, True]
    assert machine.presumed[run(machine, "b")[-1]] is None  # it has failed for good


def test_a_match_for_good_is_decided():
    machine = compiled("ere", "a ~empty", "a b", at_end=True)
    assert machine.presumed[run(machine, "a")[-1]] is None


def test_where_a_logic_presumes_nothing_the_verdict_of_the_moment_counts():
    automaton = Automaton(
        ("a", "b"), 0, ((0, 1), (0, 1)), (frozenset({"violation"}), frozenset({"validation"})), ("",) * 2
    )
    request = Request(("a", "b"), frozenset({"violation"}), at_end=True)
    machine = finish(automaton, request, truth={"violation": False, "validation": True})
    assert machine.presumed == (False, True)


def test_whoever_may_end_undecided_is_created_and_kept_though_nothing_can_be_reported():
    """`eventually b` is never violated, yet it matters at the end of a trace that there was no `b`."""
    automaton = Automaton(
        ("a", "b"), 0, ((0, 1), (1, 1)), (frozenset({"?"}), frozenset({"validation"})), ("",) * 2, (False, None)
    )
    machine = finish(automaton, Request(("a", "b"), frozenset({"violation"}), at_end=True))
    assert machine.creation == {"a"}
    assert machine.alive[machine.initial] == {frozenset({"a"})}
    assert machine.alive[run(machine, "b")[-1]] == frozenset()


@given(expression=expressions, word=words, suffix=st.booleans())
def test_presumptions_agree_with_the_definition(expression, word, suffix):
    request = Request(ALPHABET, frozenset({"match"}), suffix=suffix, at_end=True)
    machine = compile_expression(expression, request)
    presumed = machine.presumed[run(machine, word)[-1]] if machine.presumed else None
    tails = range(len(word)) if suffix else (0,)
    matches = any("match" in categories_after(expression, ALPHABET, word[tail:]) for tail in tails)
    assert presumed in (None, matches)


@given(
    automaton=automata(),
    presumed=st.lists(st.sampled_from((True, False)), min_size=5, max_size=5),
    request=requests(),
    word=words,
)
def test_asking_for_the_end_changes_no_verdict(automaton, presumed, request, word):
    automaton = replace(automaton, presumed=tuple(presumed[: len(automaton.table)]))
    plain, asked = finish(automaton, request), finish(automaton, replace(request, at_end=True))
    assert reported(plain, word) == reported(asked, word)
    assert plain.creation in (frozenset(), asked.creation)
