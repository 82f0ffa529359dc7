"""Stage 1: the tokens of `.hml` texts, as far as it takes to tell forms apart and to lay them out.

What formulas mean is for their logics; here only brackets, words, comments and what must not be looked into count.
"""

from __future__ import annotations

import re
from typing import NamedTuple

OPENERS = {"(": ")", "[": "]", "{": "}", "#{": "}", "<<": ">>"}
CLOSERS = frozenset(OPENERS.values())

_NAME = r"[A-Za-z_][A-Za-z0-9_@]*"
_TOKEN = re.compile(
    rf"""
    (?P<comment>%[^\n]*)
  | (?P<string>"(?:[^"\\]|\\.)*"|'[^'\n]*')
  | (?P<unclosed>["'])
  | (?P<value><\d+\.\d+\.\d+>|\#Ref<[\d.]+>|\d+(?:\.\d+(?:[eE][+-]?\d+)?)?)
  | (?P<word>(?<=:){_NAME}(?:\.{_NAME})+|{_NAME}(?:\.{_NAME}){{1,64}}+(?=\s*:)|{_NAME})
  | (?P<mark>=:=|=/=|==|/=|!=|=<|>=|<=|&&|->|<-|\*\*|\+\+|--|\|\||:=|<<|>>|\#\{{|\S)
    """,
    re.VERBOSE | re.DOTALL,
)


class Token(NamedTuple):
    """A piece of a text. `kind` is comment, string, unclosed, value, word or mark."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.start + len(self.text)

    @property
    def operand(self) -> bool:
        """Can it end an expression or a formula?"""
        return (
            self.kind in ("string", "value") or self.text in CLOSERS or (self.kind == "word" and self.text not in INFIX)
        )


INFIX = frozenset(
    ["when", "not", "and", "or", "andalso", "orelse", "xor", "div", "rem", "bnot", "band", "bor", "bxor", "bsl", "bsr"]
)
"""Words that something follows."""


def tokens(text: str) -> list[Token]:
    """The tokens of a text, comments included; every character but white space is in one, up to a quote that is never
    closed."""
    read = []
    for found in _TOKEN.finditer(text):
        read.append(Token(found.lastgroup or "", found.group(), found.start()))
        if read[-1].kind == "unclosed":
            break
    return read
