"""Metric temporal logic: its text, its meaning, and the machine in the core against the definition."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from logics.formulas import ALPHABET
from logics.temporal_formulas import formulas
from logics.timed_support import CATEGORIES, MTL, found, spec_of, timed_formulas, timed_words

from mopsus.logics import FormulaError, Request, compile_spec, load_logic
from mopsus.logics.mtl.reference import reports, values
from mopsus.logics.mtl.syntax import TimedFormula
from mopsus.logics.temporal.syntax import PAST, Op
from mopsus.logics.tree import walk
from mopsus.model import TimedKind

EVERY = settings(max_examples=400, deadline=None)


# ---- against the definition ----


def agree(formula, word, times):
    assert found(spec_of(MTL.print(formula)), word, times) == reports(formula, word, times)


@EVERY
@given(timed_formulas(PAST), timed_words())
def test_past_formulas_are_what_the_definition_says(formula, timed):
    agree(formula, *timed)


@EVERY
@given(timed_formulas(PAST), timed_words(whole=True))
def test_past_formulas_over_whole_times(formula, timed):
    agree(formula, *timed)


@EVERY
@given(timed_formulas(), timed_words())
def test_formulas_that_look_ahead_give_their_verdicts_when_they_are_settled(formula, timed):
    agree(formula, *timed)


@EVERY
@given(timed_formulas(), timed_words(whole=True, max_size=20))
def test_formulas_that_look_ahead_over_whole_times(formula, timed):
    agree(formula, *timed)


@settings(max_examples=150, deadline=None)
@given(timed_formulas(), timed_words(), st.data())
def test_events_without_a_time_or_out_of_order_are_reported_and_left_out(formula, timed, data):
    word, times = timed
    spoiled = [
        data.draw(st.sampled_from((time, time, time, None, time - data.draw(st.integers(1, 5))))) for time in times
    ]
    agree(formula, word, spoiled)


@settings(max_examples=150, deadline=None)
@given(formulas(PAST), timed_words())
def test_without_intervals_it_is_past_time_ltl(formula, timed):
    word, times = timed
    ptltl = load_logic("ptltl")
    for length, categories in enumerate(found(spec_of(MTL.print(TimedFormula(formula))), word, times), 1):
        assert categories == ptltl.reference(formula, ALPHABET, word[:length])


@given(timed_formulas(), timed_words())
def test_a_value_once_given_is_not_taken_back(formula, timed):
    word, times = timed
    whole = values(formula, formula.formula, word, times)
    for length in range(len(word)):
        prefix = values(formula, formula.formula, word[:length], times[:length])
        assert prefix == whole[: len(prefix)]
        assert all(settled.at >= length for settled in whole[len(prefix) :])


@given(timed_formulas(PAST), st.lists(st.sampled_from(ALPHABET), max_size=8))
def test_the_plain_reference_has_a_unit_of_time_between_events(formula, word):
    times = [Fraction(position) for position in range(len(word))]
    whole = reports(formula, word, times)
    for length in range(1, len(word) + 1):
        assert MTL.reference(formula, ALPHABET, word[:length]) == whole[length - 1]


def test_the_reference_refuses_events_outside_of_the_alphabet():
    with pytest.raises(ValueError, match="not an event"):
        MTL.reference(MTL.parse("a", ALPHABET), ALPHABET, ["x"])


def test_until_does_not_wait_for_what_lies_behind():
    formula = MTL.parse("[*](([][0,0] a) U[0,0] a)", ALPHABET)
    agree(formula, "aa", [Fraction(0), Fraction(0)])


def test_witnesses_taken_together_leave_no_gap_between_whole_numbers():
    formula = MTL.parse("<*>[2,4] a", ALPHABET)
    times = [Fraction(0), Fraction(3), Fraction(9, 2), Fraction(5), Fraction(7), Fraction(71, 10)]
    agree(formula, "aabbbb", times)
    assert reports(formula, "aabbbb", times)[2] == {"violation"}


# ---- text ----


@given(timed_formulas())
def test_printing_and_parsing_give_the_formula_back(formula):
    assert MTL.parse(MTL.print(formula), ALPHABET) == formula


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("once[0,5s] a", "<*>[0,5s] a"),
        ("historically[1m, 2h] a", "[*][1m,2h] a"),
        ("a since[200ms,] b", "a S[200ms,inf] b"),
        ("a S[0,inf] b", "a S[0,inf] b"),
        ("<*> a", "<*>a"),
        ("previous[0,1] a", "(*)[0,1] a"),
        ("unit ms; eventually[0,5] a", "unit ms; <>[0,5] a"),
        ("unit s; a", "a"),
        ("a => always<=5s not b", "a => [][0,5s] not b"),
        ("a until[1,2] b", "a U[1,2] b"),
    ],
)
def test_spellings(text, canonical):
    formula = MTL.parse(text, ALPHABET)
    assert MTL.print(formula) == canonical
    assert MTL.parse(canonical, ALPHABET) == formula
    assert MTL.events(formula) <= {"a", "b"}


@pytest.mark.parametrize(
    ("text", "lower", "upper"),
    [
        ("<*>[2,5] a", 2, 5),
        ("<*>[2s,5m] a", 2, 300),
        ("<*>[0,1500ms] a", 0, Fraction(3, 2)),
        ("unit ms; <*>[7,2s] a", 7, 2000),
        ("unit ns; <*>[1us,0.5d] a", 1000, 43200 * 10**9),
        ("<*>[0.25,1h] a", Fraction(1, 4), 3600),
    ],
)
def test_spans_of_time_are_exact(text, lower, upper):
    formula = MTL.parse(text, ALPHABET)
    bounds = formula.bounds(formula.formula)
    assert (bounds.lower, bounds.upper) == (lower, upper)


@pytest.mark.parametrize(
    ("text", "code", "where", "hint"),
    [
        ("once[5,3] a", "LOGIC-061", "[5,3]", "lower bound first"),
        ("once[0,5x] a", "LOGIC-061", "[0,5x]", "d, h"),
        ("once[0,5sec] a", "LOGIC-061", "[0,5sec]", ""),
        ("once[0,5.] a", "LOGIC-061", "[0,5.]", "200ms"),
        ("once[0,99999999999999999999] a", "LOGIC-061", "[0,99999999999999999999]", "inf"),
        ("unit fortnight; a", "LOGIC-061", "fortnight", ""),
        ("a and eventually b", "LOGIC-062", "ev", "[0,5s]"),
        ("always[3,inf] b", "LOGIC-062", "al", "ltl"),
        ("a W[0,3] b", "LOGIC-015", "W", ""),
        ("a and[0,3] b", "LOGIC-001", "[0,3]", ""),
        ("not[0,3] b", "LOGIC-015", "[0,3]", "leave"),
        ("once[0,3] d", "LOGIC-002", "d", "a, b, c"),
        ("unit ms; once[0,3] d", "LOGIC-002", "d", "a, b, c"),
        ("", "LOGIC-001", "", ""),
    ],
)
def test_faults_say_where_they_are(text, code, where, hint):
    with pytest.raises(FormulaError) as caught:
        MTL.parse(text, ALPHABET)
    assert caught.value.code == code
    assert caught.value.offset == text.rindex(where) if where else True
    assert hint in caught.value.hint


def test_huge_formulas_are_refused_or_run():
    with pytest.raises(FormulaError):
        MTL.parse("<*>[0,1] " * 200 + "a", ALPHABET)
    wide = " or ".join(f"<*>[{n},{n + 1}] a" for n in range(2000))
    assert found(spec_of(wide), ["a", "b"], [Fraction(0), Fraction(1000)])[1] == {"validation"}


# ---- the machine ----


def machine_of(text, goal=("violation",)):
    return MTL.compile(MTL.parse(text, ALPHABET), Request(ALPHABET, frozenset(goal)))


def test_equal_parts_are_evaluated_once():
    machine = machine_of("(<*>[0,5] (a or b) => c) and (c or not <*>[0,5] (b or a))")
    assert [operator.kind for operator in machine.operators].count(TimedKind.SINCE) == 1


def test_what_depends_on_the_event_alone_needs_no_operator():
    machine = machine_of("(a or b) and not c <=> (a xor true)")
    assert not machine.operators


def test_only_events_that_may_be_reported_at_keep_an_instance():
    assert machine_of("a => <*>[0,5] b").alive == {frozenset("a")}
    assert machine_of("a => <*>[0,5] b", ("validation",)).alive == {frozenset(each) for each in ALPHABET}
    assert machine_of("a => <>[0,5] b").alive == {frozenset(each) for each in ALPHABET}
    assert machine_of("a => <*>[0,5] b", ("untimed",)).alive == {frozenset(each) for each in ALPHABET}
    assert machine_of("not (b S[1,5] a)").alive == {frozenset("b")}


@given(timed_formulas(), timed_words())
def test_reports_are_possible_where_they_happen(formula, timed):
    word, times = timed
    for category in ("validation", "violation"):
        machine = MTL.compile(formula, Request(ALPHABET, frozenset({category})))
        for event, categories in zip(word, reports(formula, word, times), strict=True):
            if category in categories:
                assert category in machine.reportable()
                assert frozenset({event}) in machine.alive


def test_a_property_that_never_reports_is_said():
    spec = spec_of("a or not a or <*>[0,5] b", categories=())
    assert "LOGIC-022" in {warning.code for warning in compile_spec(spec).warnings}


@pytest.mark.parametrize(
    ("text", "remarks"),
    [
        ("<*>[0,5] a", 0),
        ("<*>[5,6] a", 0),
        ("<*>[5,5] a", 1),
        ("<*>[0,0] a", 0),
        ("(*)[5,5] a", 0),
        ("<>[0,5] a", 1),
        ("[][0,5] <*>[5s,5s] a", 2),
    ],
)
def test_memory_that_grows_with_the_rate_of_events_is_said(text, remarks):
    machine = machine_of(text)
    assert [remark.code for remark in machine.remarks] == ["LOGIC-060"] * remarks


def test_a_drawing_is_the_tree_of_the_formula():
    drawing = machine_of("a => <*>[0,5s] (b S c)").drawing()
    assert [node.name for node in drawing.nodes] == ["=>", "a", "<*>[0,5s]", "S", "b", "c"]
    assert [(edge.source, edge.target) for edge in drawing.edges] == [(0, 1), (0, 2), (2, 3), (3, 4), (3, 5)]
    assert "reports disordered, untimed, violation" in drawing.summary


# ---- explanations ----


def turns(text, word, times):
    formula = MTL.parse(text, ALPHABET)
    return [(turn.position, turn.part, turn.value) for turn in MTL.explain(formula, ALPHABET, word, times)]


def test_an_explanation_says_which_part_turned_when():
    assert turns("b => <*>[0,5] a", "abcb", [0, 1, 5, 6]) == [
        (0, "<*>[0,5] a", True),
        (0, "b => <*>[0,5] a", True),
        (3, "<*>[0,5] a", False),
        (3, "b => <*>[0,5] a", False),
    ]


def test_what_looks_ahead_turns_when_it_is_settled():
    assert turns("a => <>[0,5] b", "acc", [0, 4, 6]) == [
        (2, "<>[0,5] b", False),
        (2, "a => <>[0,5] b", False),
    ]


def test_events_without_a_good_time_turn_nothing():
    assert turns("<*>[0,0.2] a", "abab", [0.1, None, 0.05, 0.3]) == [(0, "<*>[0,0.2] a", True)]


@given(timed_formulas(PAST), timed_words())
def test_the_turns_of_the_formula_are_where_its_verdict_changes(formula, timed):
    word, times = timed
    text = MTL.print(formula)
    found = {turn.position: turn.value for turn in MTL.explain(formula, ALPHABET, word, times) if turn.part == text}
    value = None
    if formula.formula.op in (Op.PREVIOUS, Op.ONCE, Op.SINCE):
        value = False
    if formula.formula.op in (Op.WEAK_PREVIOUS, Op.HISTORICALLY, Op.TRIGGER):
        value = True
    for position, categories in enumerate(reports(formula, word, times)):
        value = found.get(position, value)
        assert categories == {"validation" if value else "violation"}


def test_the_strategy_makes_every_operator():
    seen = set()

    @settings(max_examples=300, database=None)
    @given(timed_formulas())
    def collect(formula):
        seen.update(part.op for part in walk(formula.formula))

    collect()
    assert {Op.UNTIL, Op.RELEASE, Op.SINCE, Op.TRIGGER, Op.NEXT, Op.WEAK_NEXT, Op.PREVIOUS, Op.ALWAYS} <= seen
    assert set(CATEGORIES) == MTL.categories(MTL.parse("a", ALPHABET))
