"""Which parts of a temporal formula turned at which event."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from logics.formulas import ALPHABET, words
from logics.temporal_formulas import all_formulas, formulas, light, past_formulas

from mopsus.logics import load_logic
from mopsus.logics.ltl.reference import categories_after
from mopsus.logics.ptltl.reference import holds
from mopsus.logics.temporal.syntax import FUTURE, PAST, Op, print_formula
from mopsus.logics.tree import walk

LTL, PTLTL = load_logic("ltl"), load_logic("ptltl")


def turns(logic, text, events, word):
    alphabet, word = tuple(events.split()), word.split()
    explained = logic.explain(logic.parse(text, alphabet), alphabet, word, [None] * len(word))
    return [(turn.position, turn.part, turn.value) for turn in explained]


def test_map_iterator():
    formula = "[](useI => (not updateM S createC))"
    assert turns(LTL, formula, "createC createI useI updateM", "createC createI useI updateM useI") == [
        (0, "not updateM S createC", True),
        (3, "not updateM S createC", False),
        (4, formula, False),
    ]


def test_past_operators_turn_at_every_change():
    assert turns(PTLTL, "next => (*)hasNext", "next hasNext", "hasNext next next hasNext") == [
        (0, "next => (*)hasNext", True),
        (1, "(*)hasNext", True),
        (2, "(*)hasNext", False),
        (2, "next => (*)hasNext", False),
        (3, "next => (*)hasNext", True),
    ]


def test_future_operators_turn_when_they_are_settled():
    assert turns(LTL, "[](a => <>[0,2] b)", "a b c", "a c b a c c") == [
        (2, "<>[0,2] b", True),
        (5, "<>[0,2] b", False),
        (5, "[](a => <>[0,2] b)", False),
    ]
    assert turns(LTL, "a U b", "a b c", "a a") == []


def test_the_whole_formula_is_decided_as_its_monitor_does():
    assert turns(LTL, "[]a and <>(not a)", "a b", "a b")[0] == (0, "[]a and <>not a", False)


@given(formula=past_formulas, word=words)
def test_past_turns_follow_the_definition(formula, word):
    explained = PTLTL.explain(formula, ALPHABET, word, [None] * len(word))
    parts = {print_formula(part): part for part in walk(formula) if part.op in PAST or part is formula}
    assert {turn.part for turn in explained} <= parts.keys()
    for text, part in parts.items():
        current = None
        if part.op in PAST:
            current = part.op in (Op.WEAK_PREVIOUS, Op.HISTORICALLY, Op.TRIGGER)
        at = {turn.position: turn.value for turn in explained if turn.part == text}
        for position in range(len(word)):
            current = at.get(position, current)
            assert current == holds(part, word, position)


@given(formula=light(formulas(PAST | FUTURE, bounded=True)), word=words)
def test_whole_formula_turns_once_as_the_reference_says(formula, word):
    explained = LTL.explain(formula, ALPHABET, word, [None] * len(word))
    assert [turn.position for turn in explained] == sorted(turn.position for turn in explained)
    verdicts = [categories_after(formula, ALPHABET, word[: length + 1]) for length in range(len(word))]
    decided = [(position, said) for position, said in enumerate(verdicts) if said != {"?"}][:1]
    whole = [turn for turn in explained if turn.part == print_formula(formula)]
    assert [(turn.position, {"validation" if turn.value else "violation"}) for turn in whole] == decided


@given(
    formula=all_formulas.filter(lambda each: each.op in FUTURE), word=words, later=st.lists(st.sampled_from(ALPHABET))
)
def test_what_is_settled_stays_settled(formula, word, later):
    """More events add turns after the word, and change none within it."""
    longer = [*word, *later]
    short = LTL.explain(formula, ALPHABET, word, [None] * len(word))
    long = LTL.explain(formula, ALPHABET, longer, [None] * len(longer))
    assert short == [turn for turn in long if turn.position < len(word)]
