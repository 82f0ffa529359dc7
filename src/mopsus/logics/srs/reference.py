"""Stage 2: the meaning of a rewriting system, straight from the definition, by trying every place and every rule.

The string is `^`, the symbols, `$`. After each event, which comes before the `$`, rules are applied
until none can be. Which one is applied where is the strategy; see `semantics.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from mopsus.logics.srs.syntax import Rule, System

Text: TypeAlias = list[str]
Found: TypeAlias = "tuple[int, int, Rule]"
"""Where a left side begins and ends, and its rule."""

UNDECIDED = frozenset({"?"})


def categories_after(system: System, alphabet: tuple[str, ...], word: Sequence[str]) -> frozenset[str]:
    """The category after `word`: `succeed`, `fail` or `?`. It does not end if the rewriting does not."""
    return _after(system, word, _settle)


def categories_after_scanning(system: System, alphabet: tuple[str, ...], word: Sequence[str]) -> frozenset[str]:
    """The same by the strategy of passes."""
    return _after(system, word, _settle_by_passes)


def normal_form(system: System, word: Sequence[str], *, scanning: bool = False) -> tuple[str, ...] | str:
    """The string after `word`, without `^` and `$`, or the verdict."""
    text = ["^", "$"]
    for event in word:
        text.insert(-1, event)
        verdict = (_settle_by_passes if scanning else _settle)(system, text)
        if verdict is not None:
            return verdict
    return tuple(text[1:-1])


def _after(system: System, word: Sequence[str], settle: Callable[[System, Text], str | None]) -> frozenset[str]:
    text = ["^", "$"]
    for event in word:
        text.insert(-1, event)
        verdict = settle(system, text)
        if verdict is not None:
            return frozenset({verdict})
    return UNDECIDED


def _settle(system: System, text: Text) -> str | None:
    """Rewrite by the match that completes first, until there is none."""
    while (found := _first(system, text, 0)) is not None:
        if found[2].verdict is not None:
            return found[2].verdict
        _replace(text, found)
    return None


def _settle_by_passes(system: System, text: Text) -> str | None:
    """Rewrite in passes: after a replacement, what stands before it is forgotten until the next pass."""
    changed = True
    while changed:
        changed = False
        since = 0
        while (found := _first(system, text, since)) is not None:
            if found[2].verdict is not None:
                return found[2].verdict
            since = _replace(text, found)
            changed = True
    return None


def _first(system: System, text: Text, since: int) -> Found | None:
    """The match within `text[since:]` that completes first; of those the longest, of those the first in the file."""
    for end in range(since, len(text) + 1):
        for begin in range(since, end):
            for rule in system.rules:
                if tuple(text[begin:end]) == rule.pattern:
                    return begin, end, rule
    return None


def _replace(text: Text, found: Found) -> int:
    """Put the right side there; `^` and `$` stay. Gives the place where it begins."""
    begin, end, rule = found
    begin += rule.start
    text[begin : end - rule.end] = rule.right
    return begin
