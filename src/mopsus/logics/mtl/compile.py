"""Stage 2: a metric temporal formula made into a machine that evaluates it event by event.

All operators come down to `previous`, `since`, `next`, `until` and connectives. Whatever depends on the
event alone is worked out here; equal parts are evaluated once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from mopsus.logics.logic import Request
from mopsus.logics.mtl.syntax import BOUNDED, FUTURE, TROUBLE, TimedFormula
from mopsus.logics.mtl.time import ALWAYS, UNITS, Bounds
from mopsus.logics.temporal.categories import CATEGORY, TRUTH
from mopsus.logics.temporal.syntax import Formula, Op, print_formula
from mopsus.logics.tree import walk
from mopsus.model import FormulaPart, Remark, TimedKind, TimedMachine, TimedOperator

Letter = tuple[bool, ...]
"""A value that depends on the event alone, by event."""


@dataclass(frozen=True, slots=True)
class _Node:
    """An operator over nodes and letters."""

    kind: TimedKind
    operands: tuple[_Node | Letter, ...]
    lower: Fraction = Fraction(0)
    upper: Fraction | None = None
    hash: int = field(default=0, compare=False)

    def __hash__(self) -> int:  # that of the parts is not computed again: formulas share many
        return self.hash


_Value = _Node | Letter


def compile_mtl(formula: TimedFormula, request: Request) -> TimedMachine:
    """The machine that says `validation` or `violation` at every event, and what is wrong with times."""
    alphabet = request.alphabet
    value = _Lowering(formula, alphabet).value(formula.formula)
    letters, operators, number = _numbered(value)
    goal = request.goal | TROUBLE
    at = _reported_at(formula, value, alphabet)
    wanted = request.goal & TROUBLE or frozenset(each for each in request.goal if at[each])
    deciding = alphabet if request.goal & TROUBLE else sorted(frozenset().union(*(at[each] for each in wanted)))
    alive = frozenset(frozenset({event}) for event in deciding)
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
    """Formulas as nodes over the letters of an alphabet."""

    def __init__(self, whole: TimedFormula, alphabet: tuple[str, ...]) -> None:
        self._whole = whole
        self._alphabet = alphabet

    def value(self, part: Formula) -> _Value:
        """The value of a part of the formula."""
        operands = [self.value(each) for each in part.parts]
        bounds = self._whole.bounds(part)
        match part.op:
            case Op.TRUE | Op.FALSE:
                return self._constant(part.op is Op.TRUE)
            case Op.ATOM:
                return tuple(event == part.name for event in self._alphabet)
            case Op.NOT:
                return _negate(operands[0])
            case Op.AND | Op.OR | Op.XOR:
                return _connect(TimedKind[part.op.name], operands)
            case Op.IMPLIES:
                return _connect(TimedKind.OR, [_negate(operands[0]), operands[1]])
            case Op.IFF:
                return _negate(_connect(TimedKind.XOR, operands))
            case Op.PREVIOUS | Op.NEXT:
                return _node(TimedKind[part.op.name], operands, bounds)
            case Op.WEAK_PREVIOUS | Op.WEAK_NEXT:
                return _dual(TimedKind[part.op.name.removeprefix("WEAK_")], operands, bounds)
            case Op.ONCE | Op.SINCE:
                return self._binary(TimedKind.SINCE, operands, bounds)
            case Op.EVENTUALLY | Op.UNTIL:
                return self._binary(TimedKind.UNTIL, operands, bounds)
            case Op.HISTORICALLY | Op.TRIGGER:
                return _dual(TimedKind.SINCE, operands, bounds)
            case Op.ALWAYS | Op.RELEASE:
                return _dual(TimedKind.UNTIL, operands, bounds)
        raise ValueError(f"not an operator of mtl: {part.op}")

    def _constant(self, value: bool) -> Letter:
        return (value,) * len(self._alphabet)

    def _binary(self, kind: TimedKind, operands: list[_Value], bounds: Bounds) -> _Value:
        needed = operands[1:] if operands[0] == self._constant(True) and len(operands) == 2 else operands
        return _node(kind, needed, bounds)


def _node(kind: TimedKind, operands: Sequence[_Value], bounds: Bounds = ALWAYS) -> _Node:
    key = (kind, tuple(operands), bounds.lower, bounds.upper)
    return _Node(*key, hash=hash(key))


def _dual(kind: TimedKind, operands: Sequence[_Value], bounds: Bounds) -> _Value:
    return _negate(_node(kind, [_negate(operand) for operand in operands], bounds))


def _negate(value: _Value) -> _Value:
    if isinstance(value, tuple):
        return tuple(not each for each in value)
    return value.operands[0] if value.kind is TimedKind.NOT else _node(TimedKind.NOT, [value])


_CONNECT: dict[TimedKind, Callable[[Sequence[bool]], bool]] = {
    TimedKind.AND: all,
    TimedKind.OR: any,
    TimedKind.XOR: lambda row: sum(row) % 2 == 1,
}


def _connect(kind: TimedKind, operands: Sequence[_Value]) -> _Value:
    """A connective, with all operands that depend on the event alone made into one."""
    letters = [operand for operand in operands if isinstance(operand, tuple)]
    others: list[_Value] = [operand for operand in operands if not isinstance(operand, tuple)]
    if letters:
        letter = tuple(_CONNECT[kind](row) for row in zip(*letters, strict=True))
        if not others or (kind is not TimedKind.XOR and all(each is (kind is TimedKind.OR) for each in letter)):
            return letter
        if any(each is not (kind is TimedKind.AND) for each in letter):  # else it makes no difference
            others = [letter, *others]
    return others[0] if len(others) == 1 else _node(kind, others)


def _numbered(value: _Value) -> tuple[tuple[Letter, ...], tuple[TimedOperator, ...], int]:
    """The letters, the operators and the number of `value`; letters have the lowest numbers, operands lower ones."""
    letters: dict[Letter, int] = {}
    nodes: dict[_Node, int] = {}

    def visit(each: _Value) -> None:
        if isinstance(each, tuple):
            letters.setdefault(each, len(letters))
        elif each not in nodes:
            for operand in each.operands:
                visit(operand)
            nodes.setdefault(each, len(nodes))

    def number(each: _Value) -> int:
        return letters[each] if isinstance(each, tuple) else len(letters) + nodes[each]

    visit(value)
    operators = tuple(
        TimedOperator(node.kind, tuple(number(operand) for operand in node.operands), node.lower, node.upper)
        for node in nodes
    )
    return tuple(letters), operators, number(value)


def _reported_at(formula: TimedFormula, value: _Value, alphabet: tuple[str, ...]) -> dict[str, frozenset[str]]:
    """By verdict, the events at which it may be given, as far as the event alone tells."""
    possible = {event: _possible(value, letter) for letter, event in enumerate(alphabet)}
    at = {
        category: frozenset(event for event in alphabet if truth in possible[event])
        for truth, category in CATEGORY.items()
    }
    if any(part.op in FUTURE for part in walk(formula.formula)):  # then it is given later, at whatever event
        at = {category: frozenset(alphabet if events else ()) for category, events in at.items()}
    return at | dict.fromkeys(TROUBLE, frozenset(alphabet))


_BOTH = frozenset({True, False})


def _possible(value: _Value, letter: int) -> frozenset[bool]:
    """The truth values that a formula may have at an event, whatever came before and comes after."""
    if isinstance(value, tuple):
        return frozenset({value[letter]})
    operands = [_possible(operand, letter) for operand in value.operands]
    match value.kind:
        case TimedKind.NOT:
            return frozenset(not each for each in operands[0])
        case TimedKind.AND:
            return _BOTH if _BOTH in operands and {False} not in operands else frozenset({{False} not in operands})
        case TimedKind.OR:
            return _BOTH if _BOTH in operands and {True} not in operands else frozenset({{True} in operands})
        case TimedKind.SINCE if value.lower == 0 and operands[-1] == {True}:
            return frozenset({True})
        case TimedKind.SINCE if (
            len(operands) == 2 and operands[0] == {False} and (value.lower > 0 or operands[1] == {False})
        ):
            return frozenset({False})
    return _BOTH


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
