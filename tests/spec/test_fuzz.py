"""Whatever the text, parsing it either succeeds or raises `SpecError`; nothing else, and soon."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.damage import damage

from mopsus.spec import SpecError, format_file, parse_file

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "specs").glob("*.mop"))
CASES = int(os.environ.get("MOPSUS_CASES", "5000"))
SHARES = 8
"""Long tests come in so many parts, so that they can run side by side."""
PIECES = [
    *(
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        "@",
        ":",
        ";",
        ",",
        "!",
        "=",
        "&&",
        "||",
        "#",
        "//",
        "/*",
        "*/",
        "\\",
        '"',
        "'",
        '"""',
    ),
    *("\n", "\t", "\0", "é", "f'{", "event ", "creation ", "var ", "ere : ", "@match ", "row(", "named(", "bind("),
    "condition(",
]


def survives(text: str) -> bool:
    """Parse a text; is it a specification?"""
    try:
        file = parse_file(text, logics=("ere", "fsm"))
    except SpecError as error:
        check_error(error, text)
        return False
    printed = format_file(text, logics=("ere", "fsm"))
    again = parse_file(printed, logics=("ere", "fsm"))
    assert again.specs == file.specs
    assert format_file(printed, logics=("ere", "fsm")) == printed
    return True


def check_error(error: SpecError, text: str) -> None:
    """An error can be shown, and speaks of lines that are there."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert str(error)
    assert error.diagnostics
    assert all(found.span is None or 1 <= found.span.line <= len(lines) for found in error.diagnostics)


def run_mutations(seed: int, cases: int) -> tuple[int, int]:
    source = random.Random(seed)
    texts = [path.read_text(encoding="utf-8") for path in EXAMPLES]
    good = bad = 0
    for _ in range(cases):
        mutated = damage(source.choice(texts), source, PIECES)
        try:
            accepted = survives(mutated)
        except Exception as error:
            error.add_note(f"the text was {mutated!r}")
            raise
        good, bad = good + accepted, bad + (not accepted)
    return good, bad


def test_mutated_examples():
    good, bad = run_mutations(1, 500)
    assert good
    assert bad


@pytest.mark.parametrize("share", range(SHARES))
def test_mutated_examples_at_length(share):
    seed = random.randrange(10**9) if os.environ.get("MOPSUS_RANDOM") else 2 + share
    run_mutations(seed, CASES // SHARES)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=300))
def test_random_bytes(data):
    survives(data.decode("latin-1"))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=30).map("".join))
def test_random_pieces(text):
    survives(text)
    survives("Foo(i) {\n" + text)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 20_000,
        "{" * 20_000,
        "Foo(i) {" * 5_000,
        "/*" * 20_000,
        "x" * 200_000,
        " " * 200_000,
        "\n" * 100_000 + "}",
        "@" * 50_000,
        '"' * 50_001,
        "a:" * 50_000,
        "Foo { ere : " + "/*" * 50_000,
        "Foo { event a : " + "!" * 20_000,
        "Foo { event a : " + "(" * 20_000,
        "Foo { event a : row(" + "(" * 5_000,
        "Foo { event a : row(" + "not " * 5_000 + "x) }",
        "Foo { event a : condition(" + "+" * 50_000 + "1) }",
        "Foo { event a { " + "[" * 5_000 + "]" * 5_000 + " } }",
        "Foo { event a { x = " + "-" * 50_000 + "1 } }",
        "Foo {" + "\nevent a {" * 5_000,
        "Foo {\n" + "%\n" * 50_000,
    ],
    ids=lambda text: text[:24],
)
def test_no_text_takes_long(text):
    start = time.monotonic()
    survives(text)
    assert time.monotonic() - start < 10
