"""Stage 1: a text with its name, and the places in it."""

from __future__ import annotations

import re
from bisect import bisect_right

from mopsus.model import Span

_NEWLINE = re.compile("\r\n?")


class Source:
    """A text whose offsets can be turned into spans. Every kind of line end is read as `\\n`."""

    def __init__(self, text: str, file: str) -> None:
        self.text = _NEWLINE.sub("\n", text.removeprefix("\ufeff"))
        self.file = file
        self._starts = [0, *(match.end() for match in re.finditer("\n", self.text))]

    def span(self, start: int, end: int) -> Span:
        """The span of `text[start:end]`; offsets beyond the text mean its end."""
        line, column = self._position(start)
        end_line, end_column = self._position(max(start, end))
        return Span(self.file, line, column, end_line, end_column)

    def offset(self, line: int, column: int) -> int:
        """The offset of a place given as line and column, both from 1."""
        return self._starts[line - 1] + column - 1

    def slice(self, span: Span) -> str:
        """The text that a span of this source covers."""
        return self.text[self.offset(span.line, span.column) : self.offset(span.end_line, span.end_column)]

    def line(self, number: int) -> str:
        """The text of a line without its end; empty if there is no such line."""
        if not 1 <= number <= len(self._starts):
            return ""
        end = self._starts[number] - 1 if number < len(self._starts) else len(self.text)
        return self.text[self._starts[number - 1] : end]

    def line_start(self, offset: int) -> int:
        """The offset at which the line of `offset` starts."""
        return self._starts[bisect_right(self._starts, offset) - 1]

    def _position(self, offset: int) -> tuple[int, int]:
        offset = min(offset, len(self.text))
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1
