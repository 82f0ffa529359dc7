"""Stage 2: formulas of all temporal logics: one tree, one precedence table, one parser and one printer.

A logic says which operators it has. From tightest to loosest: the unary operators; the binary
temporal ones (`S ~S U R W M`, right-associative); `and`; `or`; `xor`; `=>` (right-associative); `<=>`.
Systems of the field disagree on where the binary temporal operators and `xor` stand, so a
strict parser refuses formulas that would read differently elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import NamedTuple

from mopsus.logics.logic import FormulaError
from mopsus.logics.operators import OperatorParser, Sign, Takes
from mopsus.logics.text import WORD, Cursor, Kind, Token, Wanted
from mopsus.logics.tree import depth_above, taken_in, unknown_event, walk

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
    cursor = Cursor(text, _KNOWN)
    formula = _Parser(cursor, events, allowed).read()
    cursor.finish()
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


def _kinds(spellings: Mapping[Op, str]) -> dict[Wanted, Op]:
    return {Kind(f"'{op.value}'", re.compile(spelling)): op for op, spelling in spellings.items()}


# Where two fit, the first is taken: the weak forms begin with the `~` that is a negation elsewhere.
_BEFORE = _kinds(
    {
        Op.WEAK_NEXT: r"~\s*o\b",
        Op.WEAK_PREVIOUS: r"~\s*\(\*a?\)",
        Op.PREVIOUS: r"\(\*a?\)|(?:Y|previous)\b",
        Op.ONCE: r"<\*(?:a|s@bc|s@[bc])?>|(?:O|once)\b",
        Op.HISTORICALLY: r"\[\*(?:a|s@bc|s@[bc])?\]|(?:H|historically)\b",
        Op.NEXT: r"\(\)|[oX]\b",
        Op.EVENTUALLY: r"<>|(?:F|eventually)\b",
        Op.ALWAYS: r"\[\]|(?:G|always)\b",
        Op.AT: r"@(?:bc|b|c)\b",
        Op.NOT: r"!|~|not\b",
    }
)
_BETWEEN = _kinds(
    {
        Op.IFF: r"<=>|<->|iff\b",
        Op.IMPLIES: r"=>|->|implies\b",
        Op.XOR: r"\+\+|\^|(?i:xor)\b",
        Op.OR: r"\|\|?|or\b",
        Op.AND: r"&&?|and\b",
        Op.TRIGGER: r"~\s*S(?:a|s@bc|s@[bc])?\b",
        Op.SINCE: r"S(?:a|s@bc|s@[bc])?\b|since\b",
        Op.RELEASE: r"~\s*U\b|(?:R|release)\b",
        Op.UNTIL: r"(?:U|until)\b",
        Op.WEAK_UNTIL: r"W\b",
        Op.STRONG_RELEASE: r"M\b",
    }
)
_CONSTANT = _kinds({Op.TRUE: r"(?:true|1)\b", Op.FALSE: r"(?:false|0)\b"})
_NAME = Kind("an event", re.compile(rf"@?{WORD}"))
_INTERVAL = Kind("an interval", re.compile(r"\[\s*[0-9][\w.]*\s*,\s*+(?:[0-9][\w.]*|inf)?\s*\]|<=\s*[0-9][\w.]*"))
_KNOWN: tuple[Wanted, ...] = (_INTERVAL, *_BEFORE, *_BETWEEN, *_CONSTANT, "(", ")", _NAME)

_MODE = re.compile(r"@(bc|b|c)$|(?<=[*S])(a|s@bc|s@[bc])(?=[\])>]?$)")


class _Written(NamedTuple):
    """An operator with what is written on it."""

    op: Op
    mode: str = ""
    interval: Interval | None = None


class _Parser(OperatorParser[Formula, _Written]):
    def __init__(self, cursor: Cursor, events: frozenset[str], allowed: frozenset[Op]) -> None:
        super().__init__(cursor)
        self._events = events
        self._before = [kind for kind, op in _BEFORE.items() if op is not Op.AT or op in allowed]

    def leaf(self) -> Formula | None:
        if not self._at_event() and (constant := self.cursor.take(*_CONSTANT)) is not None:
            return Formula(_CONSTANT[constant.kind], offset=constant.start)
        name = self.cursor.take(_NAME)
        return None if name is None else Formula(Op.ATOM, name=str(name), offset=name.start)

    def prefix(self) -> Sign[_Written] | None:
        token = None if self._at_event() else self.cursor.take(*self._before)
        if token is None:
            return None
        op = _BEFORE[token.kind]
        if op is Op.WEAK_NEXT and "o" in self._events:
            raise FormulaError(
                "'~o' is the weak next operator, and 'o' is also an event",
                offset=token.start,
                length=len(token),
                code="LOGIC-006",
                hint="write 'not o' for the event, or rename it",
            )
        return Sign(_Written(op, _mode(token), self._interval()), _UNARY, Takes.ONE, token.start)

    def infix(self) -> Sign[_Written] | None:
        token = self.cursor.take(*_BETWEEN)
        if token is None:
            return None
        op = _BETWEEN[token.kind]
        written = _Written(op, _mode(token), self._interval()) if op in BINARY_TEMPORAL else _Written(op)
        takes = Takes.TWO if op in BINARY_TEMPORAL or op is Op.IMPLIES else Takes.ALL
        return Sign(written, _LEVELS[op], takes, token.start)

    def join(self, signs: Sequence[Sign[_Written]], parts: Sequence[Formula]) -> Formula:
        op, mode, interval = signs[0].op
        if op is not Op.IFF:
            return combine(op, tuple(parts), interval=interval, mode=mode, offset=signs[0].offset)
        formula = parts[0]
        for sign, part in zip(signs, parts[1:], strict=True):
            formula = combine(op, (formula, part), offset=sign.offset)
        return formula

    def group(self, part: Formula) -> Formula:
        return replace(part, grouped=True)

    def _at_event(self) -> bool:
        return self.cursor.peek(_NAME) in self._events

    def _interval(self) -> Interval | None:
        token = self.cursor.take(_INTERVAL)
        if token is None:
            return None
        if token.startswith("<="):
            return Interval("0", token[2:].strip(), token.start, len(token))
        lower, upper = (bound.strip() for bound in token[1:-1].split(","))
        return Interval(lower, None if upper in ("", "inf") else upper, token.start, len(token))


def _mode(token: Token) -> str:
    found = _MODE.search(token)
    return "" if found is None else found[1] or found[2]
