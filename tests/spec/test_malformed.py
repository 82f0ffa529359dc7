"""Every malformed specification is answered with the right codes at the right places, and with nothing else."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from mopsus.spec import MESSAGES, SpecError, parse_file
from mopsus.spec.source import Source

CASES = tomllib.loads(Path(__file__).with_name("malformed.toml").read_text(encoding="utf-8"))["case"]

MARK = "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}"


def marked(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The text without its marks, and the line and column of each."""
    pieces = text.split(MARK)
    clean = Source("".join(pieces), "")
    offset, places = 0, []
    for piece in pieces[:-1]:
        offset += len(piece)
        span = clean.span(offset, offset + 1)
        places.append((span.line, span.column))
    return clean.text, places


def test_there_are_enough_cases():
    assert len(CASES) >= 80
    assert len({case["name"] for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_malformed(case):
    text, places = marked(case["text"])
    with pytest.raises(SpecError) as caught:
        parse_file(text, "t.mop", logics=("ere", "fsm"))
    found = [(d.code, d.span.line, d.span.column) for d in caught.value.diagnostics]
    assert found == [(code, *place) for code, place in zip(case["codes"], places, strict=True)], str(caught.value)
    assert all(d.source == text.split("\n")[d.span.line - 1] for d in caught.value.diagnostics)
    assert all(d.code in MESSAGES for d in caught.value.diagnostics)
    assert f"error[{caught.value.code}]: {caught.value.message}" in str(caught.value)
