"""Texts that were taken out of a file, and where each character of them stands in it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from mopsus.decentral.errors import DecentralError
from mopsus.logics.text import suggestion
from mopsus.model import Span

_HOLE = re.compile(r"%(\w+)%")
EMPTY = "empty"
"""`%empty%` is left to whoever reads the text, as it stands for no argument."""


class Origin(NamedTuple):
    """From offset `start` of a text on, its characters stand at this place of the file and behind it."""

    start: int
    line: int
    column: int
    inserted: bool = False
    """All of them came from elsewhere, and stand for what is at this one place."""


@dataclass(frozen=True, slots=True)
class Written:
    """A text with its origin. `lines` are those of the file."""

    text: str
    file: str
    lines: tuple[str, ...]
    origins: tuple[Origin, ...]

    def span(self, offset: int = 0, length: int | None = None) -> Span:
        """Where a stretch of the text stands; all of it, if no length is given."""
        line, column = self._place(offset)
        size = max(1, len(self.text) - offset if length is None else length)
        end_line, end_column = self._place(offset + size - 1)
        if (end_line, end_column) < (line, column):
            end_line, end_column = line, column
        return Span(self.file, line, column, end_line, end_column + 1)

    def error(
        self, message: str, *, code: str, hint: str = "", offset: int = 0, length: int | None = None
    ) -> DecentralError:
        """An error about a stretch of the text."""
        span = self.span(offset, length)
        line = self.lines[span.line - 1] if span.line <= len(self.lines) else ""
        return DecentralError(message, hint=hint, code=code, place=span, line=line)

    def stripped(self) -> Written:
        """Without space at both ends."""
        cut = len(self.text) - len(self.text.lstrip())
        line, column = self._place(cut)
        moved = [origin._replace(start=origin.start - cut) for origin in self.origins if origin.start > cut]
        return replace(self, text=self.text.strip(), origins=(Origin(0, line, column), *moved))

    def filled(self, values: Mapping[str, str]) -> Written:
        """The text with each `%name%` replaced by a value; `DecentralError` if there is none."""
        text, origins, end = "", list[Origin](), 0
        for hole in _HOLE.finditer(self.text):
            if hole[1] == EMPTY and EMPTY not in values:
                continue
            if hole[1] not in values:
                raise self.error(
                    f"'{hole[0]}' is no argument of the template",
                    code="DECENTRAL-035",
                    hint=suggestion(hole[1], values),
                    offset=hole.start(),
                    length=len(hole[0]),
                )
            origins += self._copied(end, hole.start(), len(text))
            text += self.text[end : hole.start()]
            origins.append(Origin(len(text), *self._place(hole.start()), inserted=True))
            text += values[hole[1]]
            end = hole.end()
        origins += self._copied(end, len(self.text), len(text))
        return replace(self, text=text + self.text[end:], origins=tuple(origins))

    def _copied(self, start: int, end: int, to: int) -> list[Origin]:
        inner = [
            origin._replace(start=origin.start - start + to) for origin in self.origins if start < origin.start < end
        ]
        return [Origin(to, *self._place(start)), *inner]

    def _place(self, offset: int) -> tuple[int, int]:
        origin = self.origins[max(0, bisect_right(self.origins, offset, key=lambda origin: origin.start) - 1)]
        if origin.inserted:
            return origin.line, origin.column
        before = self.text[origin.start : offset]
        newlines = before.count("\n")
        if not newlines:
            return origin.line, origin.column + len(before)
        return origin.line + newlines, len(before) - before.rfind("\n")
