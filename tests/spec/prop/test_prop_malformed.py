"""Every fault of a property file is reported at its place, with its code, and nothing else is."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from mopsus.spec import SpecError, parse_file
from mopsus.spec.source import Source

CASES = tomllib.loads(Path(__file__).with_name("malformed.toml").read_text(encoding="utf-8"))["case"]

MARK = "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_faults(case):
    pieces = case["text"].split(MARK)
    source = Source("".join(pieces), "p.prop")
    offsets = [sum(map(len, pieces[: number + 1])) for number in range(len(pieces) - 1)]
    with pytest.raises(SpecError) as caught:
        parse_file(source.text, "p.prop")
    found = [(each.code, each.span.line, each.span.column) for each in caught.value.diagnostics]
    places = [source.span(offset, offset) for offset in offsets]
    wanted = [(code, place.line, place.column) for code, place in zip(case["codes"], places, strict=True)]
    assert found == wanted, str(caught.value)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("state init { transition { event f() sucess init } }", "did you mean 'success'?"),
        ("initialisation { x = 1 }", "did you mean 'initialization'?"),
        ("// a comment", "a comment begins with '#'"),
        ("state init { transition { event f(x y) success init } }", "expected ':', 'as', ')' or ','"),
    ],
)
def test_hints_say_what_was_probably_meant(text, hint):
    with pytest.raises(SpecError) as caught:
        parse_file(text, "p.prop")
    assert caught.value.hint == hint


def test_unknown_names_are_told_with_the_nearest_known_one():
    with pytest.raises(SpecError) as caught:
        parse_file("state init { transition { event f() success opend } }\nstate opened", "p.prop")
    assert caught.value.hint == "did you mean 'opened'?"
