"""What all parsers of formulas share: keywords only where one can stand, exact hints, operators without recursion."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

import pytest

from mopsus.logics import FormulaError, load_logic
from mopsus.logics.operators import OperatorParser, Sign, Takes
from mopsus.logics.text import WORD, Cursor, Kind

NAME = Kind("a name", re.compile(WORD))


def refusal(logic, text, alphabet=("a", "b")):
    with pytest.raises(FormulaError) as caught:
        load_logic(logic).parse(text, alphabet)
    return caught.value


@pytest.mark.parametrize(
    ("logic", "text", "hint"),
    [
        ("ere", "a | ", "'(', '~', 'empty', 'epsilon' or an event"),
        ("ere", "a)", "'&', '(', '*', '+', '^', 'empty', 'epsilon', '|', '~', an event or the end"),
        ("ere", "(a", "'&', '(', ')', '*', '+', '^', 'empty', 'epsilon', '|', '~' or an event"),
        ("ere", "a^", "a number"),
        ("fsm", "x [ a", "'->'"),
        ("fsm", "x [ a -> x", "',', ']', 'default' or a name"),
        ("fsm", "x [ ] ]", "'alias', a name or the end"),
        ("cfg", "S -> a , ,", "an event or a non-terminal"),
        ("srs", "a -> b -> a .", "'.', a symbol or the end"),
        ("srs", "a -> .", "'#epsilon', '#fail', '#succeed' or a symbol"),
        (
            "ltl",
            "[](a =>)",
            "'(', '(*)', '<*>', '<>', '[*]', '[]', 'false', 'not', 'o', 'true', '~(*)', '~o' or an event",
        ),
        ("ltl", "a b", "'<=>', '=>', 'M', 'R', 'S', 'U', 'W', 'and', 'or', 'xor', '~S' or the end"),
        ("hoa", "HOA: v1 ]", "'--BODY--' or a header"),
        ("hoa", "HOA: v1 Acceptance: 1 Inf(x)", "'!' or a number"),
    ],
)
def test_a_hint_names_everything_that_may_stand_there_and_nothing_else(logic, text, hint):
    expected = set(re.split(r", | or (?!a non)", hint))
    assert set(re.split(r", | or (?!a non)", refusal(logic, text).hint.removeprefix("expected "))) == expected


def test_an_operator_that_a_logic_may_lack_is_named_only_where_it_has_it():
    assert "'@'" in refusal("ptcaret", "a and", ("a", "call", "return")).hint
    assert "'@'" not in refusal("ptltl", "a and").hint


def test_a_word_is_a_keyword_only_where_one_can_stand():
    text = "alias [ a -> default ] default [ default default ] alias all = default, alias"
    machine = load_logic("fsm").parse(text, ("a",))
    assert [state.name for state in machine.states] == ["alias", "default"]
    assert machine.states[1].default == "default"
    assert machine.aliases == {"all": ("default", "alias")}
    assert load_logic("cfg").parse("epsilon -> a", ("a",)).start == "epsilon"
    assert load_logic("ltl").print(load_logic("ltl").parse("(S S U) and U", ("S", "U"))) == "(S S U) and U"


def test_literal_words_are_whole_words():
    cursor = Cursor("emptyx empty", (NAME,))
    assert cursor.take("empty") is None
    assert cursor.take(NAME) == "emptyx"
    word = cursor.need("empty")
    assert (word, word.start, word.end) == ("empty", 7, 12)
    assert cursor.ends()


def test_what_stands_at_the_wrong_place_is_named_as_a_whole():
    cursor = Cursor("  /* here */ name", (NAME,))
    assert cursor.peek(NAME) == "name"
    assert cursor.take("(") is None
    error = cursor.refusal()
    assert (error.offset, error.length, error.hint) == (13, 4, "expected '('")
    assert str(error).startswith("unexpected 'name'")


class Brackets(OperatorParser[str, str]):
    """Writes all brackets."""

    SIGNS: ClassVar = {"+": (0, Takes.ALL), "^": (1, Takes.TWO)}

    def leaf(self):
        return self.cursor.take(NAME)

    def prefix(self):
        return Sign("-", 2, Takes.ONE) if self.cursor.take("-") else None

    def infix(self):
        sign = self.cursor.take(*self.SIGNS)
        return None if sign is None else Sign(str(sign), *self.SIGNS[sign])

    def postfix(self, part):
        return f"{part}!" if self.cursor.take("!") else None

    def join(self, signs: Sequence[Sign[str]], parts: Sequence[str]) -> str:
        text = signs[0].op + parts[0] if len(parts) == 1 else signs[0].op.join(parts)
        return f"<{text}>"


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("a", "a"),
        ("a + b + c", "<a+b+c>"),
        ("a ^ b ^ c", "<a^<b^c>>"),
        ("a + b ^ c + d", "<a+<b^c>+d>"),
        ("a ^ b + c ^ d", "<<a^b>+<c^d>>"),
        ("(a + b) + c", "<<a+b>+c>"),
        ("- a ^ b", "<<-a>^b>"),
        ("- - a !", "<-<-a!>>"),
        ("(a + b) ! ^ - (c)", "<<a+b>!^<-c>>"),
    ],
)
def test_operators_bind_by_their_level(text, read):
    assert Brackets(Cursor(text, (NAME,))).read() == read


def test_no_expression_is_too_deep_to_be_read():
    deep = 20_000
    assert Brackets(Cursor("(" * deep + "a" + ")" * deep, (NAME,))).read() == "a"
    with pytest.raises(FormulaError, match="ends too early"):
        Brackets(Cursor("-(" * deep + "a", (NAME,))).read()
