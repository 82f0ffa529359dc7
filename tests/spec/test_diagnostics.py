"""Findings are rendered with the caret under the fault, whatever the line is made of."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from mopsus.model import Diagnostic, Span
from mopsus.spec import render, suggest


def test_the_form():
    span = Span("specs/door.mop", 7, 18, 7, 19)
    found = Diagnostic("SPEC-014", "operator 'U' has no bound", span, "write U[a,b]", "G (open -> alarm U closed)")
    assert render(found) == (
        "error[SPEC-014]: operator 'U' has no bound\n"
        "  --> specs/door.mop:7:18\n"
        "   |  G (open -> alarm U closed)\n"
        "   |                   ^ write U[a,b]"
    )


def test_a_warning_without_a_place():
    assert render(Diagnostic("X-1", "odd", hint="look", warning=True)) == "warning[X-1]: odd\n   = look"


def test_a_span_over_lines_is_marked_to_the_end_of_its_first():
    found = Diagnostic("X-1", "odd", Span("f", 1, 3, 4, 1), source="a bcd  ")
    assert render(found).endswith("   |  a bcd\n   |    ^^^")


def test_tabs_and_wide_letters():
    found = Diagnostic("X-1", "odd", Span("f", 1, 5, 1, 7), source="\ta日\tbc d")
    source, caret = render(found).split("\n")[-2:]
    assert source == "   |      a日 bc d"
    assert caret == "   |          ^^"


def test_a_long_line_is_cut_around_the_fault():
    found = Diagnostic("X-1", "odd", Span("f", 1, 5001, 1, 5004), source="x" * 5000 + "bad" + "y" * 5000)
    source, caret = render(found).split("\n")[-2:]
    assert len(source) < 200
    assert source[caret.index("^") : caret.rindex("^") + 1] == "bad"


def test_no_control_character_reaches_the_terminal():
    found = Diagnostic("X-1", "odd\x1b[2J", Span("f\x07", 1, 1, 1, 2), source="\x1b[31mred\r")
    assert not any(unicodedata.category(c) == "Cc" for c in render(found) if c != "\n")


@given(st.text(max_size=40).filter(lambda text: "\n" not in text), st.integers(1, 45), st.integers(0, 10))
def test_any_line_can_be_rendered(source, column, length):
    lines = render(Diagnostic("X-1", "odd", Span("f", 1, column, 1, column + length), "h", source)).split("\n")
    assert lines[0] == "error[X-1]: odd"
    assert len(lines) == (4 if source.strip() else 3)


def test_suggestions():
    assert suggest("updat", ["update", "create"]) == "update"
    assert suggest("NEXT", ["next", "hasnext"]) == "next"
    assert suggest("zzz", ["next"]) is None
    assert suggest("x", []) is None
