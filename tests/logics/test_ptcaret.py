"""ptcaret: texts, and its meaning on words worked out by hand."""

from __future__ import annotations

from random import Random

import pytest
from logics.caret_formulas import EVENTS, random_formula, random_word

from mopsus.logics import FormulaError, Request, draw, load_logic

PTCARET, PTLTL = load_logic("ptcaret"), load_logic("ptltl")


def truth(text, word, events=EVENTS):
    """`+` or `-` for each event of the word."""
    formula = PTCARET.parse(text, events)
    values = (PTCARET.reference(formula, events, word[:length]) for length in range(1, len(word) + 1))
    return "".join("+" if "validation" in value else "-" for value in values)


WORD = ["a", "call", "begin", "b", "call", "begin", "a", "end", "return", "b", "end", "return", "a"]
#        0     1       2       3     4       5       6     7       8       9     10      11      12


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # The predecessor of a return is its call, that of an end its begin; all others have the event before.
        ("(*) begin", "---+--+------"),
        ("(*a) begin", "---+--++--+--"),
        ("(*a) call", "--+--+--+--+-"),
        ("(*a) a", "-+-----------"),
        ("~(*a) false", "+------------"),
        # What happened inside completed calls is not seen.
        ("<*> b", "---++++++++++"),
        ("<*a> b", "---+++++++---"),
        ("<*a> (begin and (*) call)", "--+++++++++--"),
        ("[*a] not b", "+++-------+++"),
        ("not end Sa begin", "--+++++-++---"),
        # At the begin and at the call of the current method; outside of all methods it is false.
        ("@b (*) (*) a", "--+++---+++--"),
        ("@b (*) (*) b", "-----+++-----"),
        ("@c (*) a", "--+++---+++--"),
        ("@c (*) b", "-----+++-----"),
        ("@b true", "--+++++++++--"),
        # Over the open begins, the open calls, or both.
        ("<*s@b> (*) (*) a", "--+++++++++--"),
        ("<*s@c> (*) b", "----+++++----"),
        ("[*s@c] (*) b", "+-----------+"),
        ("[*s@b] (*) (*) a", "+++++---+++++"),
        ("not (*) (*) b Ss@b (*) (*) a", "--+++---+++--"),
        ("<*s@bc> begin", "--+++++++++--"),
        ("@bc call", "-+--+---+--+-"),
    ],
)
def test_meaning_by_hand(text, expected):
    assert truth(text, WORD) == expected


def test_a_return_that_closes_nothing_is_like_any_other_event():
    word = ["a", "end", "b", "return", "b"]
    for text in ("(*a) a", "<*a> a", "a Sa a", "(*a) b"):
        assert truth(text, word) == truth(text.replace("*a", "*").replace("Sa", "S"), word)


def test_a_return_ends_everything_that_was_opened_since_its_call():
    word = ["call", "begin", "call", "begin", "b", "return", "a", "return", "a"]
    #          0        1       2       3      4      5        6      7       8
    assert truth("<*a> b", word) == "----+----"
    assert truth("@b true", word) == "-++++++--"
    assert truth("<*s@bc> true", word) == "++++++++-"


def test_a_call_is_the_frame_where_there_are_no_begins():
    events = ("call", "return", "a")
    word = ["a", "call", "a", "call", "return", "a", "return", "a"]
    assert truth("@c (*) a", word, events) == "-++++++-"
    assert truth("<*s@c> true", word, events) == "-++++++-"


def test_declared_roles_win_over_names():
    events = ("enter", "leave", "begin", "a")
    text = "begins enter; ends leave; <*a> a"
    assert truth(text, ["enter", "a", "leave", "a"], events) == "-+-+"
    assert truth(text, ["begin", "a", "end", "a"], (*events, "end")) == "-+++"


def test_without_calls_it_is_ptltl():
    rng = Random(1)
    for _ in range(200):
        text = random_formula(rng, ("a", "b"), calls=False, begins=False)
        word = [rng.choice(("a", "b")) for _ in range(6)]
        formula, plain = PTCARET.parse(text, ("a", "b")), PTLTL.parse(text, ("a", "b"))
        assert PTCARET.reference(formula, ("a", "b"), word) == PTLTL.reference(plain, ("a", "b"), word)


def test_abstract_operators_are_plain_where_nothing_is_closed():
    rng = Random(2)
    for _ in range(200):
        text = random_formula(rng, ("a", "b", "call"), begins=False)
        if "@" in text:
            continue
        word = [rng.choice(("a", "b", "call")) for _ in range(8)]
        plain = text.replace("*a", "*").replace("Sa ", "S ")
        assert truth(text, word) == truth(plain, word)


def test_printing_and_parsing_give_the_formula_back():
    rng = Random(3)
    for _ in range(300):
        events = tuple(f"x{name}" for name in EVENTS) if rng.random() < 0.5 else EVENTS
        head = "calls xcall;\nbegins xbegin;\nends xend;\nreturns xreturn;\n" if events != EVENTS else ""
        formula = PTCARET.parse(head + random_formula(rng, events), events)
        printed = PTCARET.print(formula)
        assert printed.startswith(head)
        assert PTCARET.parse(printed, events) == formula


@pytest.mark.parametrize(
    ("text", "events", "offset", "code"),
    [
        ("", "a", 0, "LOGIC-001"),
        ("calls a;", "a", 0, "LOGIC-001"),
        ("call a; a", "a", 0, "LOGIC-001"),
        ("callz a; a", "a", 0, "LOGIC-001"),
        ("calls a, z; a", "a", 9, "LOGIC-002"),
        ("calls a; returns a; a", "a", 17, "LOGIC-004"),
        ("calls a; z", "a", 9, "LOGIC-002"),
        ("(*a) a", "a", 0, "LOGIC-015"),
        ("calls a; <*a> a", "a b", 9, "LOGIC-015"),
        ("calls a; returns b; @b a", "a b", 20, "LOGIC-015"),
        ("begins a; ends b; <*s@c> a", "a b", 18, "LOGIC-015"),
        ("begins a; ends b; <> a", "a b", 18, "LOGIC-015"),
        ("begins a; ends b; a Sa b and a", "a b", 20, "LOGIC-016"),
        ("not " * 200 + "a", "a", None, "LOGIC-008"),
    ],
)
def test_faults_have_a_place(text, events, offset, code):
    with pytest.raises(FormulaError) as raised:
        PTCARET.parse(text, tuple(events.split()))
    assert raised.value.code == code
    assert offset is None or raised.value.offset == offset


def test_machine_has_a_step_for_each_part_once():
    formula = PTCARET.parse("<*a> (a and b) or not <*a> (a and b)", EVENTS)
    machine = PTCARET.compile(formula, Request(EVENTS, frozenset({"violation"})))
    assert [step.operation for step in machine.steps].count("since") == 1
    assert machine.goal == {"violation", "exhausted"}
    assert machine.creation == set(EVENTS)


def test_drawing_shows_the_formula_and_the_roles():
    machine = PTCARET.compile(PTCARET.parse("a => @b (*) b", EVENTS), Request(EVENTS, frozenset({"violation"})))
    text = draw(machine, "text", "Frames")
    assert text.startswith("Frames: 6 steps at each event, 2 bits kept, reports exhausted, violation\na => @b (*)b\n")
    assert "begin: begin\n" in text
    assert "   at [stack bit of begin]\n" in text
    assert draw(machine, "mermaid")
    assert draw(machine, "dot")


def test_words_of_the_generator_nest():
    rng = Random(4)
    words = [random_word(rng, EVENTS) for _ in range(50)]
    assert sum(word.count("return") for word in words) > 20
