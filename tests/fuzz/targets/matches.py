"""`matches(…)`: the automaton finds what Python's `re` finds, and a pattern is refused only where that is said."""

from __future__ import annotations

import re
import warnings
from re import _parser  # type: ignore[attr-defined]

from fuzz.choices import Choices

from mopsus.spec import matching
from mopsus.spec.matching import PatternError, searcher

PIECES = (
    *("a", "b", ".", "ab", "[ab]", "[^a]", r"\w", r"\d", r"\s", r"\b", r"\B", "^", "$", r"\A", r"\Z", "é", "ß", "K"),
    *("(", ")", "(?:", "|", "*", "+", "?", "{2}", "{1,3}", "{0,}", "*?", "+?", "(?i:", "(?s:", "(?m)", "(?x) ", "\\\n"),
    *("(?=", "(?!", "(?<=a)", r"(a)\1", "(?>", "a++", "(?P<n>", "[a-z]", r"[\W_]", "\n", "A", "1", " ", "(?a:", "(?u:"),
)
LETTERS = ("a", "b", "ab", "A", "é", "ß", "1", "_", " ", "\n", "k", "\u212a", "x", "\u017f")
LONGEST = 16
"""`re` may take exponentially long on more, which is what the automaton is there for."""


def one(data: bytes) -> None:
    choices = Choices(data)
    pattern = choices.text(PIECES, most=8)
    texts = ["", *choices.some(4, lambda: "".join(choices.some(LONGEST // 2, lambda: choices.pick(LETTERS))))]
    try:
        find = searcher(pattern)
    except (re.error, PatternError, OverflowError, RecursionError):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled = re.compile(pattern)
        parsed = _parser.parse(pattern)
    for text in texts:
        if len(text) <= LONGEST:
            assert find(text) == (compiled.search(text) is not None), (pattern, text)
    try:
        automaton = matching._Automaton(matching._Nodes(compiled.flags).of(parsed))
    except matching._Irregular:
        return
    for text in texts:
        if len(text) <= LONGEST:
            assert automaton.search(text) == (compiled.search(text) is not None), (pattern, text)
    find("ab" * 5000 + "é" + "1" * 5000)  # soon
