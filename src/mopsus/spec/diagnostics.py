"""Stage 1: findings as people read them: code, place, the line with a caret, what to do.

error[SPEC-032]: event 'next' is declared twice
  --> iterators.mop:4:11
   |      event next(i)
   |            ^^^^ rename one of them
"""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable

from mopsus.model import Diagnostic, Span

_TAB = 4
_WIDTH = 160
"""A longer source line is cut to a window around the caret."""


def suggest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that `name` was probably meant to be, if any is near enough."""
    by_folded = {candidate.casefold(): candidate for candidate in candidates}
    near = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.6)
    return by_folded[near[0]] if near else None


def render(diagnostic: Diagnostic) -> str:
    """A diagnostic as text for a terminal, without a final line end and without control characters."""
    kind = "warning" if diagnostic.warning else "error"
    lines = [_clean(f"{kind}[{diagnostic.code}]: {diagnostic.message}")]
    span = diagnostic.span
    if span is not None:
        lines.append(_clean(f"  --> {span.file}:{span.line}:{span.column}"))
    if span is not None and diagnostic.source.strip():
        source, caret = _excerpt(diagnostic.source, span)
        lines += [f"   |  {source}", _clean(f"   |  {caret} {diagnostic.hint}").rstrip()]
    elif diagnostic.hint:
        lines.append(_clean(f"   = {diagnostic.hint}"))
    return "\n".join(lines)


def render_all(diagnostics: Iterable[Diagnostic]) -> str:
    """Several diagnostics, a blank line between them."""
    return "\n\n".join(map(render, diagnostics))


def _excerpt(source: str, span: Span) -> tuple[str, str]:
    """The source line as shown and the caret run under it."""
    start = min(span.column - 1, len(source))
    end = min(span.end_column - 1, len(source)) if span.end_line == span.line else len(source.rstrip())
    cut = max(0, start - _WIDTH // 2) if len(source) > _WIDTH else 0
    lead = "…" if cut else ""
    window = source[cut : cut + _WIDTH]
    shown = lead + _show(window, 0)
    before = _width(lead + _show(source[cut:start], 0))
    marked = _width(_show(source[cut : max(end, start)][:_WIDTH], 0)) - before + _width(lead)
    return shown.rstrip(), " " * before + "^" * max(1, marked)


def _show(text: str, column: int) -> str:
    """`text` with tabs widened and control characters replaced, so that its width on a terminal is known."""
    shown: list[str] = []
    for character in text:
        piece = " " * (_TAB - column % _TAB) if character == "\t" else _clean(character)
        shown.append(piece)
        column += _width(piece)
    return "".join(shown)


def _clean(text: str) -> str:
    return "".join("\ufffd" if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") else c for c in text)


def _width(text: str) -> int:
    """How many columns a terminal gives to `text`."""
    return sum(_character_width(character) for character in text)


def _character_width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
