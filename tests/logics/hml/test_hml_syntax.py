"""The two syntaxes of formulas with data: what is read, how it is printed, and that nothing crashes the parser."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle.modal import wholes

from mopsus.logics import FormulaError, load_logic
from mopsus.logics.hml.erlang import parse_bare, parse_form
from mopsus.logics.hml.formula import (
    Action,
    Constant,
    ListTerm,
    MapTerm,
    Modality,
    Name,
    Pin,
    PythonGuard,
    Truth,
    TupleTerm,
    Wildcard,
)
from mopsus.logics.hml.parse import parse_whole
from mopsus.logics.hml.printer import print_whole
from mopsus.logics.hml.python import parse_mop
from mopsus.model.term import Atom, Pid, Reference, String


@given(st.booleans().flatmap(wholes))
def test_printing_and_parsing_gives_the_same_formula(whole):
    text = print_whole(whole)
    assert parse_whole(text, ()) == whole
    assert print_whole(parse_whole(text, ())) == text


@pytest.mark.parametrize(
    "text",
    [
        "max X.([recv(('job', id)) when id > 3]X and [send(_, ('done', k))]ff)",
        "[_]ff",
        "[recv]tt",
        "<{recv(x) when x in {1, 2}}>tt or [stop()]ff",
        "[recv([first, *rest])][recv(^first)]ff",
        "[recv({'id': n, 'more': [_, -1.5]})]ff",
        "[recv(Point(x, y)) when x > y]ff",
        "[recv((one,))](tt and ff)",
        "[recv(b'ab')][recv(None)][recv(True)]ff",
        "[recv(())][recv([])][recv({})]ff",
    ],
)
def test_python_syntax_in_canonical_form(text):
    assert print_whole(parse_mop(text)) == text


def action_of(text: str) -> Action:
    formula = parse_bare(f"[{text}]ff").formula
    assert isinstance(formula, Modality)
    return formula.action


def message_of(text: str) -> object:
    patterns = action_of(f"_ ? {text}").patterns
    assert patterns is not None
    return patterns[1]


@pytest.mark.parametrize(
    ("text", "event", "patterns"),
    [
        ("P:Q ! x", "send", (Name("P"), Name("Q"), Constant(Atom("x")))),
        ("{P:Q ! x}", "send", (Name("P"), Name("Q"), Constant(Atom("x")))),
        ("P ? x", "recv", (Name("P"), Constant(Atom("x")))),
        ("P ** x", "exit", (Name("P"), Constant(Atom("x")))),
        ("^P ? x", "recv", (Pin("P"), Constant(Atom("x")))),
        ("<0.1.2> ? x", "recv", (Constant(Pid("<0.1.2>")), Constant(Atom("x")))),
        (
            "P -> C, m:f(A, 1)",
            "fork",
            (Name("P"), Name("C"), Constant(Atom("m")), Constant(Atom("f")), ListTerm((Name("A"), Constant(1)))),
        ),
        (
            "P <- _, M:F()",
            "init",
            (Name("P"), Wildcard(), Name("M"), Name("F"), ListTerm(())),
        ),
        (
            "_ -> _, pkg.mod:Class.run(A, limit = 3)",
            "fork",
            (
                Wildcard(),
                Wildcard(),
                Constant(Atom("pkg.mod")),
                Constant(Atom("Class.run")),
                ListTerm((Name("A"), MapTerm(((Constant(Atom("limit")), Constant(3)),)))),
            ),
        ),
    ],
)
def test_actions(text, event, patterns):
    action = action_of(text)
    assert (action.event, action.patterns) == (event, patterns)


def test_raw_patterns():
    assert action_of("_") == Action(None)
    raw = action_of("{trace, P, 'receive', M}")
    assert raw.whole
    assert raw.patterns == (TupleTerm((Constant(Atom("trace")), Name("P"), Constant(Atom("receive")), Name("M"))),)


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("'abc'", Constant(Atom("abc"))),
        ("'with space'", Constant(Atom("with space"))),
        ("android", Constant(Atom("android"))),
        ("monitor", Constant(Atom("monitor"))),
        ("check", Constant(Atom("check"))),
        ("a@b", Constant(Atom("a@b"))),
        ('"hi" " there"', Constant(String("hi there"))),
        (r'"a\"b\\"', Constant(String('a"b\\'))),
        ("-1", Constant(-1)),
        ("2.5e3", Constant(2500.0)),
        ("1 + 2", Constant(3)),
        ("(1 bsl 4) bor 1", Constant(17)),
        ("7 div -2", Constant(-3)),
        ("#Ref<0.1.2.3>", Constant(Reference("#Ref<0.1.2.3>"))),
        ('<<1, 2, "a">>', Constant(b"\x01\x02a")),
        ("[a, B | T]", ListTerm((Constant(Atom("a")), Name("B")), Name("T"))),
        ("#{k := V, 2 := _}", MapTerm(((Constant(Atom("k")), Name("V")), (Constant(2), Wildcard())))),
        ("{}", TupleTerm(())),
        ("% comment\n _", Wildcard()),
    ],
)
def test_terms(text, term):
    assert message_of(text) == term


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("A or B and C", "A or B and C"),
        ("(A or B) and C", "(A or B) and C"),
        ("A - (B - C)", "A - (B - C)"),
        ("A - B - C", "A - B - C"),
        ("not (A > B)", "not (A > B)"),
        ("A andalso (B orelse C)", "A andalso (B orelse C)"),
        ("A andalso B andalso C", "A andalso B andalso C"),
        ("- A * 2 == 1, B; C", "-A * 2 == 1, B; C"),
        ("element(1, A) =:= {x, [B]}", "element(1, A) =:= {x, [B]}"),
        ("2 - -1 > A", "2 - -1 > A"),
    ],
)
def test_guards(text, printed):
    form = parse_form(f"with m:f(A, B, C) when {text} check tt")
    assert print_whole(form) == f"with m:f(A, B, C) when {printed} check tt"


def test_python_guards_end_where_python_says():
    formula = parse_mop('[recv(x) when x == "]" or x[0] in [1, 2]] ff').formula
    assert isinstance(formula, Modality)
    assert formula.action.guard == PythonGuard('x == "]" or x[0] in [1, 2]')
    assert formula.then == Truth(False)


@pytest.mark.parametrize(
    ("text", "offset", "hint"),
    [
        ("with m:f() monitor [_ ? a when A <= 1]ff", 33, "write '=<'"),
        ("with m:f() monitor [_ ? a when A != 1]ff", 33, "write '=/=' or '/='"),
        ("with m:f() check <_ ? a>tt", 18, "write <{…}>: without braces its end is not clear"),
        ("with m:f() monitor min X.(ff)", 19, "expected '(', '<', '[', 'and', 'ff', 'max', 'tt' or a variable"),
        ("with m:f() monitor [_ ? A when is_pit(A)]ff", 31, "did you mean 'is_pid'?"),
        ("with m:f() monitor [_ ? A when 1 < A < 3]ff", 37, "join two comparisons with 'andalso'"),
        ("with m:f() monitor [_ ? A + 1]ff", 26, "bind a variable here and compare it in a guard: when …"),
        ("with m:f(k = 1, A) monitor ff", 16, "arguments by name come last"),
        ("with m:f() monitor [_ ? <<300>>]ff", 26, "a binary consists of numbers from 0 to 255 and strings"),
        ("with m:f() monitor [_ ? [X || X]]ff", 24, "write out the elements, or compare them in the guard"),
        ("with m:f() monitor max X. [_ ? a]X", 26, "expected '('"),
        ("<recv(x) when x > 1>tt", 1, "write <{…}>: without braces the end of the guard is not clear"),
        ("[recv(x) when ]ff", 14, "write a Python expression after it"),
        ("[recv(x) when x >]ff", 17, ""),
        ("[recv({x: 1})]ff", 7, 'write {"key": pattern}'),
        ("min X.(tt)", 0, "only greatest fixed points can be monitored: max"),
    ],
)
def test_errors_say_where_and_what_to_do(text, offset, hint):
    with pytest.raises(FormulaError) as raised:
        parse_whole(text, ())
    assert (raised.value.offset, raised.value.hint) == (offset, hint)


@pytest.mark.parametrize("form", ["with m:f() check {}", "{}"])
@pytest.mark.parametrize(
    "text",
    ["(" * 500 + "tt" + ")" * 500, "[_]" * 500 + "tt", "max X.(" * 500, "[_ ? " + "{" * 500, "[x(" + "[" * 500],
)
def test_deep_formulas_are_refused(form, text):
    with pytest.raises(FormulaError):
        parse_whole(form.replace("{}", text), ())


def test_long_formulas_are_read():
    count = 3000
    whole = parse_whole("with m:f() check " + " and ".join(["[_ ? a]ff"] * count), ())
    assert len(whole.formula.parts) == count


WORDS = """
with monitor check when and or max X . ( ) [ ] { } < > tt ff _ ? ! : ** -> <- A a 1 2.5 "s" 'q' , ; =:= > + - not
<<1>> #{ := | || ^A m:f( recv(x) recv in True * % <0.1.2> #Ref< andalso (( ]] " '
"""
PIECES = (*WORDS.split(), "\n")


def offset_of_fault(text: str) -> int | None:
    try:
        parse_whole(text, ())
    except FormulaError as error:
        return error.offset
    return None


@given(st.lists(st.sampled_from(PIECES), max_size=30).map(" ".join))
def test_any_text_is_read_or_refused(text):
    for each in (text, "with m:f(A) check " + text, "with m:f(A) monitor [" + text + "]ff", "[" + text + "]ff"):
        offset = offset_of_fault(each)
        if offset is None:
            whole = parse_whole(each, ())
            assert parse_whole(print_whole(whole), ()) == whole
        else:
            assert 0 <= offset <= len(each)


@given(st.text(max_size=40))
def test_any_characters_are_read_or_refused(text):
    assert 0 <= (offset_of_fault(text) or 0) <= len(text)


def test_the_logics_are_found_by_name():
    assert load_logic("shml").default_goal == load_logic("maxhml").default_goal == ("rejection",)
