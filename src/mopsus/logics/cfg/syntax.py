"""Stage 2: the text of a context-free grammar: parsed, checked and printed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from mopsus.logics.logic import FormulaError
from mopsus.logics.operators import OperatorParser, Sign, Takes
from mopsus.logics.text import WORD, Cursor, Kind, Wanted, suggestion
from mopsus.logics.tree import ambiguous_word, depth_above, taken_in, walk
from mopsus.model.machine import EXHAUSTED

MAX_SYMBOLS = 10_000
"""How many symbols all right sides may have together."""

EPSILON = "epsilon"


class Op(IntEnum):
    """The operators of right sides, loosest first: this order is their precedence."""

    OR = 0
    SEQUENCE = 1
    STAR = 2
    PLUS = 3
    SYMBOL = 4
    EPSILON = 5


@dataclass(frozen=True, slots=True)
class Side:
    """A right side, or a part of one. `OR` and `SEQUENCE` have two parts or more, none of the same operator; `STAR` and
    `PLUS` have one."""

    op: Op
    parts: tuple[Side, ...] = ()
    symbol: str = ""  # of SYMBOL
    offset: int = field(default=0, compare=False)
    depth: int = field(default=1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Rule:
    """One non-terminal with all that it may be replaced by."""

    head: str
    body: Side
    offset: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Cfg:
    """A grammar in which every name is known: rules in the order written, the first for the start symbol."""

    rules: tuple[Rule, ...]
    alphabet: tuple[str, ...]

    @property
    def start(self) -> str:
        """The start symbol."""
        return self.rules[0].head


def parse_grammar(text: str, alphabet: tuple[str, ...]) -> Cfg:
    """The grammar that `text` denotes over the events of `alphabet`, or `FormulaError`.

    A name that is an event is a terminal, every other name a non-terminal. A non-terminal may have several rules.
    """
    if not text.strip():
        raise FormulaError("the grammar has no rules", offset=0, hint="write 'S -> ...', with events and non-terminals")
    grammar = Cfg(tuple(_rules(Cursor(text, _KNOWN))), alphabet)
    _check(grammar)
    return grammar


def print_grammar(grammar: Cfg) -> str:
    """The canonical text: a line per rule, with no more parentheses than precedence asks for."""
    return ",\n".join(f"{rule.head} -> {_print(rule.body, Op.OR)}" for rule in grammar.rules)


def categories_of(grammar: Cfg) -> frozenset[str]:
    """`match` and `fail`, and `exhausted`: an event took too much work. Whatever the grammar."""
    return frozenset({"match", "fail", EXHAUSTED})


def events_of(grammar: Cfg) -> frozenset[str]:
    """The events written in the grammar."""
    known = frozenset(grammar.alphabet)
    return frozenset(part.symbol for rule in grammar.rules for part in walk(rule.body) if part.symbol in known)


def combine(op: Op, parts: tuple[Side, ...], offset: int | None = None) -> Side:
    """A right side of `parts`, those of the same associative operator taken in; `FormulaError` if it nests too deep."""
    if op in (Op.OR, Op.SEQUENCE):
        parts = taken_in(op, parts)
    where = parts[0].offset if offset is None else offset
    depth = depth_above(parts, where, "give the inner parts non-terminals of their own")
    return Side(op, parts, offset=where, depth=depth)


def _check(grammar: Cfg) -> None:
    heads = {rule.head for rule in grammar.rules}
    events = frozenset(grammar.alphabet)
    symbols = 0
    for rule in grammar.rules:
        if rule.head in events:
            raise FormulaError(
                f"'{rule.head}' is an event, so it cannot stand on the left of '->'",
                offset=rule.offset,
                length=len(rule.head),
                hint="choose another name for the non-terminal",
                code="LOGIC-030",
            )
        for part in walk(rule.body):
            symbols += 1
            if part.op is Op.EPSILON and EPSILON in events:
                raise ambiguous_word(EPSILON, part.offset)
            if part.op is Op.SYMBOL and part.symbol not in events and part.symbol not in heads:
                raise FormulaError(
                    f"'{part.symbol}' is neither an event nor has it a rule",
                    offset=part.offset,
                    length=len(part.symbol),
                    hint=suggestion(part.symbol, events | heads),
                    code="LOGIC-031",
                )
    if symbols > MAX_SYMBOLS:
        raise FormulaError(
            f"the grammar has more than {MAX_SYMBOLS:,} symbols",
            offset=0,
            code="LOGIC-007",
            hint="a smaller grammar is needed",
        )


def _print(side: Side, context: Op) -> str:
    """The text of `side` where an operand that binds at least as tightly as `context` is wanted."""
    match side.op:
        case Op.OR:
            text = " | ".join(_print(part, Op.SEQUENCE) for part in side.parts)
        case Op.SEQUENCE:
            text = " ".join(_print(part, Op.STAR) for part in side.parts)
        case Op.STAR | Op.PLUS:
            text = _print(side.parts[0], Op.STAR) + ("*" if side.op is Op.STAR else "+")
        case Op.SYMBOL:
            text = side.symbol
        case Op.EPSILON:
            text = EPSILON
    return f"({text})" if side.op < context else text


_SYMBOL = Kind("an event or a non-terminal", re.compile(WORD))
_BEHIND = {"*": Op.STAR, "+": Op.PLUS}
_OPERAND: tuple[Wanted, ...] = ("(", EPSILON, _SYMBOL)
"""What an operand begins with."""
_KNOWN: tuple[Wanted, ...] = (*_OPERAND, ")", "|", *_BEHIND, "->", ",")


def _rules(cursor: Cursor) -> Iterator[Rule]:
    while True:
        head = cursor.need(_SYMBOL)
        cursor.need("->")
        yield Rule(str(head), _Parser(cursor).read(), head.start)
        if not cursor.take(","):
            break
    cursor.finish()


class _Parser(OperatorParser[Side, Op]):
    """Reads a right side."""

    def leaf(self) -> Side | None:
        if (word := self.cursor.take(EPSILON)) is not None:
            return Side(Op.EPSILON, offset=word.start)
        if (name := self.cursor.take(_SYMBOL)) is not None:
            return Side(Op.SYMBOL, symbol=str(name), offset=name.start)
        return None

    def infix(self) -> Sign[Op] | None:
        if self.cursor.take("|"):
            return Sign(Op.OR, Op.OR, Takes.ALL)
        return Sign(Op.SEQUENCE, Op.SEQUENCE, Takes.ALL) if self.cursor.peek(*_OPERAND) else None

    def postfix(self, part: Side) -> Side | None:
        sign = self.cursor.take(*_BEHIND)
        return None if sign is None else combine(_BEHIND[sign], (part,), sign.start)

    def join(self, signs: Sequence[Sign[Op]], parts: Sequence[Side]) -> Side:
        return combine(signs[0].op, tuple(parts))
