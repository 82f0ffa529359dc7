"""Faulty formulas: the code, the exact place, and a hint that helps."""

from __future__ import annotations

import pytest
from logics.formulas import compiled

from mopsus.logics import MESSAGES, FormulaError, LogicError, load_logic

EVENTS = ("open", "close", "read")

FSM_FAULTS = [
    # text, code, what the caret is under (offset, length), part of message or hint
    ("", "LOGIC-001", 0, 1, "no states"),
    ("   ", "LOGIC-001", 0, 1, "no states"),
    ("idle", "LOGIC-001", 4, 1, "expected '['"),
    ("idle [", "LOGIC-001", 6, 1, "']'"),
    ("idle [ open ]", "LOGIC-001", 12, 1, "'->'"),
    ("idle [ open -> ]", "LOGIC-001", 15, 1, "a name"),
    ("idle [ -> idle ]", "LOGIC-001", 7, 2, "'default'"),
    ("idle [ open -> idle,, read -> idle ]", "LOGIC-001", 20, 1, "','"),
    ("idle [ default -> idle ]", "LOGIC-001", 15, 2, "a name"),
    ("idle [ open -> 1st ]", "LOGIC-001", 15, 1, "unexpected character '1'"),
    ("idle [ ] ; busy [ ]", "LOGIC-001", 9, 1, "unexpected character ';'"),
    ("idle [ ] alias x", "LOGIC-001", 16, 1, "'='"),
    ("idle [ ] alias x =", "LOGIC-001", 18, 1, "a name"),
    ("idle [ ] alias x = idle busy [ ]", "LOGIC-001", 24, 4, "unexpected 'busy'"),
    ("idle [ opn -> idle ]", "LOGIC-002", 7, 3, "did you mean 'open'?"),
    ("idle [ zzz -> idle ]", "LOGIC-002", 7, 3, "there is: close, open, read"),
    ("idle [ open -> bussy ] busy [ ]", "LOGIC-003", 15, 5, "did you mean 'busy'?"),
    ("idle [ default nowhere ]", "LOGIC-003", 15, 7, "unknown state 'nowhere'"),
    ("idle [ ] alias x = idle, idel", "LOGIC-003", 25, 4, "did you mean 'idle'?"),
    ("idle [ ] idle [ ]", "LOGIC-004", 9, 4, "defined twice"),
    ("idle [ ] alias idle = idle", "LOGIC-004", 15, 4, "name of a state"),
    ("idle [ ] alias fail = idle", "LOGIC-004", 15, 4, "name of a state"),
    ("idle [ ] alias x = idle alias x = idle", "LOGIC-004", 30, 1, "defined twice"),
    ("idle [ open -> idle open -> fail ]", "LOGIC-005", 20, 4, "the first leads to 'idle'"),
    ("idle [ default idle default fail ]", "LOGIC-005", 28, 4, "two defaults"),
    ("fail [ ]", "LOGIC-006", 0, 4, "cannot be declared"),
]

ERE_FAULTS = [
    ("", "LOGIC-001", 0, 1, "epsilon"),
    ("open |", "LOGIC-001", 6, 1, "an event"),
    ("| open", "LOGIC-001", 0, 1, "unexpected '|'"),
    ("open & & read", "LOGIC-001", 7, 1, "unexpected '&'"),
    ("~", "LOGIC-001", 1, 1, "ends too early"),
    ("* open", "LOGIC-001", 0, 1, "unexpected '*'"),
    ("(open", "LOGIC-001", 5, 1, "')'"),
    ("(open  ", "LOGIC-001", 5, 1, "')'"),
    ("open)", "LOGIC-001", 4, 1, "unexpected ')'"),
    ("()", "LOGIC-001", 1, 1, "unexpected ')'"),
    ("open^", "LOGIC-001", 5, 1, "a number"),
    ("open^read", "LOGIC-001", 5, 4, "a number"),
    ("open 3", "LOGIC-001", 5, 1, "unexpected"),
    ("open?", "LOGIC-001", 4, 1, "unexpected character '?'"),
    ("open\n\tclose $", "LOGIC-001", 12, 1, "unexpected character '$'"),
    ("open reed", "LOGIC-002", 5, 4, "did you mean 'read'?"),
    ("open // read\n  clse", "LOGIC-002", 15, 4, "did you mean 'close'?"),
    ("open^100001", "LOGIC-007", 4, 1, "too large"),
    ("open^" + "9" * 5000, "LOGIC-007", 4, 1, "too large"),
    ("(read^1000)^1000", "LOGIC-007", 11, 1, "too large"),
    ("~" * 200 + "open", "LOGIC-008", 100, 1, "nested"),
    ("open" + "*" * 5000, "LOGIC-008", 103, 1, "nested"),
    ("(open " * 300 + ")*" * 300, "LOGIC-008", None, 1, "nested"),
]


@pytest.mark.parametrize(
    ("logic", "text", "code", "offset", "length", "words"),
    [("fsm", *fault) for fault in FSM_FAULTS] + [("ere", *fault) for fault in ERE_FAULTS],
    ids=lambda value: value[:40] if isinstance(value, str) else None,
)
def test_fault_is_placed_and_explained(logic, text, code, offset, length, words):
    with pytest.raises(FormulaError) as caught:
        load_logic(logic).parse(text, EVENTS)
    error = caught.value
    assert error.code == code
    if offset is not None:
        assert (error.offset, error.length) == (offset, length)
    assert words in f"{error.message} {error.hint}"
    assert code in MESSAGES


@pytest.mark.parametrize("word", ["empty", "epsilon"])
def test_word_of_the_logic_that_is_also_an_event_is_refused_where_it_is_used(word):
    ere = load_logic("ere")
    with pytest.raises(FormulaError, match="also the name of an event") as caught:
        ere.parse(f"open {word}", ("open", word))
    assert (caught.value.code, caught.value.offset, caught.value.length) == ("LOGIC-006", 5, len(word))
    ere.parse("open", ("open", word))


MANY = " ".join(f"e{number}" for number in range(3000))


@pytest.mark.parametrize("text", ["(a | b)* a (a | b)^30", "a^60000", "(a | epsilon)^3000 b", MANY])
def test_machine_that_would_explode_is_refused(text):
    with pytest.raises(LogicError, match="too large") as caught:
        compiled("ere", text, "a b " + MANY)
    assert caught.value.code == "LOGIC-007"


def test_long_formulas_need_no_deep_stack():
    machine = compiled("ere", "a b " * 1500, "a b")
    assert len(machine.table) == 3002
    chain = " ".join(f"q{number} [ a -> q{number + 1} ]" for number in range(2000)) + " q2000 [ a -> q0 ]"
    assert len(compiled("fsm", chain, "a", "q0").table) == 2001


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("open|read&close", "open | read & close"),
        ("(open|read)&close", "(open | read) & close"),
        ("~open*", "~open*"),
        ("(~open)*", "(~open)*"),
        ("~open read", "~open read"),
        ("~(open read)", "~(open read)"),
        ("open (read close)", "open read close"),
        ("(open (read | close))^2+", "(open (read | close))^2+"),
        ("open^3read", "open^3 read"),
        ("open /* x | y */ read # z", "open read"),
    ],
)
def test_precedence_shows_in_the_canonical_text(text, canonical):
    ere = load_logic("ere")
    assert ere.print(ere.parse(text, EVENTS)) == canonical


def test_machine_text_is_read_with_and_without_commas():
    fsm = load_logic("fsm")
    one = fsm.parse("a[open->b,close->a,]b[default fail]alias x=a,fail,a", EVENTS)
    assert fsm.print(one) == "a [ open -> b, close -> a ]\nb [ default fail ]\nalias x = a, fail"
    assert fsm.parse("a [open -> b close -> a] b [default fail] alias x = a, fail // end", EVENTS) == one
