"""Temporal formulas read, refused and printed: one syntax for all temporal logics."""

from __future__ import annotations

import pytest
from hypothesis import given
from logics.formulas import ALPHABET
from logics.temporal_formulas import formulas

from mopsus.logics import FormulaError, load_logic
from mopsus.logics.temporal.syntax import (
    FUTURE,
    MAX_SIZE,
    PAST,
    Formula,
    Interval,
    Op,
    events_of,
    parse_formula,
    print_formula,
)
from mopsus.logics.tree import MAX_DEPTH, walk

EVENTS = ("a", "b", "c")


def parse(text, alphabet=EVENTS, operators=PAST | FUTURE, **more):
    return parse_formula(text, alphabet, logic="ltl", operators=operators, **more)


def refused(text, alphabet=EVENTS, **more):
    with pytest.raises(FormulaError) as caught:
        parse(text, alphabet, **more)
    return caught.value


@given(formula=formulas(PAST | FUTURE, bounded=True, max_leaves=8))
def test_printing_and_parsing_give_the_formula_back(formula):
    text = print_formula(formula)
    assert parse(text, ALPHABET, intervals=True) == formula
    assert parse(text, ALPHABET, intervals=True, strict=False) == formula


@given(formula=formulas(PAST | FUTURE, max_leaves=6))
def test_no_printed_parentheses_can_be_left_out(formula):
    text = print_formula(formula)
    pairs, opened = [], []
    for at, sign in enumerate(text):
        if sign == "(" and text[at : at + 3] != "(*)":
            opened.append(at)
        elif sign == ")" and text[at - 2 : at + 1] != "(*)":
            pairs.append((opened.pop(), at))
    for left, right in pairs:
        shorter = f"{text[:left]} {text[left + 1 : right]} {text[right + 1 :]}"
        try:
            assert parse(shorter, ALPHABET) != formula
        except FormulaError:
            continue


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("next => (*)hasNext", "next => (*)hasNext"),
        ("[](a => ((not b) S c))", "[](a => (not b S c))"),
        ("!a && b || c", "not a and b or c"),
        ("a implies b", "a => b"),
        ("a -> b <-> c", "a => b <=> c"),
        ("a ^ b ++ c", "a xor b xor c"),
        ("a XOR b", "a xor b"),
        ("~a & 1 | 0", "not a and true or false"),
        ("a => b => c", "a => b => c"),
        ("(a => b) => c", "(a => b) => c"),
        ("a <=> b <=> c", "a <=> b <=> c"),
        ("a <=> (b <=> c)", "a <=> (b <=> c)"),
        ("a and (b and c)", "a and b and c"),
        ("X F G Y O H a", "o <>[](*)<*>[*]a"),
        ("() previous once historically eventually always a", "o (*)<*>[*]<>[]a"),
        ("(a until b) and (b since c) and (c release a)", "(a U b) and (b S c) and (c R a)"),
        ("(a U b) or (a ~U b) or (a R b)", "(a U b) or (a R b) or (a R b)"),
        ("(a W b) <=> (a M b)", "(a W b) <=> (a M b)"),
        ("a ~S b", "a ~S b"),
        ("~o a or ~(*)a", "~o a or ~(*)a"),
        ("a // not b\n and # c\n b /* and c */", "a and b"),
    ],
)
def test_spellings(text, printed):  # §3.5, §3.6
    assert print_formula(parse(text, ("a", "b", "c", "next", "hasNext"))) == printed


def test_intervals_are_kept_as_written():
    formula = parse("F<=3 a or (a S[2 , 5s] b) or G[1,inf] c", intervals=True)
    assert [part.interval for part in walk(formula) if part.interval] == [
        Interval("0", "3"),
        Interval("2", "5s"),
        Interval("1", None),
    ]
    assert print_formula(formula) == "<>[0,3] a or (a S[2,5s] b) or [][1,inf] c"


@pytest.mark.parametrize(
    ("text", "one", "other"),
    [
        ("a U b and c", "(a U b) and c", "a U (b and c)"),
        ("a and b U c", "a and (b U c)", "(a and b) U c"),
        ("a or b or c S a or b", "a or b or (c S a) or b", "(a or b or c) S (a or b)"),
        ("a => b R c", "a => (b R c)", "(a => b) R c"),
        ("a W b <=> c", "(a W b) <=> c", "a W (b <=> c)"),
        ("a U b U c", "a U (b U c)", "(a U b) U c"),
        ("a S b ~S c", "a S (b ~S c)", "(a S b) ~S c"),
        ("a or b xor c", "(a or b) xor c", "a or (b xor c)"),
    ],
)
def test_what_reads_differently_elsewhere_needs_parentheses(text, one, other):
    error = refused(text)
    assert error.code == "LOGIC-016"
    assert f"it could mean '{one}' or '{other}'" in error.message
    # Both readings are formulas; where reading on is allowed, it is the first.
    assert parse(text, strict=False) == parse(one) != parse(other)


def test_negation_binds_tightest_and_needs_no_parentheses():  # the same in all systems
    assert parse("not a S b") == parse("(not a) S b") != parse("not (a S b)")


def test_a_declared_event_wins_over_an_operator_of_its_name():
    assert parse("X and F", ("X", "F")).parts == (Formula(Op.ATOM, name="X"), Formula(Op.ATOM, name="F"))
    assert parse("S S S", ("S",)).op is Op.SINCE
    assert parse("U U not", ("U", "not")).parts[1].name == "not"
    assert refused("X a", ("X", "a")).offset == 2
    assert refused("~o", ("o",)).code == "LOGIC-006"
    assert parse("not o", ("o",)).parts[0].name == "o"
    assert parse("~o a", ("a",)).op is Op.WEAK_NEXT


def test_words_that_are_events_are_printed_in_another_way():
    formula = parse("() o and ! not and 1 and true", ("o", "not", "true"))
    assert print_formula(formula) == "()o and !not and 1 and true"
    assert parse(print_formula(formula), ("o", "not", "true")) == formula


@pytest.mark.parametrize(
    ("text", "code", "offset", "words"),
    [
        ("", "LOGIC-001", 0, "empty"),
        ("a and", "LOGIC-001", 5, "ends too early"),
        ("(a", "LOGIC-001", 2, "ends too early"),
        ("a b", "LOGIC-001", 2, "unexpected 'b'"),
        ("a $ b", "LOGIC-001", 2, "unexpected character"),
        ("a and creat", "LOGIC-002", 6, "unknown event 'creat'"),
        ("a and F<=3 b", "LOGIC-015", 7, "does not take an interval in ltl"),
        ("a and <*a>b", "LOGIC-015", 6, "'<*a>' is not an operator of ltl"),
    ],
)
def test_errors_have_a_place(text, code, offset, words):
    error = refused(text)
    assert (error.code, error.offset) == (code, offset)
    assert words in error.message


def test_unknown_event_suggests_a_near_one():
    assert refused("creat", ("create", "use")).hint == "did you mean 'create'?"


def test_operators_that_a_logic_does_not_have_are_refused():
    with pytest.raises(FormulaError, match="'<>' is not an operator of ptltl") as caught:
        load_logic("ptltl").parse("a and F b", EVENTS)
    assert (caught.value.code, caught.value.offset) == ("LOGIC-015", 6)
    assert "[*]" in caught.value.hint


def test_operators_with_modes_for_call_structure():  # §3.9
    text = "[*s@b]<*a>(*a)(a Ss@bc b) and @b (a Sa b)"
    formula = parse(text, operators=PAST | {Op.AT}, modes=("", "a", "s@b", "s@c", "s@bc"))
    assert [part.mode for part in walk(formula) if part.mode] == ["s@b", "a", "a", "s@bc", "b", "a"]
    assert print_formula(formula) == text


def test_names_with_an_at_sign_are_propositions():
    formula = parse("@b and @other", None, strict=False)
    assert events_of(formula) == {"@b", "@other"}


def test_nasty_formulas_are_refused_and_do_not_exhaust_the_stack():
    assert refused("not " * 100_000 + "a").code == "LOGIC-008"
    assert refused("(" * 50_000 + "a").code == "LOGIC-001"
    assert parse("(" * 1000 + "a" + ")" * 1000) == parse("a")
    assert refused(" and ".join(["a"] * (MAX_SIZE + 1))).code == "LOGIC-007"
    assert parse(" and ".join(["a"] * (MAX_SIZE // 2))).op is Op.AND
    assert refused("a => " * (MAX_DEPTH + 1) + "a").code == "LOGIC-008"
