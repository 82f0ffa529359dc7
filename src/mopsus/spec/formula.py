"""Stage 1: a formula's text in normal form, and the way back from it to the source.

Logics have their own parsers, so a spec only knows a formula as text: without comments, every
line stripped, runs of space as one space. A logic reports a fault as an offset of that text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from mopsus.model import Property, Span
from mopsus.spec.errors import Findings
from mopsus.spec.source import Source

COMMENT = r"//[^\n]*+|/\*(?:(?!\*/).)*+\*/|#(?!\w)[^\n]*+"
"""Comments in a formula. `#word` is none: rewriting rules use it."""

GAP = re.compile(rf"(?:\s++|{COMMENT})++", re.DOTALL)

STRING = r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'"
"""What is in quotes is not looked into: it may have runs of space, or what looks like a comment."""

STATED = frozenset({"efsm"})
"""Logics whose formulas have Python in braces, and a normal form of their own."""

_PIECES = re.compile(rf"(?P<string>{STRING})|(?P<gap>{GAP.pattern})", re.DOTALL)
_FORM_PIECES = re.compile(r"(?P<string>\"(?:[^\"\\]|\\.)*\"|'[^'\n]*')|(?P<gap>(?:\s++|%[^\n]*+)++)", re.DOTALL)


def normalise(raw: str) -> tuple[str, list[int]]:
    """The normal form of a formula, and for each of its characters the offset in `raw` that it came from."""
    return _normalised(raw, _PIECES)


def normalise_form(raw: str) -> tuple[str, list[int]]:
    """The same for a form of an `.hml` text, whose comments begin with `%`."""
    return _normalised(raw, _FORM_PIECES)


def _normalised(raw: str, pieces: re.Pattern[str]) -> tuple[str, list[int]]:
    characters: list[str] = []
    offsets: list[int] = []
    at = 0
    for piece in pieces.finditer(raw):
        if piece.lastgroup == "string":
            continue
        characters += raw[at : piece.start()]
        offsets += range(at, piece.start())
        if characters and piece.end() < len(raw):
            characters.append("\n" if "\n" in piece.group() else " ")
            offsets.append(piece.start())
        at = piece.end()
    return "".join(characters) + raw[at:], [*offsets, *range(at, len(raw))]


def normalise_as(logic: str, raw: str) -> tuple[str, list[int]]:
    """The normal form of a formula of a logic."""
    if logic not in STATED:
        return normalise(raw)
    from mopsus.spec.prop.spec import normalise_states

    return normalise_states(raw)


def check_states(findings: Findings, start: int, end: int) -> None:
    """Report what is wrong with such a formula, which stands between two places of the text."""
    from mopsus.spec.prop.check import check_automaton
    from mopsus.spec.prop.reader import read_formula

    before = len(findings.errors)
    automaton = read_formula(findings, start, end)
    if len(findings.errors) == before:
        check_automaton(automaton, findings)


def comments_of_states(raw: str) -> tuple[tuple[int, str], ...]:
    """The comments in a formula with a normal form of its own, with their offsets."""
    from mopsus.spec.prop.spec import read_states

    return read_states(raw)[0].comments


def _normal_forms(prop: Property) -> Iterable[Callable[[str], tuple[str, list[int]]]]:
    if prop.logic not in STATED:
        return normalise, normalise_form
    from mopsus.spec.prop.spec import formula_of_file, normalise_states

    return normalise_states, formula_of_file


def locate(prop: Property, source: Source, offset: int, length: int = 1) -> Span | None:
    """The place in `source`, the file that `prop` was read from, of a stretch of its formula."""
    if prop.span is None:
        return None
    raw = source.slice(prop.span)
    for normalised in _normal_forms(prop):
        text, offsets = normalised(raw)
        if text == prop.formula and offsets:
            break
    else:
        return prop.span
    base = source.offset(prop.span.line, prop.span.column)
    first = min(offset, len(offsets) - 1)
    last = max(first, min(offset + length - 1, len(offsets) - 1))
    past_end = 1 if offset >= len(offsets) else 0
    return source.span(base + offsets[first] + past_end, base + offsets[last] + 1 + past_end)
