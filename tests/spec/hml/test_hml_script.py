"""`.hml` texts: forms become properties, faults have places, and the canonical layout changes nothing but space."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle.modal import wholes

import mopsus
from mopsus.logics import compile_spec, load_logic
from mopsus.logics.hml.printer import print_whole
from mopsus.spec import SpecError, format_file, load_file, parse, print_spec
from mopsus.spec.hml.tokens import tokens

TEXT = """\
% Workers answer whoever asked.
with jobs:worker(_)  % all of them
monitor
  and([_ <- _, jobs:worker(_)]
    max(X.and(
      [_ ? _]X,
      % a bad one
      [_:_ ! {left,N} when N<0]ff)))  % negative
,
with jobs:'boss of all'(check, "a % b") when a =:= check check [{_ ? 'it is'}] ff.
% the end
"""

CANONICAL = """\
% Workers answer whoever asked.
with jobs:worker(_)  % all of them
monitor
  and(
    [_ <- _, jobs:worker(_)] max(X.
      and(
        [_ ? _]X,
        % a bad one
        [_:_ ! {left, N} when N < 0]ff
      )
    )
  ),  % negative

with jobs:'boss of all'(check, "a % b") when a =:= check
check
  [{_ ? 'it is'}]ff.

% the end
"""


def spec_of(text: str, name: str = "my-jobs.2.hml") -> mopsus.Spec:
    return next(iter(parse(text, name).values()))


def test_a_form_is_a_property():
    spec = spec_of(TEXT)
    assert spec.name == "my_jobs_2"
    assert [(prop.name, prop.logic) for prop in spec.properties] == [("worker", "shml"), ("boss_of_all", "maxhml")]
    assert [[handler.category for handler in prop.handlers] for prop in spec.properties] == [
        ["rejection", "inconclusive"],
        ["rejection", "acceptance"],
    ]
    assert spec.properties[1].formula == (
        """with jobs:'boss of all'(check, "a % b") when a =:= check check [{_ ? 'it is'}] ff"""
    )


def test_comments_are_not_part_of_a_formula():
    assert "%" not in spec_of(TEXT).properties[0].formula


def test_files_are_loaded_by_their_suffix(tmp_path):
    file = tmp_path / "jobs.hml"
    file.write_text(TEXT)
    assert list(mopsus.load(file)) == ["jobs"]
    assert load_file(file).warnings == ()


def test_canonical_layout():
    assert format_file(TEXT, "jobs.hml") == CANONICAL
    assert format_file(CANONICAL, "jobs.hml") == CANONICAL


@pytest.mark.parametrize("operator", ["!=", "<=", "&&", "||"])
def test_operators_of_other_languages_stay_whole(operator):
    """They are told as such, which must not depend on the layout."""
    text = f"with s:l(_) monitor [_ <- _, s:l(_)] and([_ ! A when A{operator}3]ff).\n"
    assert f"A {operator} 3" in format_file(text, "a.hml")


def test_the_specification_can_be_written_as_a_mop_file():
    spec = spec_of("with jobs:worker(_) monitor [_ ? {a, B} when B > 1]ff.")
    again = parse(print_spec(spec))[spec.name]
    compile_spec(again)
    assert [prop.formula for prop in again.properties] == [prop.formula for prop in spec.properties]
    assert again.events == spec.events


@given(st.lists(st.booleans().flatmap(wholes), min_size=1, max_size=3), st.integers(0, 3))
def test_layout_keeps_the_tokens_and_is_stable(forms, comments):
    text = ",\n".join(map(print_whole, forms)) + "."
    pieces = [token.text for token in tokens(text)]
    for place in range(comments):
        pieces.insert((place * 7) % len(pieces), "% a comment\n")
    text = " ".join(pieces)
    laid = format_file(text, "a.hml")
    assert sorted(token.text.rstrip() for token in tokens(laid)) == sorted(each.rstrip() for each in pieces)
    assert format_file(laid, "a.hml") == laid
    code = [token.text for token in tokens(laid) if token.kind != "comment"]
    assert code == [each for each in pieces if not each.startswith("%")]


@given(st.lists(st.booleans().flatmap(wholes), min_size=1, max_size=3))
def test_formulas_are_parsed_again_by_their_logics(forms):
    spec = spec_of(",\n".join(map(print_whole, forms)) + ".")
    assert [load_logic(prop.logic).parse(prop.formula, ()) for prop in spec.properties] == forms


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("", 1, 1, "a form begins with 'with'"),
        ("ff.", 1, 1, "a form begins with 'with'"),
        ("with m:f() monitor ff", 1, 22, "the last form is not ended"),
        ("with m:f() monitor ff,", 1, 22, "the last form is not ended"),
        ("with m:f() monitor ff\nwith m:g() monitor ff.", 1, 22, "two forms are not separated"),
        ("with m:f() monitor ff.\nwith m:g() monitor ff.", 1, 22, "two forms are not separated"),
        ("with m:f() ff.", 1, 1, "this form has neither 'monitor' nor 'check'"),
        ("with m:f() monitor (ff.", 1, 20, "this '(' is never closed"),
        ("with m:f() monitor (ff].", 1, 23, "']' closes nothing"),
        ("with m:f() monitor ff).", 1, 22, "')' closes nothing"),
        ('with m:f("a) monitor ff.', 1, 10, "this string is never closed"),
        ("with m:f('a) monitor ff.", 1, 10, "this quoted atom is never closed"),
    ],
)
def test_faults(text, line, column, message):
    with pytest.raises(SpecError) as raised:
        parse(text, "case.hml")
    first = raised.value.diagnostics[0]
    assert (first.span.line, first.span.column, first.message) == (line, column, message)
    assert first.hint


def test_all_faults_are_reported_at_once():
    with pytest.raises(SpecError) as raised:
        parse("with m:f() monitor (ff,\nwith m:g() tt,\nwith m:h() check ff", "case.hml")
    assert [diagnostic.span.line for diagnostic in raised.value.diagnostics] == [1, 2, 3]


PIECES = ["with m:f() ", "monitor ", "ff", ",", ".", "(", "]", "%\n"]


@given(st.one_of(st.text(max_size=60), st.lists(st.sampled_from(PIECES)).map("".join)))
def test_any_text_is_read_or_refused(text):
    try:
        spec = spec_of(text)
    except SpecError as error:
        places = [diagnostic.span for diagnostic in error.diagnostics]
    else:
        places = [prop.span for prop in spec.properties]
    assert places
    assert None not in places


@pytest.mark.parametrize("text", ['"\\' * 100_000, "a." * 100_000], ids=["quotes", "dots"])
def test_long_texts_are_read_in_the_time_that_they_are_long(text):
    """A minute and more when the rest of the text was looked at from each place."""
    with pytest.raises(SpecError, match="SPEC-070"):
        parse(text, "a.hml")
