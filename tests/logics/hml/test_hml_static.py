"""What is found in a formula with data before anything runs: section 7.4 of the reference, scoping, and remarks."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle.components import happening, occurrence, start
from oracle.modal import actions, happenings

from mopsus.logics import FormulaError, LogicError, compile_formula, compile_spec, load_logic
from mopsus.logics.hml.check import _always, _possible
from mopsus.logics.hml.compile import Reading
from mopsus.logics.hml.erlang import parse_form
from mopsus.logics.hml.matching import fits
from mopsus.logics.hml.reference import verdicts
from mopsus.logics.hml.select import selector
from mopsus.spec import SpecError, parse
from mopsus.spec.hml.events import FIELDS
from mopsus.spec.source import Source


def compiled(text: str, **asked: bool):
    spec = next(iter(parse(text, "case.hml").values()))
    return compile_spec(spec, Source(text, "case.hml"), **asked)


def found(text: str, **asked: bool) -> list[tuple[str, int]]:
    """Codes and columns of the remarks on a text of one line."""
    return [(each.code, each.span.column) for each in compiled(text, **asked).warnings if each.span]


@pytest.mark.parametrize(
    ("text", "code", "column"),
    [
        pytest.param("with m:f() monitor ff", "SPEC-070", 22, id="E01"),
        pytest.param("with m:f() monitor and().", "LOGIC-001", 24, id="E03"),
        pytest.param("with m:f() monitor and([_ ? a]X).", "LOGIC-072", 31, id="E05"),
        pytest.param("with m:f() monitor and([_ ? a when Z > 1]ff).", "LOGIC-071", 36, id="E06"),
        pytest.param("with m:f() monitor and([_ ? Z]Z).", "LOGIC-073", 31, id="E07"),
        pytest.param("with m:f() monitor max(X. and([_ ? X]X)).", "LOGIC-073", 36, id="E08"),
        pytest.param("with m:f() monitor max(X. X).", "LOGIC-070", 27, id="E09"),
        pytest.param("with m:f() check max X.(X and [{_ ? a}]ff).", "LOGIC-070", 25, id="E10"),
        pytest.param("with m:f() monitor and([_ ? A when A ++ [3] =:= [1,3]]ff).", "LOGIC-074", 38, id="E20"),
        pytest.param("with m:f() monitor [_ ? a]ff or tt.", "LOGIC-076", 20, id="or in shml"),
        pytest.param("with m:f() monitor <{_ ? a}>tt.", "LOGIC-076", 20, id="possibility in shml"),
        pytest.param("with m:f(A) monitor [_ ? ^B]ff.", "LOGIC-071", 26, id="pin of nothing"),
        pytest.param("with m:f(X) check max X.([_]X).", "LOGIC-073", 23, id="fixed point named like data"),
        pytest.param("with m:f() check max X.([_ ? A when A > X]X).", "LOGIC-073", 41, id="fixed point as data"),
        pytest.param("with m:f() check [_ ? A when _ > A]tt.", "LOGIC-074", 30, id="wildcard in a guard"),
        pytest.param("with m:f() check [_ ? A when ^A > 1]tt.", "LOGIC-074", 30, id="pin in a guard"),
        pytest.param("with m:f() check [_ ? A when A =:= #{}]tt.", "LOGIC-074", 36, id="map in a guard"),
        pytest.param("with m:f() check max X.(max Y.([_]X and X)).", "LOGIC-070", 41, id="through another loop"),
    ],
)
def test_refused(text, code, column):
    with pytest.raises((LogicError, SpecError)) as raised:
        compiled(text)
    diagnostic = raised.value.diagnostics[0]
    assert (diagnostic.code, diagnostic.span.line, diagnostic.span.column) == (code, 1, column)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("with m:f() monitor tt.", id="E02"),
        pytest.param("with m:f() monitor and([_ ? a][_ ? b]ff).", id="E04"),
        pytest.param("with m:f() monitor and([_ ? a]ff), with m:f() monitor and([_ ? b]ff).", id="E12"),
        pytest.param("with m:f() check [{_ ? a}]ff, with m:f() check [{_ ? b}]ff.", id="E13"),
        pytest.param("with m:f() monitor and([_ ? A when is_pid(A)]ff).", id="E14"),
        pytest.param("with m:f() check [_ ? a]ff.", id="E15"),
        pytest.param("with m:f() check max(X. [{_ ? a}]X).", id="E16"),
        pytest.param("with m:f() monitor and([P -> C, w:go() when P =/= C]ff).", id="E18"),
        pytest.param("with m:f() monitor and([_P -> _C, _M:_F(_A)]ff).", id="E19"),
    ],
)
def test_accepted(text):
    assert {each.code for each in compiled(text).warnings} <= {"LOGIC-022"}


@pytest.mark.parametrize(
    "text", ["with m:f() monitor tt", "with m:f() monitor and([_ ? a][_ ? b]ff)", "with m:f() monitor [_ ? a]ff"]
)
def test_normal_form_is_stricter(text):
    """E02 and E04: what detectEr itself refuses."""
    with pytest.raises(FormulaError):
        parse_form(text, normal=True)


def test_normal_form_takes_what_detecter_takes():
    text = "with m:f(_) monitor max(X. and([_ ? _]X, [_:_ ! {left, N} when N < 0]ff))"
    assert parse_form(text, normal=True) == parse_form(text)


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        pytest.param("with m:f() check [{_ ? 'abc'}]ff.", "recv(W,abc)", "rejection", id="E17"),
        pytest.param("with m:f() monitor and([_ ? 1 + 2]ff).", "recv(W,3)", "rejection", id="E21"),
        pytest.param("with m:f() monitor tt.", "recv(W,3)", "inconclusive", id="E02"),
    ],
)
def test_meaning_of_accepted(text, line, expected):
    prop = next(iter(parse(text, "case.hml").values())).properties[0]
    whole = load_logic(prop.logic).parse(prop.formula, ())
    word = [start("m", "f"), happening(occurrence(line))]
    assert verdicts(Reading(prop.logic == "maxhml"), whole, word)[-1] == expected


def test_e22_the_number_of_patterns_is_the_arity():
    spec = next(iter(parse("with m:f([_T]) monitor ff.", "case.hml").values()))
    selects = selector(spec)
    assert not selects("m", "f", [5], None)
    assert selects("m", "f", [[5]], None)


def test_both_forms_of_a_text_are_properties():
    """E12 and E13: detectEr takes only the first."""
    spec = next(iter(parse("with m:f() check [_ ? a]ff, with m:f() check [_ ? b]ff.", "case.hml").values()))
    assert [prop.name for prop in spec.properties] == ["f", "f_2"]


def test_faults_of_all_forms_are_reported_at_once():
    with pytest.raises(LogicError) as raised:
        compiled("with m:f() check [_ ? a]X,\nwith m:g() check [_ ? B when C]ff,\nwith m:h() check or.")
    assert [(each.span.line, each.code) for each in raised.value.diagnostics] == [
        (1, "LOGIC-072"),
        (2, "LOGIC-071"),
        (3, "LOGIC-001"),
    ]


# ---- remarks


def test_e11_a_clause_that_the_first_match_never_reaches():
    text = "with m:f() monitor max(X. and([_ ? _]X, [_ ? {bad}]ff, [_]X))."
    warning = next(each for each in compiled(text).warnings if each.code == "LOGIC-080")
    assert warning.span.column == 41
    assert warning.message == "whatever fits this clause fits '[_ ? _]' before it (line 1, column 31)"
    assert "both go on here" in warning.hint
    strict = next(each for each in compiled(text, first_match=True).warnings if each.code == "LOGIC-080")
    assert "only the first is taken" in strict.hint


@pytest.mark.parametrize(
    ("first", "second", "overlap"),
    [
        ("_ ? A when A > 0", "_ ? A when A > 5", True),
        ("_ ? A when A > 5", "_ ? B when B =< 5", False),
        ("_ ? A when A =:= 1", "_ ? A when A =/= 1", False),
        ("_ ? A when A =:= 1", "_ ? A when A == 1.0", True),
        ("_ ? A when A =:= 1", "_ ? A when A =:= 1.0", False),
        ("_ ? A when A == 1", "_ ? A when A =/= 1", True),
        ("_ ? A when A < 1; A > 5", "_ ? A when A >= 1, A =< 5", False),
        ("_ ? A when A < 1; A > 5", "_ ? A when A > 1, A =< 6", True),
        ("_ ? {a, B}", "_ ? {b, B}", False),
        ("_ ? {A, A}", "_ ? {1, 2}", False),
        ("_ ? {A, A}", "_ ? {1, B} when B > 1", False),
        ("_ ? {A, {A}}", "_ ? {B, B}", False),
        ("_ ? [A, B]", "_ ? [C | D] when D =:= []", True),
        ("_ ? [_]", "_ ? [_, _ | _]", False),
        ("_ ? [_, _ | _]", "_ ? [_ | _]", True),
        ("_ ? #{k := 1}", "_ ? #{k := 2}", False),
        ("_ ? #{k := 1}", "_ ? #{j := 2}", True),
        ("_ ? A", "_:_ ! A", False),
        ("P ? M when P =:= Me", "P ? M when P =/= Me", False),
        ("P ? M when Me < P", "P ? M when P =< Me", False),
        ("_ ? ^Me", "_ ? M when M =/= Me", False),
        ("_ ? A when is_integer(A)", "_ ? A when is_atom(A)", False),
        ("_ ? A when is_number(A)", "_ ? A when is_float(A)", True),
        ("_ ? A when not (A > 5)", "_ ? A when A > 5", False),
        ("_ ? A when A + 1 > 5", "_ ? B when B + 1 =< 5", False),
        ("_ ? A when A rem 2 =:= 0", "_ ? A when A rem 2 =:= 1", False),
        ("_ ? A when A > 1 orelse A < 0", "_ ? A when A =:= 1", False),
        ("{trace, P, 'receive', a}", "_ ? b", False),
        ("{trace, P, 'receive', _}", "_ ? b", True),
        ("{trace, P, exit, _}", "_ ? b", False),
        ("_", "_ ? b", True),
    ],
)
def test_overlaps(first, second, overlap):
    text = f"with m:f(Me) when Me > 0 monitor max X.([{first}]X and [{second}]X)."
    codes = {code for code, _ in found(text)}
    assert bool(codes & {"LOGIC-080", "LOGIC-081"}) is overlap


def test_overlaps_in_mop_files_matter_only_to_the_first_match():
    text = "[recv(x) when x > 0]ff and [recv(x) when x > 5]ff and [recv(x) when x < 0]ff"
    machine = compile_formula("shml", text, ["recv"]).machines[0]
    assert not machine.remarks
    mop = f"S(p) {{\n    event recv(p; m)\n    shml : {text}\n}}\n"
    spec = parse(mop)["S"]
    assert [each.code for each in compile_spec(spec, Source(mop, "s"), first_match=True).warnings] == ["LOGIC-081"]


@given(actions(frozenset()), actions(frozenset()), st.lists(happenings(), max_size=20))
def test_overlaps_are_never_overlooked(first, second, events):
    for event in events:
        both = fits(first, event, {}) is not None and fits(second, event, {}) is not None
        if both:
            assert _possible(first, second)
        if _always(first, second) and fits(second, event, {}) is not None:
            assert fits(first, event, {}) is not None


@given(actions(frozenset()))
def test_an_action_without_a_guard_covers_itself(action):
    alone = replace(action, guard=None)
    assert _possible(alone, alone)
    assert _always(alone, action)


@pytest.mark.parametrize(
    ("guard", "impossible"),
    [
        ("A > 5, A < 3", True),
        ("A > 5, A < 6", False),
        ("A > 5, A < 3; A > 1", False),
        ("1 > 2", True),
        ("false", True),
        ("true", False),
        ("A =:= 1, A =:= 1.0", True),
        ("A == 1, A == 1.0", False),
        ("A < A", True),
        ("A =:= a, is_integer(A)", False),
    ],
)
def test_guards_that_are_never_true(guard, impossible):
    codes = {code for code, _ in found(f"with m:f() monitor [_ ? A when {guard}]ff.")}
    assert ("LOGIC-082" in codes) is impossible


def test_patterns_that_no_event_fits():
    assert ("LOGIC-082", 21) in found("with m:f() monitor [{trace, _, nothing}]ff.")


@pytest.mark.parametrize(
    ("body", "missing"),
    [
        ("[_ ? _]X", "any fork or any send"),
        ("[_ ? _]X and [_ -> _, _:_()]X", "any send or some fork"),
        ("[_ ? {_}]X and [_:_ ! _]X and [_ -> _]X", "some recv"),
        ("[_ ? bad]ff and [_ ? _]X and [_:_ ! _]X and [_ -> _]X", None),
        ("[_]X", None),
        ("[_ ? A when A > 1]X and [_ ? A when A =< 1]X and [_:_ ! _]X", "any fork"),
        ("[_ ? A when A > 1]X and [_ ? A when A < 1]X and [_:_ ! _]X", "any fork or some recv"),
    ],
)
def test_events_that_end_a_loop_without_a_result(body, missing):
    warnings = [each for each in compiled(f"with m:f() monitor max X.({body}).").warnings if each.code == "LOGIC-083"]
    if missing is None:
        assert not warnings
    else:
        assert f"no clause is about {missing}:" in warnings[0].message


def test_unused_variables():
    text = "with m:f(N) monitor [P ? {A, _B, C, C}][P:_ ! D when D > A]ff."
    assert [column for code, column in found(text) if code == "LOGIC-084"] == [10, 22, 41]


# ---- scoping: section 4.4, each rule


def reference(text: str, *messages: object, module: str = "m", function: str = "f", arguments: tuple[object, ...] = ()):
    prop = next(iter(parse(text, "case.hml").values())).properties[0]
    compiled(text)
    word = [start(module, function, *arguments), *(happening(occurrence(f"recv(W,{each})")) for each in messages)]
    return verdicts(Reading(prop.logic == "maxhml"), load_logic(prop.logic).parse(prop.formula, ()), word)[-1]


def test_arguments_are_visible_in_every_guard():
    text = "with m:f(N) monitor [_ ? _][_ ? K when K > N]ff."
    assert reference(text, 0, 4, arguments=(3,)) == "rejection"
    assert reference(text, 0, 3, arguments=(3,)) == "inconclusive"


def test_binders_reach_through_loops():
    text = "with m:f() monitor [_ ? A]max X.([_ ? go]X and [_ ? B when B =:= A]ff)."
    assert reference(text, 7, "go", "go", 7) == "rejection"
    assert reference(text, 7, "go", 8) == "inconclusive"


def test_inner_binders_hide_outer_ones():
    assert reference("with m:f() monitor [_ ? _A][_ ? A when A =:= 2]ff.", 1, 2) == "rejection"
    assert reference("with m:f() monitor [_ ? A][_ ? A when A =:= 2]ff.", 1, 2) == "rejection"


def test_pins_compare_instead():
    text = "with m:f() monitor [_ ? A][_ ? ^A]ff."
    assert reference(text, 1, 2) == "inconclusive"
    assert reference(text, 1, 1) == "rejection"


def test_repetition_in_a_pattern_is_equality():
    assert reference("with m:f() monitor [_ ? {A, A}]ff.", "{1,1}") == "rejection"
    assert reference("with m:f() monitor [_ ? {A, A}]ff.", "{1,2}") == "inconclusive"


def test_inner_loops_hide_outer_ones_of_the_same_name():
    text = "with m:f() monitor max X.([_ ? a]max X.([_ ? b]X and [_ ? c]ff))."
    assert reference(text, "a", "b", "c") == "rejection"
    assert reference(text, "a", "b", "a") == "inconclusive"


def test_siblings_do_not_see_each_other():
    with pytest.raises(LogicError, match="unbound"):
        compiled("with m:f() monitor [_ ? A]tt and [_ ? B when A > B]ff.")


def test_forms_do_not_see_each_other():
    with pytest.raises(LogicError, match="unbound"):
        compiled("with m:f(N) monitor [_ ? A when A > N]ff, with m:f(_) monitor [_ ? A when A > N]ff.")


# ---- formulas of .mop files


@pytest.mark.parametrize(
    ("formula", "code"),
    [
        ("[recv(x)]ff", "LOGIC-075"),
        ("[recv(_, x) when x > y]ff", "LOGIC-071"),
        ("[rcv]ff", "LOGIC-002"),
        ("[recv(_, x) when os.sep == x]ff", "LOGIC-071"),
    ],
)
def test_faults_of_mop_formulas(formula, code):
    spec = parse(f"S(p) {{\n    event recv(p; sender, message)\n    shml : {formula}\n}}\n")["S"]
    with pytest.raises(LogicError) as raised:
        compile_spec(spec)
    assert raised.value.code == code


def test_guards_use_imports_when_they_first_run(tmp_path, monkeypatch):
    (tmp_path / "a_module_of_ours.py").write_text("limit = 3\n")
    monkeypatch.syspath_prepend(tmp_path)
    text = (
        "from a_module_of_ours import limit\n"
        "S(p) {\n    event recv(p; message)\n    shml : [recv(x) when x > limit and len(str(x)) == 1] ff\n}\n"
    )
    import sys

    machine = compile_spec(parse(text)["S"]).machines[0]
    assert "a_module_of_ours" not in sys.modules
    test = next(node for node in machine.nodes if getattr(node, "guard", ())).guard[0][0]
    assert [test.function(value) for value in (4, 3, 10)] == [True, False, False]
    assert "a_module_of_ours" in sys.modules


def test_a_formula_on_its_own_says_how_many_fields_events_have():
    machine = compile_formula("shml", "[send(_, x) when x > 1][recv(_)]ff", ["recv", "send", "stop"]).machines[0]
    assert machine.fields == (1, 2, 0)


def test_events_of_components_are_those_of_the_language():
    spec = next(iter(parse("with m:f() monitor ff.", "case.hml").values()))
    assert {event.name: event.fields for event in spec.events} == FIELDS
    assert [event.name for event in spec.events if event.creation] == ["start"]


def test_long_lists_of_clauses_are_compiled_in_little_time():
    clauses = " and ".join(f"[_ ? A when A =:= {number}]X" for number in range(1000))
    machine = compile_formula("shml", f"with m:f() monitor max X.({clauses})", None).machines[0]
    assert len(machine.nodes) > 1000


WORDS = """
with monitor check when and or max X . ( ) [ ] { } < > tt ff _ ? ! : ** -> A a 1 2.5 , ; =:= > + - not | ^A recv(x) recv
andalso is_atom(A) element(1,A) max X.( [_ ? A] [_ ? A when A > 1] X
"""
PIECES = WORDS.split()
FRAMES = (
    "{}",
    "with m:f(A) check {}",
    "with m:f(A) monitor [{}]ff",
    "[{}]ff",
    "with m:f(A) check max X.({})",
    "[recv(x) when {}]ff",
    "with m:f(A) when {} check ff",
)


@given(st.sampled_from(FRAMES), st.lists(st.sampled_from(PIECES), max_size=14).map(" ".join), st.booleans())
def test_any_formula_is_compiled_or_refused(frame, text, linear):
    try:
        compiled = compile_formula("maxhml" if linear else "shml", frame.replace("{}", text), None)
    except LogicError as error:
        assert error.diagnostics  # noqa: PT017 - that there is an error is not the point
    else:
        assert compiled.machines
