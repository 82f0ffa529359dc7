"""Stage 2: the meaning of a context-free grammar, straight from the definition.

`match` is membership: some part of the word for every part of a right side. `fail` says that no continuation is a
member. Both are relations between right sides and pieces of the word; as rules may recur in any way, the least ones are
found by trying again until nothing is added. Nothing is shared with the tables that users run.
"""

from __future__ import annotations

from collections.abc import Sequence

from mopsus.logics.cfg.syntax import Cfg, Op, Side


def categories_after(grammar: Cfg, alphabet: tuple[str, ...], word: Sequence[str]) -> frozenset[str]:
    """The categories after `word`: one of `match`, `fail` and `?`."""
    meaning = _Meaning(grammar, tuple(word))
    if meaning.derives(grammar.start, 0, len(word)):
        return frozenset({"match"})
    return frozenset({"?"}) if meaning.begins(grammar.start, 0) else frozenset({"fail"})


def categories_after_lazily(grammar: Cfg, alphabet: tuple[str, ...], word: Sequence[str]) -> frozenset[str]:
    """The same where an event that fails is forgotten."""
    kept: tuple[str, ...] = ()
    categories = categories_after(grammar, alphabet, kept)
    for event in word:
        categories = categories_after(grammar, alphabet, (*kept, event))
        if "fail" not in categories:
            kept = (*kept, event)
    return categories


class _Meaning:
    """What the non-terminals derive of one word."""

    def __init__(self, grammar: Cfg, word: tuple[str, ...]) -> None:
        self._word = word
        self._events = frozenset(grammar.alphabet)
        self._derived: set[tuple[str, int, int]] = set()  # the non-terminal derives word[i:j]
        self._begun: set[tuple[str, int]] = set()  # it derives word[i:] and something more, or nothing more
        places = range(len(word) + 1)
        while True:
            derived = {
                (rule.head, i, j)
                for rule in grammar.rules
                for i in places
                for j in places[i:]
                if (rule.head, i, j) not in self._derived and self._derives(rule.body, i, j)
            }
            if not derived:
                break
            self._derived |= derived
        while True:
            begun = {
                (rule.head, i)
                for rule in grammar.rules
                for i in places
                if (rule.head, i) not in self._begun and self._begins(rule.body, i)
            }
            if not begun:
                break
            self._begun |= begun

    def derives(self, symbol: str, i: int, j: int) -> bool:
        if symbol in self._events:
            return self._word[i:j] == (symbol,)
        return (symbol, i, j) in self._derived

    def begins(self, symbol: str, i: int) -> bool:
        if symbol in self._events:
            return self._word[i:] in ((), (symbol,))
        return (symbol, i) in self._begun

    def _derives(self, side: Side, i: int, j: int) -> bool:
        match side.op:
            case Op.EPSILON:
                return i == j
            case Op.SYMBOL:
                return self.derives(side.symbol, i, j)
            case Op.OR:
                return any(self._derives(part, i, j) for part in side.parts)
            case Op.SEQUENCE:
                return j in self._ends(side.parts, i)
            case Op.STAR:
                return i == j or self._repeats(side.parts[0], i, j)
            case Op.PLUS:
                return self._repeats(side.parts[0], i, j)

    def _repeats(self, part: Side, i: int, j: int) -> bool:
        """Once, or once for some of it and again for the rest."""
        return self._derives(part, i, j) or any(
            self._derives(part, i, cut) and self._repeats(part, cut, j) for cut in range(i + 1, j)
        )

    def _ends(self, parts: Sequence[Side], i: int) -> set[int]:
        """Where a sequence that begins at `i` can end."""
        ends = {i}
        for part in parts:
            ends = {j for at in ends for j in range(at, len(self._word) + 1) if self._derives(part, at, j)}
        return ends

    def _begins(self, side: Side, i: int) -> bool:
        """Does `side` derive word[i:] followed by anything?"""
        match side.op:
            case Op.EPSILON:
                return i == len(self._word)
            case Op.SYMBOL:
                return self.begins(side.symbol, i)
            case Op.OR:
                return any(self._begins(part, i) for part in side.parts)
            case Op.SEQUENCE:
                # The word ends within some part, and all parts behind it derive something, of which nothing is seen.
                end = len(self._word)
                return any(
                    any(self._begins(part, at) for at in self._ends(side.parts[:number], i))
                    and all(self._begins(later, end) for later in side.parts[number + 1 :])
                    for number, part in enumerate(side.parts)
                )
            case Op.STAR | Op.PLUS:
                (part,) = side.parts
                if side.op is Op.STAR and i == len(self._word):
                    return True
                return self._begins(part, i) or any(
                    self._repeats(part, i, at) and self._begins(part, at) for at in range(i + 1, len(self._word) + 1)
                )
