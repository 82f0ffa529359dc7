"""LTL over valuations of propositions: the monitors of the reference, and against explicit letters."""

from __future__ import annotations

import sys
from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from logics.temporal_formulas import formulas

from mopsus.logics import LogicError
from mopsus.logics.ltl import synthesise
from mopsus.logics.ltl.reference import holds_on_lasso
from mopsus.logics.temporal.syntax import FUTURE, PAST

PROPOSITIONS = ("a", "b", "c")
LETTERS = [frozenset(letter) for letter in chain.from_iterable(combinations(PROPOSITIONS, size) for size in range(4))]
letters = st.sampled_from(LETTERS)


def rooms(count):
    return " & ".join(f"G(s{room} -> X(l{room} U !s{room}))" for room in range(count))


@pytest.mark.parametrize(
    ("text", "states"),
    [
        ("F a", 2),
        ("G a", 2),
        ("a U b", 3),
        ("X X a", 5),
        ("(G a)|(G !a)", 4),
        ("G F a", 1),
        ("G(a -> F b)", 1),
        ("F<=3 p", 6),
        ("G<=3 p", 6),
        ("G<=25 p", 28),
        ("p & F<=5(q|r)", 8),
        ("tv -> F<=10 !tv", 13),
        ("G(tv -> F<=10 !tv)", 12),
        ("G(s -> X(l U !s))", 3),
        *((rooms(count), 2**count + 1) for count in range(1, 7)),
    ],
)
def test_state_counts(text, states):  # themis.md §4.5, §10
    monitor = synthesise(text)
    assert len(monitor.states) == states
    assert monitor.monitorable == (states > 1)


def test_light_switch():  # themis.md §10
    monitor = synthesise("G(s -> X(l U !s))")
    q0, q1, bad = monitor.initial, monitor.step(monitor.initial, {"s"}), 2
    assert [monitor.verdicts[state] for state in (q0, q1, bad)] == [None, None, False]
    assert [monitor.step(q0, letter) for letter in ((), {"l"}, {"s"}, {"s", "l"})] == [q0, q0, q1, q1]
    assert [monitor.step(q1, letter) for letter in ((), {"l"}, {"s", "l"}, {"s"})] == [q0, q0, q1, bad]
    labels = {(state, target): label for state in monitor.states for label, target in monitor.transitions(state)}
    wanted = {
        (q0, q0): r"~ s",
        (q0, q1): r"s",
        (q1, q0): r"~ s",
        (q1, q1): r"s /\ l",
        (q1, bad): r"s /\ ~ l",
        (bad, bad): r"TRUE",
    }
    assert labels == {edge: monitor.manager.add_expr(text) for edge, text in wanted.items()}


@given(formula=formulas(PAST | FUTURE, atoms=PROPOSITIONS, bounded=True, max_leaves=7), data=st.data())
def test_verdicts_are_true_of_infinite_words(formula, data):
    prefix = data.draw(st.lists(letters, max_size=3))
    loop = data.draw(st.lists(letters, min_size=1, max_size=3))
    monitor = synthesise(formula)
    held = holds_on_lasso(formula, prefix, loop)
    state = monitor.initial
    for letter in prefix + loop * 4:
        assert monitor.verdicts[state] in (None, held)
        state = monitor.step(state, letter)


@given(formula=formulas(PAST | FUTURE, atoms=PROPOSITIONS, max_leaves=3), word=st.lists(letters, max_size=1))
def test_undecided_formulas_can_still_go_both_ways(formula, word):
    ways = {
        holds_on_lasso(formula, [*word, *prefix], [*between, last])
        for prefix in ([], [LETTERS[0]], [LETTERS[-1]])
        for between in ([], *([letter] for letter in LETTERS))
        for last in LETTERS
    }
    monitor = synthesise(formula)
    state = monitor.initial
    for letter in word:
        state = monitor.step(state, letter)
    if len(ways) == 2:
        assert monitor.verdicts[state] is None


@given(formula=formulas(PAST | FUTURE, atoms=PROPOSITIONS, max_leaves=6))
def test_labels_are_the_steps(formula):
    monitor = synthesise(formula)
    for state in monitor.states:
        transitions = monitor.transitions(state)
        assert len({target for _, target in transitions}) == len(transitions)
        for letter in LETTERS:
            known = {name: name in letter for name in monitor.propositions}
            holding = [
                target for label, target in transitions if monitor.manager.let(known, label) == monitor.manager.true
            ]
            assert holding == [monitor.step(state, letter)]


@given(formula=formulas(PAST | FUTURE, atoms=PROPOSITIONS, max_leaves=6))
def test_no_two_states_are_alike(formula):
    monitor = synthesise(formula)
    block = {state: monitor.verdicts[state] for state in monitor.states}
    for _ in monitor.states:
        block = {
            state: (block[state], tuple(block[monitor.step(state, letter)] for letter in LETTERS))
            for state in monitor.states
        }
        numbers = {key: number for number, key in enumerate(dict.fromkeys(block.values()))}
        block = {state: numbers[key] for state, key in block.items()}
    assert len(set(block.values())) == len(monitor.states)


def test_verdict_before_the_first_letter():
    assert synthesise("true").verdicts == (True,)
    assert synthesise("G F a & F G !a").verdicts == (False,)
    assert synthesise("a | !a").verdicts[0] is True


def test_states_without_hope():
    monitor = synthesise("a | (b & X G F c)")
    assert monitor.monitorable
    assert monitor.undecidable == {monitor.step(monitor.initial, {"b"})}


def test_letters_are_never_listed():
    """Forty propositions: 2^40 letters."""
    monitor = synthesise(" & ".join(f"(G p{number})" for number in range(40)))
    assert len(monitor.states) == 2
    [stay, fall] = monitor.transitions(monitor.initial)
    assert {stay.target, fall.target} == {0, 1}
    assert monitor.step(0, [f"p{number}" for number in range(40)]) == 0


def test_propositions_are_checked_when_given():
    with pytest.raises(LogicError, match="unknown event 'q'"):
        synthesise("p U q", ("p",))
    assert synthesise("p U q", ("p", "q", "r")).propositions == ("p", "q")


def test_labels_need_an_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "dd", None)
    monitor = synthesise("a U b")
    assert monitor.verdicts[monitor.step(0, {"b"})] is True
    with pytest.raises(LogicError, match="package 'dd'") as caught:
        monitor.transitions(0)
    assert caught.value.code == "LOGIC-018"
    assert "mopsus[decentral]" in caught.value.hint


def test_huge_monitors_are_refused(monkeypatch):
    monkeypatch.setattr("mopsus.logics.ltl.letters.MAX_WORK", 20_000)
    with pytest.raises(LogicError) as caught:
        synthesise(rooms(30))
    assert caught.value.code == "LOGIC-007"
    with pytest.raises(LogicError):
        synthesise(" | ".join(f"p{number}" for number in range(500)))
