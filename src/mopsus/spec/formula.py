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


def normalise(raw: str) -> tuple[str, list[int]]:
    """The normal form of a formula, and for each of its characters the offset in `raw` that it came from."""
    characters: list[str] = []
    offsets: list[int] = []
    at = 0
    for gap in GAP.finditer(raw):
        characters += raw[at : gap.start()]
        offsets += range(at, gap.start())
        if characters and gap.end() < len(raw):
            characters.append("\n" if "\n" in gap.group() else " ")
            offsets.append(gap.start())
        at = gap.end()
    return "".join(characters) + raw[at:], [*offsets, *range(at, len(raw))]


def locate(prop: Property, source: Source, offset: int, length: int = 1) -> Span | None:
    """The place in `source`, the file that `prop` was read from, of a stretch of its formula."""
    if prop.span is None:
        return None
    text, offsets = normalise(source.slice(prop.span))
    if text != prop.formula or not offsets:
        return prop.span
    base = source.offset(prop.span.line, prop.span.column)
    first = min(offset, len(offsets) - 1)
    last = max(first, min(offset + length - 1, len(offsets) - 1))
    past_end = 1 if offset >= len(offsets) else 0
    return source.span(base + offsets[first] + past_end, base + offsets[last] + 1 + past_end)
