"""Stage 2: the text of an extended regular expression: parsed, checked and printed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from mopsus.logics.logic import FormulaError
from mopsus.logics.operators import OperatorParser, Sign, Takes
from mopsus.logics.text import WORD, Cursor, Kind, Wanted
from mopsus.logics.tree import ambiguous_word, depth_above, taken_in, unknown_event, walk

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
    cursor = Cursor(text, _KNOWN)
    expression = _Parser(cursor).read()
    cursor.finish()
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


_EVENT = Kind("an event", re.compile(WORD))
_COUNT = Kind("a number", re.compile("[0-9]+"))
_CONSTANTS = {"empty": Op.EMPTY, "epsilon": Op.EPSILON}
_BETWEEN = {"|": Op.OR, "&": Op.AND}
_BEHIND = {"*": Op.STAR, "+": Op.PLUS, "^": Op.POWER}
_OPERAND: tuple[Wanted, ...] = ("~", "(", *_CONSTANTS, _EVENT)
"""What an operand begins with."""
_KNOWN: tuple[Wanted, ...] = (*_OPERAND, ")", *_BETWEEN, *_BEHIND, _COUNT)


class _Parser(OperatorParser[Ere, Op]):
    def leaf(self) -> Ere | None:
        if (word := self.cursor.take(*_CONSTANTS)) is not None:
            return Ere(_CONSTANTS[word], offset=word.start)
        if (event := self.cursor.take(_EVENT)) is not None:
            return Ere(Op.EVENT, event=str(event), offset=event.start)
        return None

    def prefix(self) -> Sign[Op] | None:
        tilde = self.cursor.take("~")
        return None if tilde is None else Sign(Op.NOT, Op.NOT, Takes.ONE, tilde.start)

    def infix(self) -> Sign[Op] | None:
        if (token := self.cursor.take(*_BETWEEN)) is not None:
            return Sign(_BETWEEN[token], _BETWEEN[token], Takes.ALL)
        return Sign(Op.SEQUENCE, Op.SEQUENCE, Takes.ALL) if self.cursor.peek(*_OPERAND) else None

    def postfix(self, part: Ere) -> Ere | None:
        sign = self.cursor.take(*_BEHIND)
        if sign is None:
            return None
        count = str(self.cursor.need(_COUNT)) if sign == "^" else "0"
        # Python refuses to read very long numbers; any so long is too large anyway.
        number = int(count) if len(count) < 10 else MAX_SIZE + 1
        return combine(_BEHIND[sign], (part,), count=number, offset=sign.start)

    def join(self, signs: Sequence[Sign[Op]], parts: Sequence[Ere]) -> Ere:
        return combine(signs[0].op, tuple(parts), offset=signs[0].offset)
