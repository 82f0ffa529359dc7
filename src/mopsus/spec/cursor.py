"""Stage 1: a place in a text of words, signs and blocks of Python; what property and scenario files are read with.

A parser asks for what may stand at the place, so a word can be a keyword here and a name there. What was asked for in
vain is what a message says was expected.
"""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass, field
from typing import NoReturn

from mopsus.spec import pytext
from mopsus.spec.diagnostics import suggest
from mopsus.spec.errors import ArgumentError

NAME = re.compile(r"[^\W\d]\w*")
NUMBER = re.compile(r"\d+")
_STRING = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'")
_SPACE = re.compile(r"\s*")
_COMMENT = re.compile(r"#(?!ecid\b)[^\n]*+")  # `#ecid` is a value of Verde's distributed sessions
_GAP = re.compile(rf"(?:\s++|{_COMMENT.pattern})*+")
_FOUND = re.compile(r"[\w-]+|->|::|//|/\*|\S")


class Word(str):
    """A piece of the text, and where it begins."""

    __slots__ = ("start",)

    start: int

    def __new__(cls, text: str, start: int) -> Word:
        word = super().__new__(cls, text)
        word.start = start
        return word

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.start + len(self)


@dataclass(frozen=True, slots=True)
class Block:
    """Python in braces, without the indentation around it. `start` and `end` are the places of the braces."""

    text: str
    starts: tuple[int, ...] = field(default=(0,), compare=False)
    """Of each line, where it begins."""
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


class Cursor:
    """Moves on from token to token. `comments` are those passed by, with their places."""

    def __init__(self, text: str, start: int = 0) -> None:
        self.text = text
        self.at = start
        self.end = start
        """Where the last token ended."""
        self.comments: list[tuple[int, str]] = []
        self._missed: list[str] = []

    def take(self, *wanted: str) -> Word | None:
        """The word or sign here, if it is one of those wanted."""
        self._skip()
        for each in wanted:
            if self.text.startswith(each, self.at) and not self._goes_on(each):
                return self._taken(self.at + len(each))
        self._missed += [f"'{each}'" for each in wanted]
        return None

    def need(self, *wanted: str) -> Word:
        """Like `take`, but `ArgumentError` if none of them is here."""
        return self.take(*wanted) or self.refuse()

    def match(self, pattern: re.Pattern[str], what: str) -> Word | None:
        """The text here that fits a pattern; `what` is its name in messages."""
        self._skip()
        found = pattern.match(self.text, self.at)
        if found is None or found.end() == self.at:
            self._missed.append(what)
            return None
        return self._taken(found.end())

    def needs(self, pattern: re.Pattern[str], what: str) -> Word:
        """Like `match`, but `ArgumentError` if it does not fit."""
        return self.match(pattern, what) or self.refuse()

    def marked(self, *names: str) -> Word | None:
        """`#name` here, which would else be a comment."""
        space = _SPACE.match(self.text, self.at)
        at = space.end() if space else self.at
        for name in names:
            if self.text.startswith(f"#{name}", at) and not self._goes_on(name, at + 1):
                self.at = at
                return self._taken(at + 1 + len(name))
        return None

    def ahead(self, pattern: re.Pattern[str]) -> bool:
        """Does the text go on like this? To look ahead only: messages do not say that it was expected."""
        self._skip()
        return pattern.match(self.text, self.at) is not None

    def block(self) -> Block | None:
        """The Python in braces here."""
        brace = self.take("{")
        if brace is None:
            return None
        closed = pytext.closing(self.text, brace.start)
        if closed is None:
            hint = "add '}'; one in a comment or a string closes nothing"
            raise ArgumentError(
                "the '{' of this Python code is never closed", offset=brace.start, hint=hint, code="SPEC-003"
            )
        body = pytext.dedent(self.text, brace.end, closed)
        self._taken(closed + 1)
        return Block(body.text, body.starts, brace.start, closed)

    def string(self, what: str) -> tuple[Word, str] | None:
        """The string literal here, and what it stands for."""
        word = self.match(_STRING, what)
        if word is None:
            return None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return word, str(ast.literal_eval(word))
        except (ValueError, SyntaxError):
            hint = "write a backslash twice"
            raise ArgumentError("this is no string", offset=word.start, length=len(word), hint=hint) from None

    def ends(self) -> bool:
        """Does the text end here?"""
        self._skip()
        return self.at == len(self.text)

    def skip_to(self, at: int) -> None:
        """Go on reading somewhere else."""
        self.at = at
        self._missed.clear()

    def refuse(self) -> NoReturn:
        """`ArgumentError`: nothing of what may stand here does."""
        self._skip()
        words = list(dict.fromkeys(self._missed))
        hint = "expected " + " or ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else ""
        found = _FOUND.match(self.text, self.at)
        if found is None:
            raise ArgumentError("the text ends too early", offset=self.end, hint=hint, code="SPEC-001")
        text = found.group()
        if text in ("//", "/*"):
            hint = "a comment begins with '#'"
        elif near := suggest(text, (word[1:-1] for word in words if word[1:-1].isalpha())):
            hint = f"did you mean '{near}'?"
        raise ArgumentError(f"unexpected '{text}'", offset=self.at, length=len(text), hint=hint, code="SPEC-001")

    def _taken(self, end: int) -> Word:
        word = Word(self.text[self.at : end], self.at)
        self.at = self.end = end
        self._missed.clear()
        return word

    def _goes_on(self, word: str, at: int | None = None) -> bool:
        """Does a word, which should end, go on?"""
        after = self.text[(self.at if at is None else at) + len(word) :][:1]
        return word[-1:].isalnum() and (after.isalnum() or after == "_")

    def _skip(self) -> None:
        gap = _GAP.match(self.text, self.at)
        if gap is None or gap.end() == self.at:
            return
        last = self.comments[-1][0] if self.comments else -1
        for comment in _COMMENT.finditer(self.text, self.at, gap.end()):
            if comment.start() > last:
                self.comments.append((comment.start(), comment.group().rstrip()))
        self.at = gap.end()
