"""Stage 2: what the logics' parsers share: a place in the text of a formula, which knows what was looked for there."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from mopsus.logics.logic import FormulaError
from mopsus.spec.diagnostics import suggest

WORD = r"[^\W\d]\w*"
GAP = re.compile(r"(?:\s++|(?://|#)[^\n]*+|/\*.*?\*/)*+", re.DOTALL)
"""Space and comments between the tokens of most logics."""


class Kind(NamedTuple):
    """A kind of token that a pattern describes; the name is what a message calls it."""

    name: str
    pattern: re.Pattern[str]


_END = Kind("the end", re.compile(r"\Z"))

Wanted: TypeAlias = "str | Kind"
"""A token as a parser asks for it: that very text, which if it is a word must be a whole one, or one of a kind."""


class Token(str):
    """A piece of a formula's text, what it was taken for, and where it begins."""

    __slots__ = ("kind", "start")

    kind: Wanted
    start: int

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.start + len(self)


class Cursor:
    """A place in a text that moves on from token to token.

    The parser asks for the tokens that may stand at the place, so the same word can be a keyword at one place and a
    name at another. What it asked for in vain is what a message says was expected. `known` are all tokens of the
    logic, to tell one at the wrong place from a character that is in none.
    """

    def __init__(self, text: str, known: Iterable[Wanted], gap: re.Pattern[str] = GAP) -> None:
        self._text = text
        self._known = known
        self._gap = gap
        self._missed: list[Wanted] = []
        self._at = 0
        self.end = 0
        """Where the last token ended."""
        self._move(0)

    def take(self, *wanted: Wanted) -> Token | None:
        """The token here if it is one of those wanted, the first that fits; the place is then behind it."""
        for each in wanted:
            found = self._match(each)
            if found:
                token = Token(found)
                token.kind, token.start = each, self._at
                self._missed.clear()
                self._move(self._at + len(found))
                return token
        self._missed += wanted
        return None

    def need(self, *wanted: Wanted) -> Token:
        """Like `take`, but `FormulaError` if none of them is here."""
        token = self.take(*wanted)
        if token is None:
            raise self.refusal()
        return token

    def peek(self, *wanted: Wanted) -> str:
        """The text of the token here if it is one of those wanted, else none. The place stays the same."""
        for each in wanted:
            if found := self._match(each):
                return found
        self._missed += wanted
        return ""

    @property
    def place(self) -> int:
        """The offset of what stands here."""
        return self._at

    def ahead(self, pattern: re.Pattern[str]) -> bool:
        """Does the text go on like this? To look ahead only: messages do not say that it was expected."""
        return pattern.match(self._text, self._at) is not None

    def skip_to(self, place: int) -> str:
        """The text up to `place`, which is in another language; the place is then there."""
        text = self._text[self._at : place]
        self._missed.clear()
        self._move(place)
        return text

    def ends(self) -> bool:
        """Does the text end here?"""
        if self._at == len(self._text):
            return True
        self._missed.append(_END)
        return False

    def finish(self) -> None:
        """`FormulaError` unless the text ends here."""
        if not self.ends():
            raise self.refusal()

    def refusal(self) -> FormulaError:
        """The error that nothing of what may stand here does."""
        names = sorted({each.name if isinstance(each, Kind) else f"'{each}'" for each in self._missed})
        hint = f"expected {' or '.join(filter(None, [', '.join(names[:-1]), names[-1]]))}" if names else ""
        if self._at == len(self._text):
            # The caret goes just behind the last thing written.
            return FormulaError("the formula ends too early", offset=len(self._text.rstrip()), hint=hint)
        found = max(map(self._match, self._known), key=len)
        if found:
            return FormulaError(f"unexpected '{found}'", offset=self._at, length=len(found), hint=hint)
        return FormulaError(f"unexpected character '{self._text[self._at]}'", offset=self._at, hint=hint)

    def _match(self, wanted: Wanted) -> str:
        if isinstance(wanted, Kind):
            found = wanted.pattern.match(self._text, self._at)
            return "" if found is None else found[0]
        if not self._text.startswith(wanted, self._at):
            return ""
        after = self._text[self._at + len(wanted) : self._at + len(wanted) + 1]
        return "" if wanted.isidentifier() and (after.isalnum() or after == "_") else wanted

    def _move(self, at: int) -> None:
        self.end = at
        gap = self._gap.match(self._text, at)
        self._at = at if gap is None else gap.end()


def suggestion(name: str, known: Iterable[str]) -> str:
    """A hint for an unknown name: the nearest known one, else all of them."""
    names = sorted(known)
    near = suggest(name, names)
    if near is not None:
        return f"did you mean '{near}'?"
    return "there is: " + ", ".join(names) if names else ""
