"""Automata in the HOA format: read, written, and made into machines that agree with the definition."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from logics.formulas import ALPHABET, compiled, expressions, run, state_machines, words

from mopsus.logics import FormulaError, LogicError, Request, compile_formula
from mopsus.logics.ere.compile import compile_expression
from mopsus.logics.fsm.compile import compile_machine
from mopsus.logics.hoa import LOGIC
from mopsus.logics.hoa.automaton import Edge, Hoa, Often, Op, Reading, State
from mopsus.logics.hoa.printer import export_machine
from mopsus.logics.hoa.reference import categories_after
from mopsus.model import TableMachine

# As Spot writes `G(a -> X b)`, with its headers.
RESPONSE = """\
HOA: v1
name: "G(!a | Xb)"
States: 2
Start: 1
AP: 2 "a" "b"
acc-name: all
Acceptance: 0 t
properties: trans-labels explicit-labels state-acc deterministic
properties: stutter-sensitive weak
--BODY--
State: 0
[0&1] 0
[!0&1] 1
State: 1
[!0] 1
[0] 0
--END--
"""


def text(body, header="", acceptance="0 t", propositions=("a", "b")):
    names = " ".join(f'"{name}"' for name in propositions)
    return f"HOA: v1 {header} AP: {len(propositions)} {names} Acceptance: {acceptance} --BODY-- {body} --END--"


def after(source, word, events="a b c"):
    machine = compiled("hoa", source, events, "violation", "validation")
    return machine.categories[run(machine, word)[-1]]


def test_an_automaton_of_another_tool_runs_here():
    assert after(RESPONSE, "cabc") == {"?"}
    assert after(RESPONSE, "ac") == {"violation"}
    assert after(RESPONSE, "aa") == {"violation"}  # in no step are there two events


def test_no_acceptable_continuation_is_a_violation():
    never_again = text("State: 0 [0] 0 [!0] 1 {0} State: 1 [t] 1", "Start: 0", "1 Inf(0)")
    assert after(never_again, "a") == {"violation"}  # only one transition is marked, and it is taken once


def test_nothing_but_acceptable_continuations_is_a_validation():
    once = text("State: 0 [0] 1 [!0] 0 State: 1 [t] 1 {0}", "Start: 0", "1 Inf(0)")
    assert after(once, "bb") == {"?"}
    assert after(once, "ba") == {"validation"}


@pytest.mark.parametrize(
    ("acceptance", "verdict"),
    [
        ("1 Inf(0)", "violation"),
        ("1 Fin(0)", "validation"),
        ("1 Inf(!0)", "validation"),
        ("1 f", "violation"),
        ("2 Fin(0) & (Inf(1) | Inf(!1))", "validation"),
        ("2 Fin(0) & Inf(1)", "violation"),
    ],
)
def test_every_acceptance_condition_is_understood(acceptance, verdict):
    assert after(text("State: 0 [t] 0", "Start: 0", acceptance), "a") == {verdict}


def test_events_that_are_no_proposition_make_all_of_them_false():
    source = text("State: 0 [!0 & !1] 0", "Start: 0")
    assert after(source, "cc") == {"?"}
    assert after(source, "b") == {"violation"}


def test_aliases_state_labels_implicit_labels_and_nested_comments():
    source = text(
        'State: [@x] 0 "first" 1 /* a /* nested */ comment */ State: 1 0 1 0 1', "Start: 0 Alias: @x 0 | 1 States: 2"
    )
    assert LOGIC.parse(source, ("a", "b")).states == (
        State("first", edges=(Edge(0b110, 1),)),
        State(edges=(Edge(0b101, 0), Edge(0b010, 1))),
    )


def test_no_initial_state_accepts_nothing():
    assert after(text("State: 0 [t] 0"), "a") == {"violation"}


def test_finite_words():
    source = text("State: 0 [0] 0 [0] 1 State: 1 {0}", "Start: 0 acc-name: finite", "1 Inf(0)")
    machine = compiled("hoa", source, "a b", "match", "fail", at_end=True)
    assert [machine.categories[state] for state in run(machine, "aab")] == [{"?"}, {"match"}, {"match"}, {"fail"}]
    assert [machine.presumed[state] for state in run(machine, "aab")] == [False, True, True, None]


def test_what_is_reported_without_handlers():
    assert compile_formula("hoa", RESPONSE, ("a", "b")).machines[0].goal == {"violation"}
    exported = export_machine(compiled("fsm", "s [ a -> s ]", "a b"))
    assert compile_formula("hoa", exported, ("a", "b")).machines[0].goal == {"fail"}


def test_a_nondeterministic_automaton_says_that_validation_is_not_decided():
    source = text("State: 0 [t] 0 [0] 1 State: 1 [t] 1 {0}", "Start: 0", "1 Inf(0)")
    found = compile_formula("hoa", source, ("a", "b"), goal=("violation", "validation"))
    assert [warning.code for warning in found.warnings if warning.code == "LOGIC-043"] == ["LOGIC-043"]
    assert "validation" in after(source, "a")  # found all the same: state 1 accepts everything


FAULTS = [
    ("HOA: v2 Acceptance: 0 t --BODY-- --END--", "this is version 'v2' of the format", "v2", "LOGIC-001"),
    ("HOA: v1 --BODY-- --END--", "the automaton has no acceptance condition", "HOA:", "LOGIC-001"),
    (text("State: 0 [t] 0 & 1", "Start: 0 States: 2"), "alternating", "1 --END", "LOGIC-041"),
    (text("State: 0 [t] 7", "Start: 0 States: 1"), "there is no state 7", "7", "LOGIC-003"),
    (text("State: 0 [2] 0", "Start: 0"), "there is no proposition 2", "2] 0", "LOGIC-003"),
    (text("State: 0 [@x] 0", "Start: 0"), "unknown alias '@x'", "@x", "LOGIC-003"),
    (text("State: 0 [t] 0 {1}", "Start: 0", "1 Inf(0)"), "there is no acceptance set 1", "1} --END", "LOGIC-003"),
    (text("State: 0 State: 0", "Start: 0"), "state 0 is defined twice", "0 --END", "LOGIC-004"),
    (text("", propositions=("a", "colse")), "unknown event 'colse'", '"colse"', "LOGIC-002"),
    (text("", propositions=("a", "a")), "proposition 'a' is named twice", '"a" Acc', "LOGIC-004"),
    (text("", 'AP: 1 "a"'), "the header stands here for the second time", '2 "a" "b"', "LOGIC-004"),
    (text("State: 0 0 0", "Start: 0"), "state 0 has 2 transitions without labels", "0 0 0", "LOGIC-001"),
    (text("State: 0 [t] 0 0", "Start: 0"), "this transition has no label", "0 --END", "LOGIC-001"),
    (text("State: [t] 0 [t] 0", "Start: 0"), "the state has a label already", "0 --END", "LOGIC-001"),
    (text("State: 0 [0 &] 0"), "unexpected ']'", "] 0", "LOGIC-001"),
    (text("/* open"), "a comment is not closed", "/*", "LOGIC-001"),
    (text("", "States: 99999999999999999999"), "the number is too large", "99999", "LOGIC-007"),
    (text("", "States: 999999"), "the automaton is too large", "HOA", "LOGIC-007"),
    ("HOA: v1", "the formula ends too early", "", "LOGIC-001"),
]


@pytest.mark.parametrize(("source", "message", "place", "code"), FAULTS)
def test_faults_are_said_at_their_place(source, message, place, code):
    with pytest.raises(FormulaError) as caught:
        LOGIC.parse(source, ("a", "b", "close"))
    assert message in caught.value.message
    assert source[caught.value.offset :].startswith(place)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            text("State: 0 [0] 0 {0}", "Start: 0 acc-name: finite", "1 Inf(0)"),
            "it is states that accept",
        ),
        (text("State: 0 [0] 0", 'Start: 0 mopsus-categories: "x"', "1 t"), "state 0 has no transition for 'b'"),
        (text("State: 0 [t] 0", 'mopsus-categories: "x"', "1 t"), "one initial state, not 0"),
        (
            text("State: 0 [t] 0", "Start: 0", "18 " + "&".join(f"(Inf({2 * k})|Fin({2 * k + 1}))" for k in range(9))),
            "more than 256 cases",
        ),
    ],
)
def test_automata_that_make_no_monitor_are_refused(source, message):
    with pytest.raises(LogicError, match=message) as caught:
        compiled("hoa", source, "a b")
    assert caught.value.code == "LOGIC-041"


def test_a_long_label_takes_no_long_time():
    label = "|".join(["0"] * 50_000) + "&" + "(" * 5000 + "t" + ")" * 5000
    assert LOGIC.parse(text(f"State: 0 [{label}] 0"), ("a", "b")).states[0].edges == (Edge(0b010, 0),)


def test_a_machine_without_a_table_is_not_exported():
    machine = compiled("ere", "a", "a b")
    assert isinstance(machine, TableMachine)
    with pytest.raises(LogicError, match="only finite machines"):
        export_machine(object())  # type: ignore[arg-type]


@given(expression=expressions, state_machine=state_machines(), goal=st.sampled_from(("match", "fail", "match fail")))
def test_an_exported_machine_comes_back_the_same(expression, state_machine, goal):
    for machine in (
        compile_expression(expression, Request(ALPHABET, frozenset(goal.split()))),
        compile_machine(state_machine, Request(ALPHABET, frozenset({"fail"}))),
    ):
        exported = export_machine(machine, 'a "name"')
        parsed = LOGIC.parse(exported, ALPHABET)
        assert LOGIC.print(parsed) == exported
        assert LOGIC.compile(parsed, Request(ALPHABET, machine.goal)) == machine


@st.composite
def hoas(draw, reading=Reading.OMEGA):
    size, sets = draw(st.integers(1, 3)), draw(st.integers(0, 2))
    marks = st.frozensets(st.integers(0, sets - 1)) if sets else st.just(frozenset())
    edge = st.builds(Edge, st.integers(1, 7), st.integers(0, size - 1), marks)
    unique = st.lists(edge, max_size=3, unique_by=lambda each: (each.target, each.marks)).map(tuple)
    states = draw(st.lists(st.builds(State, st.just(""), marks, unique), min_size=size, max_size=size))
    return Hoa(
        ("a", "b"),
        tuple(draw(st.lists(st.integers(0, size - 1), max_size=2, unique=True))),
        sets,
        draw(conditions(sets)),
        tuple(states),
    )


def conditions(sets):
    leaves = st.booleans().map(lambda value: (value,))
    if sets:
        leaves |= st.builds(Often, st.booleans(), st.integers(0, sets - 1), st.booleans()).map(lambda each: (each,))
    return st.recursive(
        leaves,
        lambda inner: st.builds(
            lambda left, right, op: (*left, *right, op), inner, inner, st.sampled_from((Op.AND, Op.OR))
        ),
        max_leaves=4,
    )


@given(automaton=hoas())
def test_printing_and_parsing_gives_back_the_automaton(automaton):
    assert LOGIC.parse(LOGIC.print(automaton), ("a", "b")) == automaton


@settings(deadline=None)
@given(automaton=hoas(), word=words.map(lambda word: word[:4]))
def test_machines_of_automata_agree_with_the_definition(automaton, word):
    alphabet = ("a", "b")
    word = tuple(event for event in word if event in alphabet)
    machine = LOGIC.compile(automaton, Request(alphabet, frozenset({"violation", "validation"})))
    for length in range(1, len(word) + 1):
        expected = categories_after(automaton, alphabet, word[:length])
        assert machine.categories[run(machine, word[:length])[-1]] - {"?"} == expected - {"?"}
