"""Stage 2: formulas of all temporal logics: one tree, one precedence table, one parser and one printer.

A logic says which operators it has. From tightest to loosest: the unary operators; the binary
temporal ones (`S ~S U R W M`, right-associative); `and`; `or`; `xor`; `=>` (right-associative); `<=>`.
Systems of the field disagree on where the binary temporal operators and `xor` stand, so a
strict parser refuses formulas that would read differently elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from mopsus.logics.logic import FormulaError
from mopsus.logics.text import load_grammar, run_parser
from mopsus.logics.tree import depth_above, taken_in, unknown_event, walk

if TYPE_CHECKING:
    from lark import Lark, Token

MAX_SIZE = 10_000
"""How many operators and names a formula may have."""


class Op(Enum):
    """The operators, each with the spelling that is printed."""

    TRUE = "true"
    FALSE = "false"
    ATOM = "an event"
    NOT = "not"
    AND = "and"
    OR = "or"
    XOR = "xor"
    IMPLIES = "=>"
    IFF = "<=>"
    PREVIOUS = "(*)"
    WEAK_PREVIOUS = "~(*)"
    ONCE = "<*>"
    HISTORICALLY = "[*]"
    SINCE = "S"
    TRIGGER = "~S"
    """The dual of `S`: `a ~S b` is `not (not a S not b)`."""
    AT = "@"
    """The value at the begin or at the call of the current method; the mode says which."""
    NEXT = "o"
    WEAK_NEXT = "~o"
    EVENTUALLY = "<>"
    ALWAYS = "[]"
    UNTIL = "U"
    WEAK_UNTIL = "W"
    RELEASE = "R"
    """The dual of `U`, also written `~U`."""
    STRONG_RELEASE = "M"


CONSTANTS = frozenset({Op.TRUE, Op.FALSE})
CONNECTIVES = frozenset({Op.NOT, Op.AND, Op.OR, Op.XOR, Op.IMPLIES, Op.IFF})
PAST = frozenset({Op.PREVIOUS, Op.WEAK_PREVIOUS, Op.ONCE, Op.HISTORICALLY, Op.SINCE, Op.TRIGGER})
FUTURE = frozenset(
    {
        Op.NEXT,
        Op.WEAK_NEXT,
        Op.EVENTUALLY,
        Op.ALWAYS,
        Op.UNTIL,
        Op.WEAK_UNTIL,
        Op.RELEASE,
        Op.STRONG_RELEASE,
    }
)
BINARY_TEMPORAL = frozenset({Op.SINCE, Op.TRIGGER, Op.UNTIL, Op.WEAK_UNTIL, Op.RELEASE, Op.STRONG_RELEASE})
ASSOCIATIVE = frozenset({Op.AND, Op.OR, Op.XOR})

_LEVELS = {Op.IFF: 0, Op.IMPLIES: 1, Op.XOR: 2, Op.OR: 3, Op.AND: 4} | dict.fromkeys(BINARY_TEMPORAL, 5)
_UNARY, _OPERAND = 6, 7
"""How tightly an operator binds; whatever is not in `_LEVELS` is unary, a name or a constant."""


@dataclass(frozen=True, slots=True)
class Interval:
    """The bounds written on an operator, as text: what a unit is, the logic says. No upper bound: `None`."""

    lower: str
    upper: str | None
    offset: int = field(default=0, compare=False)
    length: int = field(default=0, compare=False)

    def __str__(self) -> str:
        return f"[{self.lower},{'inf' if self.upper is None else self.upper}]"


@dataclass(frozen=True, slots=True)
class Formula:
    """An operator over its parts. `AND`, `OR` and `XOR` have two parts or more, none of the same operator."""

    op: Op
    parts: tuple[Formula, ...] = ()
    name: str = ""  # of ATOM
    interval: Interval | None = None
    mode: str = ""
    """Of ptcaret's operators: `a` (abstract), `s@b`, `s@c`, `s@bc` (over the stack); of `AT`: `b`, `c` or `bc`."""
    offset: int = field(default=0, compare=False)
    """Where the operator or the name is written."""
    grouped: bool = field(default=False, compare=False, repr=False)
    """Written in parentheses."""
    depth: int = field(default=1, compare=False, repr=False)
    size: int = field(default=1, compare=False, repr=False)


def combine(
    op: Op, parts: tuple[Formula, ...], *, interval: Interval | None = None, mode: str = "", offset: int | None = None
) -> Formula:
    """A formula of `parts`, those of the same associative operator taken in; `FormulaError` if it is too large."""
    if op in ASSOCIATIVE:
        parts = taken_in(op, parts)
    where = parts[0].offset if offset is None else offset
    size = 1 + sum(part.size for part in parts)
    if size > MAX_SIZE:
        raise FormulaError(
            f"the formula has more than {MAX_SIZE:,} operators and names",
            offset=where,
            code="LOGIC-007",
            hint="split the property",
        )
    depth = depth_above(parts, where, "simplify the formula")
    return Formula(op, parts, interval=interval, mode=mode, offset=where, depth=depth, size=size)


def events_of(formula: Formula) -> frozenset[str]:
    """The events (or propositions) written in the formula."""
    return frozenset(part.name for part in walk(formula) if part.op is Op.ATOM)


def parse_formula(
    text: str,
    alphabet: tuple[str, ...] | None,
    *,
    logic: str,
    operators: Collection[Op],
    modes: Collection[str] = ("",),
    intervals: bool = False,
    strict: bool = True,
) -> Formula:
    """The formula that `text` denotes over the events of `alphabet`, or `FormulaError`.

    `alphabet` None: any name is a proposition. `operators` are the temporal operators that `logic` has, beside the
    names, constants and connectives that all have. `strict` refuses what reads differently in
    other systems unless parentheses settle it.

    Where an operand is expected, a declared event wins over an operator or a constant of the same name.
    """
    if not text.strip():
        raise FormulaError("the formula is empty", offset=0, hint="write 'true' for what always holds")
    allowed = frozenset(operators) | CONSTANTS | CONNECTIVES | {Op.ATOM}
    events = frozenset(alphabet or ())
    formula: Formula = run_parser(_parser(), text, _WORDS, lambda token: _settle(token, events, allowed))
    for part in walk(formula):
        _check_operator(part, logic, allowed, modes, intervals)
        if strict:
            _check_reading(part)
        if part.op is Op.ATOM and alphabet is not None and part.name not in alphabet:
            raise unknown_event(part.name, part.offset, alphabet)
    return formula


def print_formula(formula: Formula) -> str:
    """The canonical text, which a strict parser reads back as the same formula, with no parentheses that it can
    do without."""
    return _print(formula, _LEVELS[Op.IFF], events_of(formula))


def _settle(token: Token, events: frozenset[str], allowed: frozenset[Op]) -> None:
    """Turn a word that was taken for an operator into the name that it is here."""
    if (token.type in _PREFIX_WORDS and token in events) or (token.type == "AT" and Op.AT not in allowed):
        token.type = "NAME"
    elif token.type == "WEAK_NEXT" and "o" in events:
        raise FormulaError(
            "'~o' is the weak next operator, and 'o' is also an event",
            offset=token.start_pos or 0,
            length=len(token),
            code="LOGIC-006",
            hint="write 'not o' for the event, or rename it",
        )


def _check_operator(part: Formula, logic: str, allowed: frozenset[Op], modes: Collection[str], intervals: bool) -> None:
    if part.op not in allowed or (part.mode not in modes and part.op is not Op.AT):
        raise FormulaError(
            f"'{_sign(part)}' is not an operator of {logic}",
            offset=part.offset,
            hint="it has: " + " ".join(op.value for op in Op if op in allowed and op not in CONSTANTS | {Op.ATOM}),
            code="LOGIC-015",
        )
    if part.interval is not None and (not intervals or part.op in CONNECTIVES):
        what = "an interval" if part.op in CONNECTIVES else f"an interval in {logic}"
        raise FormulaError(
            f"'{_sign(part)}' does not take {what}",
            offset=part.interval.offset,
            length=part.interval.length,
            hint="leave the interval out",
            code="LOGIC-015",
        )


def _check_reading(part: Formula) -> None:
    """Refuse an operand without parentheses that other systems would not take together."""
    if len(part.parts) < 2:
        return
    for index, operand in enumerate(part.parts):
        loose = operand.op in BINARY_TEMPORAL or (part.op is Op.XOR and operand.op is Op.OR)
        if loose and not operand.grouped and len(operand.parts) > 1:
            raise FormulaError(
                f"'{_sign(operand)}' beside '{_sign(part)}' needs parentheses: it could mean "
                f"'{_bracketed(part)}' or '{_bracketed(_other_reading(part, index))}'",
                offset=operand.offset,
                length=len(operand.op.value),
                hint="put parentheses around the part that you mean",
                code="LOGIC-016",
            )


def _other_reading(part: Formula, index: int) -> Formula:
    """The formula with the operand at `index` taken apart by an operator that binds more loosely than `part`'s."""
    operand = part.parts[index]
    first, *middle, last = operand.parts
    left = (*part.parts[:index], first)
    right = (last, *part.parts[index + 1 :])
    return replace(
        operand,
        parts=(
            replace(part, parts=left) if len(left) > 1 else first,
            *middle,
            replace(part, parts=right) if len(right) > 1 else last,
        ),
    )


def _bracketed(formula: Formula) -> str:
    """The text of a reading: its outermost operator, with every compound operand in parentheses."""
    taken = events_of(formula)
    sign = f" {_sign(formula)}{formula.interval or ''} "
    return sign.join(_print(part, _OPERAND, taken) for part in formula.parts)


def _sign(formula: Formula) -> str:
    sign = formula.op.value
    match formula.op:
        case Op.AT | Op.SINCE | Op.TRIGGER:
            return sign + formula.mode
        case Op.PREVIOUS | Op.WEAK_PREVIOUS | Op.ONCE | Op.HISTORICALLY:
            return sign[:-1] + formula.mode + sign[-1]
    return sign


_SPARE = {Op.TRUE: "1", Op.FALSE: "0", Op.NOT: "!", Op.NEXT: "()"}
"""Other spellings for words that are also events of the formula."""


def _print(formula: Formula, context: int, taken: frozenset[str]) -> str:
    """The text of `formula` where an operand that binds at least as tightly as `context` is wanted."""
    op = formula.op
    if op is Op.ATOM:
        return formula.name
    sign = _SPARE[op] if op in _SPARE and op.value in taken else _sign(formula)
    if op in CONSTANTS:
        return sign
    if op not in _LEVELS:
        sign += str(formula.interval or "")
        space = " " if sign[-1].isalnum() or (sign[-1] == "]" and formula.interval) else ""
        return _in_brackets(sign + space + _print(formula.parts[0], _UNARY, taken), context > _UNARY)
    level = _LEVELS[op]
    inner = _UNARY if op in BINARY_TEMPORAL else level + 1
    operands = [_operand(part, inner, op, taken) for part in formula.parts]
    if op is Op.IMPLIES:
        operands[1] = _operand(formula.parts[1], level, op, taken)
    elif op is Op.IFF:
        operands[0] = _operand(formula.parts[0], level, op, taken)
    return _in_brackets(f" {sign}{formula.interval or ''} ".join(operands), level < context)


def _operand(formula: Formula, context: int, within: Op, taken: frozenset[str]) -> str:
    needed = formula.op in BINARY_TEMPORAL or (within is Op.XOR and formula.op is Op.OR)
    return _print(formula, _UNARY if needed else context, taken)


def _in_brackets(text: str, needed: bool) -> str:
    return f"({text})" if needed else text


_PREFIX_WORDS = frozenset({"NOT", "PREVIOUS", "ONCE", "HISTORICALLY", "NEXT", "EVENTUALLY", "ALWAYS", "TRUE", "FALSE"})

_WORDS = {op.name: f"'{op.value}'" for op in Op} | {
    "NAME": "an event",
    "INTERVAL": "an interval",
    "LPAR": "'('",
    "RPAR": "')'",
    "$END": "the end",
}

_MODE = re.compile(r"@(bc|b|c)$|(?<=[*S])(a|s@bc|s@[bc])(?=[\])>]?$)")


def _interval(token: Token) -> Interval:
    text = str(token)
    where, length = token.start_pos or 0, len(token)
    if text.startswith("<="):
        return Interval("0", text[2:].strip(), where, length)
    lower, upper = (bound.strip() for bound in text[1:-1].split(","))
    return Interval(lower, None if upper in ("", "inf") else upper, where, length)


def _mode(token: Token) -> str:
    found = _MODE.search(token)
    return "" if found is None else found[1] or found[2]


@cache
def _parser() -> Lark:
    from lark import Token, Transformer, v_args

    @v_args(inline=True)
    class Build(Transformer[Token, object]):
        def NAME(self, token: Token) -> Formula:
            return Formula(Op.ATOM, name=str(token), offset=token.start_pos or 0)

        def TRUE(self, token: Token) -> Formula:
            return Formula(Op.TRUE, offset=token.start_pos or 0)

        def FALSE(self, token: Token) -> Formula:
            return Formula(Op.FALSE, offset=token.start_pos or 0)

        def iff(self, first: Formula, *rest: Formula | Token) -> Formula:
            formula = first
            for sign, part in zip(rest[::2], rest[1::2], strict=True):
                assert isinstance(sign, Token)
                assert isinstance(part, Formula)
                formula = combine(Op.IFF, (formula, part), offset=sign.start_pos)
            return formula

        def implies(self, left: Formula, sign: Token, right: Formula) -> Formula:
            return combine(Op.IMPLIES, (left, right), offset=sign.start_pos)

        def xor(self, *parts: Formula | Token) -> Formula:
            return _several(Op.XOR, parts)

        def disjunction(self, *parts: Formula | Token) -> Formula:
            return _several(Op.OR, parts)

        def conjunction(self, *parts: Formula | Token) -> Formula:
            return _several(Op.AND, parts)

        def binary(self, left: Formula, sign: Token, interval: Token | None, right: Formula) -> Formula:
            bounds = None if interval is None else _interval(interval)
            return combine(Op[sign.type], (left, right), interval=bounds, mode=_mode(sign), offset=sign.start_pos)

        def unary(self, sign: Token, interval: Token | None, part: Formula) -> Formula:
            bounds = None if interval is None else _interval(interval)
            return combine(Op[sign.type], (part,), interval=bounds, mode=_mode(sign), offset=sign.start_pos)

        def group(self, left: Token, inner: Formula, right: Token) -> Formula:
            return replace(inner, grouped=True)

    return load_grammar(Path(__file__).with_name("grammar.lark"), Build())


def _several(op: Op, parts: tuple[Formula | Token, ...]) -> Formula:
    formulas = tuple(part for part in parts if isinstance(part, Formula))
    sign = parts[1]
    assert not isinstance(sign, Formula)
    return combine(op, formulas, offset=sign.start_pos)
