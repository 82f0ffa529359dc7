"""Stage 2: a metric temporal formula made into a machine that evaluates it event by event.

All operators come down to `previous`, `since`, `next`, `until` and connectives. Whatever depends on the
event alone is worked out here; equal parts are evaluated once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from mopsus.logics.logic import Request
from mopsus.logics.mtl.syntax import BOUNDED, FUTURE, TROUBLE, TimedFormula
from mopsus.logics.mtl.time import ALWAYS, UNITS, Bounds
from mopsus.logics.temporal.categories import CATEGORY, TRUTH
from mopsus.logics.temporal.syntax import Formula, Op, print_formula
from mopsus.logics.tree import walk
from mopsus.model import FormulaPart, Remark, TimedKind, TimedMachine, TimedOperator


@dataclass(frozen=True, slots=True)
class _Letter:
    """A value that depends on the event alone: the events at which it holds, a bit each."""

    events: int


@dataclass(frozen=True, slots=True)
class _Result:
    """The value of an operator, by its number."""

    number: int


_Value: TypeAlias = _Letter | _Result


_DUAL = {TimedKind.AND: TimedKind.OR, TimedKind.OR: TimedKind.AND}


class _Operator(NamedTuple):
    kind: TimedKind
    operands: tuple[_Value, ...]
    lower: Fraction
    upper: Fraction | None


def compile_mtl(formula: TimedFormula, request: Request) -> TimedMachine:
    """The machine that says `validation` or `violation` at every event, and what is wrong with times."""
    alphabet = request.alphabet
    lowering = _Lowering(formula, alphabet)
    value = lowering.value(formula.formula)
    letters, operators, number = lowering.numbered(value)
    goal = request.goal | TROUBLE
    at = lowering.reported_at(value)
    wanted = request.goal & TROUBLE or frozenset(each for each in request.goal if at[each])
    alive = frozenset(frozenset({event}) for each in wanted for event in at[each])
    return TimedMachine(
        alphabet=alphabet,
        goal=goal,
        creation=frozenset(alphabet),
        enable={category: {} for category in goal},
        coenable={category: dict.fromkeys(alphabet, alive) for category in goal},
        truth=TRUTH,
        remarks=tuple(_remarks(formula)),
        letters=letters,
        operators=operators,
        formula=number,
        unit=UNITS[formula.unit],
        tree=_tree(formula.formula),
        reaches=(frozenset(each for each in TRUTH if at[each]) & goal) | (TROUBLE if wanted else frozenset()),
        alive=alive,
    )


class _Lowering:
    """The operators of a formula over the letters of an alphabet; equal ones are the same, operands come first."""

    def __init__(self, whole: TimedFormula, alphabet: tuple[str, ...]) -> None:
        self._whole = whole
        self._alphabet = alphabet
        self._bits = {event: 1 << place for place, event in enumerate(alphabet)}
        self._all = (1 << len(alphabet)) - 1
        self._operators: list[_Operator] = []
        self._known: dict[_Operator, _Result] = {}

    def value(self, part: Formula) -> _Value:
        """The value of a part of the formula."""
        operands = [self.value(each) for each in part.parts]
        bounds = self._whole.bounds(part)
        match part.op:
            case Op.TRUE | Op.FALSE:
                return _Letter(self._all if part.op is Op.TRUE else 0)
            case Op.ATOM:
                return _Letter(self._bits[part.name])
            case Op.NOT:
                return self._negate(operands[0])
            case Op.AND | Op.OR | Op.XOR:
                return self._connect(TimedKind[part.op.name], operands)
            case Op.IMPLIES:
                return self._connect(TimedKind.OR, [self._negate(operands[0]), operands[1]])
            case Op.IFF:
                return self._negate(self._connect(TimedKind.XOR, operands))
            case Op.PREVIOUS | Op.NEXT:
                return self._operator(TimedKind[part.op.name], operands, bounds)
            case Op.WEAK_PREVIOUS | Op.WEAK_NEXT:
                return self._dual(TimedKind[part.op.name.removeprefix("WEAK_")], operands, bounds)
            case Op.ONCE | Op.SINCE:
                return self._temporal(TimedKind.SINCE, operands, bounds)
            case Op.EVENTUALLY | Op.UNTIL:
                return self._temporal(TimedKind.UNTIL, operands, bounds)
            case Op.HISTORICALLY | Op.TRIGGER:
                return self._dual(TimedKind.SINCE, operands, bounds)
            case Op.ALWAYS | Op.RELEASE:
                return self._dual(TimedKind.UNTIL, operands, bounds)
        raise ValueError(f"not an operator of mtl: {part.op}")

    def _operator(self, kind: TimedKind, operands: Sequence[_Value], bounds: Bounds = ALWAYS) -> _Result:
        operator = _Operator(kind, tuple(operands), bounds.lower, bounds.upper)
        if operator not in self._known:
            self._known[operator] = _Result(len(self._operators))
            self._operators.append(operator)
        return self._known[operator]

    def _temporal(self, kind: TimedKind, operands: Sequence[_Value], bounds: Bounds) -> _Value:
        always = len(operands) == 2 and operands[0] == _Letter(self._all)
        return self._operator(kind, operands[1:] if always else operands, bounds)

    def _dual(self, kind: TimedKind, operands: Sequence[_Value], bounds: Bounds) -> _Value:
        return self._negate(self._operator(kind, [self._negate(operand) for operand in operands], bounds))

    def _negate(self, value: _Value) -> _Value:
        if isinstance(value, _Letter):
            return _Letter(self._all & ~value.events)
        operator = self._operators[value.number]
        return operator.operands[0] if operator.kind is TimedKind.NOT else self._operator(TimedKind.NOT, [value])

    def _connect(self, kind: TimedKind, operands: Sequence[_Value]) -> _Value:
        """A connective, with all operands that depend on the event alone made into one.

        Connectives in each other are one as far as can be: it is known as soon as any of its operands decides it,
        where what stands inside of an operator is known in the order of events.
        """
        neutral = self._all if kind is TimedKind.AND else 0
        letter = neutral
        others: list[_Value] = []
        for operand in self._spliced(kind, operands):
            if not isinstance(operand, _Letter):
                others.append(operand)
            elif kind is TimedKind.AND:
                letter &= operand.events
            elif kind is TimedKind.OR:
                letter |= operand.events
            else:
                letter ^= operand.events
        if not others or (kind is not TimedKind.XOR and letter == self._all & ~neutral):
            return _Letter(letter)
        if letter != neutral:
            others = [_Letter(letter), *others]
        return others[0] if len(others) == 1 else self._operator(kind, others)

    def _spliced(self, kind: TimedKind, operands: Iterable[_Value]) -> Iterator[_Value]:
        """The operands, but for connectives of that kind their own; `not (p and q)` is `not p or not q`."""
        for operand in operands:
            operator = self._operators[operand.number] if isinstance(operand, _Result) else None
            inner = operator.operands[0] if operator is not None and operator.kind is TimedKind.NOT else None
            negated = self._operators[inner.number] if isinstance(inner, _Result) else None
            if operator is not None and operator.kind is kind:
                yield from operator.operands
            elif negated is not None and negated.kind is _DUAL.get(kind):
                yield from self._spliced(kind, map(self._negate, negated.operands))
            else:
                yield operand

    def numbered(self, value: _Value) -> tuple[tuple[tuple[bool, ...], ...], tuple[TimedOperator, ...], int]:
        """The letters and operators that `value` needs, and its number among all of them; letters come first."""
        needed = {value}
        for number in reversed(range(len(self._operators))):
            if _Result(number) in needed:
                needed.update(self._operators[number].operands)
        letters = sorted((each for each in needed if isinstance(each, _Letter)), key=lambda letter: letter.events)
        results = sorted((each for each in needed if isinstance(each, _Result)), key=lambda result: result.number)
        values: list[_Value] = [*letters, *results]
        numbers = {each: number for number, each in enumerate(values)}
        operators = [self._operators[result.number] for result in results]
        return (
            tuple(tuple(bool(letter.events & bit) for bit in self._bits.values()) for letter in letters),
            tuple(
                TimedOperator(each.kind, tuple(numbers[operand] for operand in each.operands), each.lower, each.upper)
                for each in operators
            ),
            numbers[value],
        )

    def reported_at(self, value: _Value) -> dict[str, frozenset[str]]:
        """By category, the events at which it may be given, as far as the event alone tells."""
        ahead = any(part.op in FUTURE for part in walk(self._whole.formula))
        at = dict.fromkeys(TROUBLE, frozenset(self._alphabet))
        for truth, events in zip((True, False), self._possible(value), strict=True):
            if ahead and events:  # a verdict on one event is given at another, whichever that is
                events = self._all
            at[CATEGORY[truth]] = frozenset(event for event, bit in self._bits.items() if events & bit)
        return at

    def _possible(self, value: _Value) -> tuple[int, int]:
        """The events at which a value may be true and false, whatever came before and comes after."""
        found: list[tuple[int, int]] = []

        def of(each: _Value) -> tuple[int, int]:
            return (each.events, self._all & ~each.events) if isinstance(each, _Letter) else found[each.number]

        for operator in self._operators:
            operands = [of(operand) for operand in operator.operands]
            true = false = self._all
            match operator.kind:
                case TimedKind.NOT:
                    false, true = operands[0]
                case TimedKind.AND:
                    true, false = _both(operands, self._all)
                case TimedKind.OR:
                    false, true = _both([(no, yes) for yes, no in operands], self._all)
                case TimedKind.SINCE:
                    left = operands[0] if len(operands) == 2 else (self._all, 0)
                    now = operands[-1] if operator.lower == 0 else (0, self._all)
                    true, false = now[0] | left[0], now[1]
            found.append((true, false))
        return of(value)


def _both(operands: Sequence[tuple[int, int]], everything: int) -> tuple[int, int]:
    """Where a conjunction may be true and false."""
    true, false = everything, 0
    for yes, no in operands:
        true, false = true & yes, false | no
    return true, false


def _tree(formula: Formula) -> tuple[FormulaPart, ...]:
    parts = list(walk(formula))
    numbers: list[tuple[int, ...]] = [()] * len(parts)

    def place(number: int) -> int:
        """The number after those of the part at `number`, whose children it fills in."""
        after = number + 1
        children: list[int] = []
        for _ in parts[number].parts:
            children.append(after)
            after = place(after)
        numbers[number] = tuple(children)
        return after

    place(0)
    return tuple(
        FormulaPart(part.name or f"{part.op.value}{part.interval or ''}", children)
        for part, children in zip(parts, numbers, strict=True)
    )


def _remarks(formula: TimedFormula) -> Iterator[Remark]:
    """Operators whose memory grows with the rate of events."""
    for part in walk(formula.formula):
        if part.op in BOUNDED:
            what = (
                f"'{print_formula(part)}' looks ahead: every event of its interval is kept, and its verdict comes late"
            )
            hint = "say it with past operators to have verdicts at once, in constant memory"
        elif formula.bounds(part).punctual and part.op not in (Op.PREVIOUS, Op.WEAK_PREVIOUS, Op.NEXT, Op.WEAK_NEXT):
            what = f"'{print_formula(part)}' asks for one point in time: the times of all events up to it are kept"
            hint = "widen the interval: then the memory is bounded, whatever the rate of events"
        else:
            continue
        yield Remark("LOGIC-060", what, hint, part.offset, len(part.op.value))
