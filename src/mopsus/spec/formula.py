"""Stage 1: a formula's text in normal form, and the way back from it to the source.

Logics have their own parsers, so a spec only knows a formula as text: without comments, every
line stripped, runs of space as one space. A logic reports a fault as an offset of that text.
"""

from __future__ import annotations

import re

from mopsus.model import Property, Span
from mopsus.spec.source import Source

COMMENT = r"//[^\n]*|/\*(?:(?!\*/).)*+\*/|#(?!\w)[^\n]*"
"""Comments in a formula. `#word` is none: rewriting rules use it."""

GAP = re.compile(rf"(?:\s|{COMMENT})+", re.DOTALL)

STRING = r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'"
"""What is in quotes is not looked into: it may have runs of space, or what looks like a comment."""

_PIECES = re.compile(rf"(?P<string>{STRING})|(?P<gap>{GAP.pattern})", re.DOTALL)
_FORM_PIECES = re.compile(r"(?P<string>\"(?:[^\"\\]|\\.)*\"|'[^'\n]*')|(?P<gap>(?:\s|%[^\n]*)+)", re.DOTALL)


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


def locate(prop: Property, source: Source, offset: int, length: int = 1) -> Span | None:
    """The place in `source`, the file that `prop` was read from, of a stretch of its formula."""
    if prop.span is None:
        return None
    raw = source.slice(prop.span)
    for normalised in (normalise, normalise_form):
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
