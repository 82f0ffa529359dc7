"""Stage 2: the text of a string rewriting system: parsed, checked and printed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from mopsus.logics.logic import FormulaError
from mopsus.logics.text import WORD, Cursor, Kind, Token, Wanted, suggestion
from mopsus.model.machine import EXHAUSTED
from mopsus.spec.formula import COMMENT

SUCCEED, FAIL = "succeed", "fail"
"""What a rule can decide, instead of putting symbols in place of its left side."""

MAX_SYMBOLS = 20_000
"""How many symbols the rules of a system may have in all."""

MAX_SIDE = 1_000
"""How many symbols one side of a rule may have."""


@dataclass(frozen=True, slots=True)
class Rule:
    """`left -> right`, or `left -> #verdict`; `start`: `^` stands before the left side, `end`: `$` behind it."""

    left: tuple[str, ...]
    right: tuple[str, ...] = ()
    verdict: str | None = None
    start: bool = False
    end: bool = False
    offset: int = field(default=0, compare=False)
    length: int = field(default=0, compare=False)

    @property
    def pattern(self) -> tuple[str, ...]:
        """The left side with its anchors as symbols."""
        return ("^",) * self.start + self.left + ("$",) * self.end

    def __str__(self) -> str:
        right = f"#{self.verdict}" if self.verdict else " ".join(self.right) or "#epsilon"
        return f"{' '.join(self.pattern)} -> {right} ."


@dataclass(frozen=True, slots=True)
class System:
    """Rules in the order written, over the events of `alphabet` and what right sides bring in beside them."""

    rules: tuple[Rule, ...]
    alphabet: tuple[str, ...]
    auxiliary: tuple[str, ...]


def parse_system(text: str, alphabet: tuple[str, ...]) -> System:
    """The system that `text` describes over the events of `alphabet`, or `FormulaError`."""
    if not text.strip():
        raise FormulaError("the system has no rules", offset=0, hint="write 'left side -> right side .'")
    items = list(_items(Cursor(text, _KNOWN, _GAP)))
    made = {str(token) for item in items for token in item.right if token.kind is _SYMBOL}
    known = made.union(alphabet)
    total = 0
    for item in items:
        total += len(item.left) + len(item.right)
        _check(item, known, total)
    rules = tuple(item.rule() for item in items)
    written = dict.fromkeys(symbol for rule in rules for symbol in (*rule.left, *rule.right))
    return System(rules, alphabet, tuple(symbol for symbol in written if symbol not in alphabet))


def print_system(system: System) -> str:
    """The canonical text: a line per rule."""
    return "\n".join(map(str, system.rules))


def categories_of(system: System) -> frozenset[str]:
    """What the rules can decide, and `exhausted`: rewriting took too long or the string grew too long."""
    return frozenset({SUCCEED, FAIL, EXHAUSTED})


def events_of(system: System) -> frozenset[str]:
    """The events written in the rules."""
    return frozenset(symbol for rule in system.rules for symbol in (*rule.left, *rule.right)) & set(system.alphabet)


@dataclass(frozen=True, slots=True)
class _Item:
    """A rule as tokens, so that faults have a place."""

    left: tuple[Token, ...]
    arrow: Token
    right: tuple[Token, ...]

    def rule(self) -> Rule:
        first, last = self.left[0].start, self.right[-1].end
        only = self.right[0]
        return Rule(
            left=tuple(str(token) for token in self.left if token.kind is _SYMBOL),
            right=tuple(str(token) for token in self.right if token.kind is _SYMBOL),
            verdict=_VERDICTS.get(only),
            start=self.left[0] == "^",
            end=self.left[-1] == "$",
            offset=first,
            length=last - first,
        )


def _check(item: _Item, known: set[str], total: int) -> None:
    if not any(token.kind is _SYMBOL for token in item.left):
        raise FormulaError(
            "the left side of the rule has no symbol",
            offset=item.arrow.start,
            length=len(item.arrow),
            hint="an event comes before '->'",
        )
    if total > MAX_SYMBOLS or max(len(item.left), len(item.right)) > MAX_SIDE:
        raise FormulaError(
            "the rules are too large",
            offset=item.arrow.start,
            length=len(item.arrow),
            hint=f"a side may have {MAX_SIDE:,} symbols, all rules together {MAX_SYMBOLS:,}",
            code="LOGIC-007",
        )
    for token in item.left:
        if token.kind is _SYMBOL and token not in known:
            raise FormulaError(
                f"unknown symbol '{token}': no event, and no right side brings it in",
                offset=token.start,
                length=len(token),
                hint=suggestion(token, known),
                code="LOGIC-002",
            )


_SYMBOL = Kind("a symbol", re.compile(WORD))
_VERDICTS = {"#succeed": SUCCEED, "#fail": FAIL}
_ALONE = tuple(Kind(f"'{word}'", re.compile(rf"{word}\b")) for word in ("#epsilon", *_VERDICTS))
"""What a right side may be instead of symbols."""
_KNOWN: tuple[Wanted, ...] = (_SYMBOL, *_ALONE, "^", "$", "->", ".")
_GAP = re.compile(rf"(?:\s++|{COMMENT})*+", re.DOTALL)


def _items(cursor: Cursor) -> Iterator[_Item]:
    """The rules: a dot ends each, and may be left out behind the last."""
    while True:
        left = tuple(_left(cursor))
        yield _Item(left, cursor.need("->"), tuple(_right(cursor)))
        if not cursor.take(".") or cursor.ends():
            break
    cursor.finish()


def _left(cursor: Cursor) -> Iterator[Token]:
    if start := cursor.take("^"):
        yield start
    yield from iter(lambda: cursor.take(_SYMBOL), None)
    if end := cursor.take("$"):
        yield end


def _right(cursor: Cursor) -> Iterator[Token]:
    if word := cursor.take(*_ALONE):
        yield word
    else:
        yield cursor.need(_SYMBOL)
        yield from iter(lambda: cursor.take(_SYMBOL), None)
