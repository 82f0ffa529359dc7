"""Whatever the text, reading a property either succeeds or raises `SpecError`; nothing else."""

from __future__ import annotations

import os
import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.damage import damage

from mopsus.logics import LogicError, compile_spec
from mopsus.model import MopsusError
from mopsus.spec import SpecError, format_file, parse_file, print_spec

CASES = int(os.environ.get("MOPSUS_CASES", "2000"))
TEXT = """\
# a queue
slice on q, p
initialization { n = 0; import os
                 s = "}" }
state init accepting {
    transition { after event make(ret as q, "q->size" as size : int, *p) { return q != 0 } success { n = size } ready }
    transition { event queue.c:12 success { return "ready" } }
}
state ready import transitions from state init {
    transition { event write counter(^x as y, {len(s)} as z) success act() failure { pass } broken }
    transition { event #end() success { } }
}
state broken non-accepting final report()
"""
PIECES = (
    *("{", "}", "(", ")", "[", "#", '"', "'", '"""', "\\", "\n", "\t", "\0", "é", ":", ",", "*", "^", "&", "@", "f'{"),
    *("state ", "transition ", "event ", "success ", "failure ", "init ", "#end", "#ecid", "#join", "import ", "as "),
    *("arg 1", "ret", "slice on ", "initialization {", "accepting ", "final ", "return 'x'", "line 12", "write x"),
)


def survives(text: str) -> bool:
    """Read a text; is it a property? If so, its layout and its machine are right, too."""
    try:
        file = parse_file(text, "p.prop")
    except SpecError as error:
        check_error(error, text)
        return False
    printed = format_file(text, "p.prop")
    assert parse_file(printed, "p.prop").specs == file.specs
    assert format_file(printed, "p.prop") == printed
    compile_spec(file.specs["p"], file.source)  # whatever is wrong was found when reading
    return True


def check_error(error: MopsusError, text: str) -> None:
    """An error can be shown, and speaks of lines that are there."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert str(error)
    assert all(found.span is None or 1 <= found.span.line <= len(lines) for found in error.diagnostics)


def survives_in_spec(text: str) -> bool:
    """The same for the spec that a property stands for, as a `.mop` text. Here the formula is judged by its logic."""
    try:
        file = parse_file(text, "p.mop")
    except SpecError as error:
        check_error(error, text)
        return False
    printed = format_file(text, "p.mop")
    assert parse_file(printed, "p.mop").specs == file.specs
    assert format_file(printed, "p.mop") == printed
    try:
        for spec in file.specs.values():
            compile_spec(spec, file.source)
    except LogicError as error:
        check_error(error, text)
        return False
    return True


def run_mutations(seed: int, cases: int, start: str = TEXT, check: Callable[[str], bool] = survives) -> set[bool]:
    source = random.Random(seed)
    found = set()
    for _ in range(cases):
        mutated = damage(start, source, PIECES)
        try:
            found.add(check(mutated))
        except Exception as error:
            error.add_note(f"the text was {mutated!r}")
            raise
    return found


def test_damaged_properties():
    assert run_mutations(1, 300) == {True, False}


def test_damaged_formulas():
    text = print_spec(parse_file(TEXT, "p.prop").specs["p"])
    assert run_mutations(1, 300, text, survives_in_spec) == {True, False}


def test_damaged_properties_at_length():
    run_mutations(random.randrange(10**9) if os.environ.get("MOPSUS_RANDOM") else 2, CASES)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=30).map("".join))
def test_random_pieces(text):
    survives(text)
    survives("state init {\n" + text)


@pytest.mark.parametrize(
    "text",
    [
        "{" * 20_000,
        "state init " * 5_000,
        "state init {" * 5_000,
        "state init { transition { event f(" + "*" * 20_000,
        "state init { transition { event f(" + "a," * 20_000,
        "initialization { x = " + "(" * 5_000,
        "initialization { x = " + "-" * 50_000 + "1 }",
        "#" * 100_000,
        "state init { transition { event f() " + "success " * 10_000,
        'state init { transition { event "' + "x" * 100_000,
    ],
    ids=lambda text: text[:40],
)
def test_monstrous_texts(text):
    survives(text)
