"""Stage 2: where in its file a part of a formula stands."""

from __future__ import annotations

import linecache

from mopsus.model import Property, Span
from mopsus.spec.formula import locate
from mopsus.spec.source import Source


class Places:
    """Places in the text that a spec was read from: the one given, else its file if that can be read."""

    def __init__(self, source: Source | None) -> None:
        self._source = source

    def formula(self, prop: Property, offset: int, length: int) -> tuple[Span | None, str]:
        """The place of a stretch of a property's formula, and the line it starts on."""
        source = self._text(prop.span)
        span = prop.span if source is None else locate(prop, source, offset, length)
        return span, self.line(span)

    def line(self, span: Span | None) -> str:
        """The line that `span` starts on; empty if there is no text."""
        source = self._text(span)
        return "" if source is None or span is None else source.line(span.line)

    def _text(self, span: Span | None) -> Source | None:
        if self._source is not None or span is None:
            return self._source
        lines = linecache.getlines(span.file)
        # A shorter file than the one that was read has been changed since, and its lines would mislead.
        return Source("".join(lines), span.file) if span.end_line <= len(lines) else None
