"""Stage 2: the text of a context-free grammar: parsed, checked and printed."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from mopsus.logics.logic import FormulaError
from mopsus.logics.text import load_grammar, run_parser, suggestion
from mopsus.logics.tree import ambiguous_word, depth_above, taken_in, walk

if TYPE_CHECKING:
    from lark import Lark, Token

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
    rules: list[Rule] = run_parser(_parser(), text, _WORDS)
    grammar = Cfg(tuple(rules), alphabet)
    _check(grammar)
    return grammar


def print_grammar(grammar: Cfg) -> str:
    """The canonical text: a line per rule, with no more parentheses than precedence asks for."""
    return ",\n".join(f"{rule.head} -> {_print(rule.body, Op.OR)}" for rule in grammar.rules)


def categories_of(grammar: Cfg) -> frozenset[str]:
    """`match` and `fail`, whatever the grammar."""
    return frozenset({"match", "fail"})


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


_WORDS = {
    "NAME": "an event or a non-terminal",
    "EPSILON": "'epsilon'",
    "_ARROW": "'->'",
    "_VBAR": "'|'",
    "COMMA": "','",
    "STAR": "'*'",
    "PLUS": "'+'",
    "LPAR": "'('",
    "RPAR": "')'",
    "$END": "the end",
}


@cache
def _parser() -> Lark:
    from lark import Token, Transformer, v_args

    @v_args(inline=True)
    class Build(Transformer[Token, object]):
        def start(self, *parts: Rule | Token) -> list[Rule]:
            return [part for part in parts if isinstance(part, Rule)]

        def rule(self, head: Token, body: Side) -> Rule:
            return Rule(str(head), body, head.start_pos or 0)

        def alternatives(self, *parts: Side) -> Side:
            return combine(Op.OR, parts)

        def sequence(self, *parts: Side) -> Side:
            return combine(Op.SEQUENCE, parts)

        def repeated(self, part: Side, sign: Token) -> Side:
            return combine(Op.STAR if sign == "*" else Op.PLUS, (part,), sign.start_pos)

        def symbol(self, name: Token) -> Side:
            return Side(Op.SYMBOL, symbol=str(name), offset=name.start_pos or 0)

        def epsilon(self, word: Token) -> Side:
            return Side(Op.EPSILON, offset=word.start_pos or 0)

        def group(self, left: Token, inner: Side, right: Token) -> Side:
            return inner

    return load_grammar(Path(__file__).with_name("grammar.lark"), Build())
