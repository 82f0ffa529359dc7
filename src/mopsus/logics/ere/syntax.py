"""Stage 2: the text of an extended regular expression: parsed, checked and printed."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from mopsus.logics.logic import FormulaError
from mopsus.logics.text import load_grammar, run_parser
from mopsus.logics.tree import ambiguous_word, depth_above, taken_in, unknown_event, walk

if TYPE_CHECKING:
    from lark import Lark, Token

MAX_SIZE = 100_000
"""How many events an expression may have with its repetitions `^n` written out."""


class Op(IntEnum):
    """The operators, loosest first: this order is their precedence."""

    OR = 0
    AND = 1
    SEQUENCE = 2
    NOT = 3
    STAR = 4
    PLUS = 5
    POWER = 6
    EVENT = 7
    EMPTY = 8
    EPSILON = 9


@dataclass(frozen=True, slots=True)
class Ere:
    """An expression: an operator over its parts. `OR`, `AND` and `SEQUENCE` have two parts or more, none of the same
    operator; the postfix operators and `NOT` have one."""

    op: Op
    parts: tuple[Ere, ...] = ()
    event: str = ""  # of EVENT
    count: int = 0  # of POWER
    offset: int = field(default=0, compare=False)
    depth: int = field(default=1, compare=False, repr=False)
    size: int = field(default=1, compare=False, repr=False)


def parse_expression(text: str, alphabet: tuple[str, ...]) -> Ere:
    """The expression that `text` denotes over the events of `alphabet`, or `FormulaError`."""
    if not text.strip():
        raise FormulaError("the expression is empty", offset=0, hint="write 'epsilon' for the empty trace")
    expression: Ere = run_parser(_parser(), text, _WORDS)
    for part in walk(expression):
        if part.op is Op.EVENT and part.event not in alphabet:
            raise unknown_event(part.event, part.offset, alphabet)
        word = part.op.name.lower()
        if part.op in (Op.EMPTY, Op.EPSILON) and word in alphabet:
            raise ambiguous_word(word, part.offset)
    return expression


def print_expression(expression: Ere) -> str:
    """The canonical text, with no more parentheses than precedence asks for."""
    return _print(expression, Op.OR)


def categories_of(expression: Ere) -> frozenset[str]:
    """`match` and `fail`, whatever the expression."""
    return frozenset({"match", "fail"})


def events_of(expression: Ere) -> frozenset[str]:
    """The events written in the expression."""
    return frozenset(part.event for part in walk(expression) if part.op is Op.EVENT)


def combine(op: Op, parts: tuple[Ere, ...], *, count: int = 0, offset: int | None = None) -> Ere:
    """An expression of `parts`, those of the same associative operator taken in; `FormulaError` if it is too large."""
    if op in (Op.OR, Op.AND, Op.SEQUENCE):
        parts = taken_in(op, parts)
    where = parts[0].offset if offset is None else offset
    size = sum(part.size for part in parts) * (count if op is Op.POWER else 1)
    if size > MAX_SIZE:
        raise FormulaError(
            f"the repetition is too large: written out it has more than {MAX_SIZE:,} events",
            offset=where,
            code="LOGIC-007",
            hint="repeat less often",
        )
    depth = depth_above(parts, where, "simplify the expression")
    return Ere(op, parts, count=count, offset=where, depth=depth, size=max(size, 1))


_INFIX = {Op.OR: " | ", Op.AND: " & ", Op.SEQUENCE: " "}


def _print(expression: Ere, context: Op) -> str:
    """The text of `expression` where an operand that binds at least as tightly as `context` is wanted."""
    op = expression.op
    match op:
        case Op.OR | Op.AND | Op.SEQUENCE:
            text = _INFIX[op].join(_print(part, Op(op + 1)) for part in expression.parts)
        case Op.NOT:
            text = "~" + _print(expression.parts[0], Op.NOT)
        case Op.STAR | Op.PLUS | Op.POWER:
            suffix = {Op.STAR: "*", Op.PLUS: "+"}.get(op, f"^{expression.count}")
            text = _print(expression.parts[0], Op.STAR) + suffix
        case Op.EVENT:
            text = expression.event
        case Op.EMPTY | Op.EPSILON:
            text = op.name.lower()
    return f"({text})" if op < context else text


_WORDS = {
    "NAME": "an event",
    "EMPTY": "'empty'",
    "EPSILON": "'epsilon'",
    "TILDE": "'~'",
    "STAR": "'*'",
    "PLUS": "'+'",
    "POWER": "'^'",
    "COUNT": "a number",
    "LPAR": "'('",
    "RPAR": "')'",
    "VBAR": "'|'",
    "AMPERSAND": "'&'",
    "$END": "the end",
}

_POSTFIX = {"*": Op.STAR, "+": Op.PLUS, "^": Op.POWER}


@cache
def _parser() -> Lark:
    from lark import Token, Transformer, v_args

    @v_args(inline=True)
    class Build(Transformer[Token, object]):
        def NAME(self, token: Token) -> Ere:
            return Ere(Op.EVENT, event=str(token), offset=token.start_pos or 0)

        def EMPTY(self, token: Token) -> Ere:
            return Ere(Op.EMPTY, offset=token.start_pos or 0)

        def EPSILON(self, token: Token) -> Ere:
            return Ere(Op.EPSILON, offset=token.start_pos or 0)

        def union(self, *parts: Ere) -> Ere:
            return combine(Op.OR, parts)

        def intersection(self, *parts: Ere) -> Ere:
            return combine(Op.AND, parts)

        def sequence(self, *parts: Ere) -> Ere:
            return combine(Op.SEQUENCE, parts)

        def complement(self, tilde: Token, part: Ere) -> Ere:
            return combine(Op.NOT, (part,), offset=tilde.start_pos)

        def repeated(self, part: Ere, sign: Token, count: str = "0") -> Ere:
            # Python refuses to read very long numbers; any so long is too large anyway.
            number = int(count) if len(count) < 10 else MAX_SIZE + 1
            return combine(_POSTFIX[sign], (part,), count=number, offset=sign.start_pos)

        def group(self, left: Token, inner: Ere, right: Token) -> Ere:
            return inner

    return load_grammar(Path(__file__).with_name("grammar.lark"), Build())
