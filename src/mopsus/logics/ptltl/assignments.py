"""Stage 2: past-time formulas as assignments to bits, one bit for each temporal operator.

Two forms, both plain data, for whoever turns them into code or circuits. The *sequential* form is a program of
assignments run in order at each event; a bit holds the value of its operator, and that of
`(*) F` the value of F, which is to be read one event later. The *parallel* form writes every right side over
the bits before the event, so that all can be assigned at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from mopsus.logics.temporal.syntax import Formula, Op


class Gate(Enum):
    """What an expression is made of."""

    TRUE = "true"
    FALSE = "false"
    EVENT = "event"
    BIT = "bit"
    NOT = "not"
    AND = "and"
    OR = "or"
    XOR = "xor"


@dataclass(frozen=True, slots=True, eq=False)
class Expression:
    """A gate over its inputs. Equal parts of one form are one object, so a form has no more of them than the formula
    has operators, times a few."""

    gate: Gate
    inputs: tuple[Expression, ...] = ()
    event: str = ""  # of EVENT
    bit: int = 0  # of BIT

    def __str__(self) -> str:
        match self.gate:
            case Gate.TRUE | Gate.FALSE:
                return str(self.gate.value)
            case Gate.EVENT:
                return self.event
            case Gate.BIT:
                return f"b{self.bit}"
            case Gate.NOT:
                return f"not {self.inputs[0]}"
        return "(" + f" {self.gate.value} ".join(map(str, self.inputs)) + ")"


@dataclass(frozen=True, slots=True)
class Assignment:
    """`target` becomes the value of the expression; None is the output, the value of the formula."""

    target: int | None
    value: Expression


@dataclass(frozen=True, slots=True)
class Assignments:
    """A form of a formula: its bits before the first event, and what happens to them at each event."""

    initial: tuple[bool, ...]
    steps: tuple[Assignment, ...]
    parallel: bool
    """Right sides are over the bits before the event; otherwise over the bits as the assignments before left them."""

    def step(self, bits: Sequence[bool], event: str) -> tuple[tuple[bool, ...], bool]:
        """The bits after the event, and the output."""
        after = list(bits)
        output = False
        values: dict[Expression, bool] = {}
        for assignment in self.steps:
            if not self.parallel:
                values = {}
            value = evaluate(assignment.value, bits if self.parallel else after, event, values)
            if assignment.target is None:
                output = value
            else:
                after[assignment.target] = value
        return tuple(after), output


def evaluate(expression: Expression, bits: Sequence[bool], event: str, known: dict[Expression, bool]) -> bool:
    """The value of the expression; `known` has the values of its parts for the same bits and event, and gets more."""
    found = known.get(expression)
    if found is not None:
        return found
    inputs = [evaluate(each, bits, event, known) for each in expression.inputs]
    match expression.gate:
        case Gate.TRUE | Gate.FALSE:
            value = expression.gate is Gate.TRUE
        case Gate.EVENT:
            value = expression.event == event
        case Gate.BIT:
            value = bits[expression.bit]
        case Gate.NOT:
            value = not inputs[0]
        case Gate.AND:
            value = all(inputs)
        case Gate.OR:
            value = any(inputs)
        case Gate.XOR:
            value = sum(inputs) % 2 == 1
    known[expression] = value
    return value


def sequential(formula: Formula) -> Assignments:
    """The formula as a program.

    Operators are assigned after their operands and read by their users as assigned, but a user of `(*) F` must see
    the bit as it was before the event: such bits are assigned last, outer ones before those inside them.
    """
    builder = _Builder(parallel=False)
    output = builder.value(formula)
    now = [Assignment(bit, value) for bit, value in enumerate(builder.updates) if bit not in builder.delayed]
    later = [Assignment(bit, builder.updates[bit]) for bit in sorted(builder.delayed, reverse=True)]
    return Assignments(tuple(builder.initial), (*now, Assignment(None, output), *later), parallel=False)


def parallel(formula: Formula) -> Assignments:
    """The formula as assignments that can all be done at once."""
    builder = _Builder(parallel=True)
    output = builder.value(formula)
    updates = [Assignment(bit, value) for bit, value in enumerate(builder.updates)]
    return Assignments(tuple(builder.initial), (*updates, Assignment(None, output)), parallel=True)


@dataclass(slots=True)
class _Builder:
    """Gives bits to operators, operands first; equal operators share one."""

    parallel: bool
    initial: list[bool] = field(default_factory=list)
    updates: list[Expression] = field(default_factory=list)
    delayed: set[int] = field(default_factory=set)
    """The bits that are read one event later."""
    _made: dict[tuple[object, ...], Expression] = field(default_factory=dict)
    _bits: dict[tuple[object, ...], Expression] = field(default_factory=dict)

    def value(self, formula: Formula) -> Expression:
        """The present value of the formula."""
        parts = tuple(self.value(part) for part in formula.parts)
        match formula.op:
            case Op.TRUE | Op.FALSE:
                return self._gate(Gate.TRUE if formula.op is Op.TRUE else Gate.FALSE)
            case Op.ATOM:
                return self._gate(Gate.EVENT, event=formula.name)
            case Op.NOT:
                return self._not(parts[0])
            case Op.AND | Op.OR | Op.XOR:
                return self._gate(Gate[formula.op.name], parts)
            case Op.IMPLIES:
                return self._gate(Gate.OR, (self._not(parts[0]), parts[1]))
            case Op.IFF:
                return self._not(self._gate(Gate.XOR, parts))
        return self._operator(formula.op, parts)

    def _operator(self, op: Op, parts: tuple[Expression, ...]) -> Expression:
        key = (op, *parts)
        found = self._bits.get(key)
        if found is not None:
            return found
        bit = len(self.updates)
        before = self._gate(Gate.BIT, bit=bit)
        self.initial.append(op in (Op.HISTORICALLY, Op.TRIGGER, Op.WEAK_PREVIOUS))
        match op:
            case Op.SINCE:
                update = self._gate(Gate.OR, (self._gate(Gate.AND, (parts[0], before)), parts[1]))
            case Op.TRIGGER:
                update = self._gate(Gate.AND, (self._gate(Gate.OR, (parts[0], before)), parts[1]))
            case Op.HISTORICALLY:
                update = self._gate(Gate.AND, (parts[0], before))
            case Op.ONCE:
                update = self._gate(Gate.OR, (parts[0], before))
            case Op.PREVIOUS | Op.WEAK_PREVIOUS:
                update = parts[0]
                self.delayed.add(bit)
            case _:
                raise ValueError(f"not an operator of ptltl: {op}")
        self.updates.append(update)
        # In a program, an operator's bit has its present value by the time that users read it; all at once, only the
        # right side has.
        present = update if self.parallel and bit not in self.delayed else before
        self._bits[key] = present
        return present

    def _not(self, value: Expression) -> Expression:
        return self._gate(Gate.NOT, (value,))

    def _gate(self, gate: Gate, inputs: tuple[Expression, ...] = (), *, event: str = "", bit: int = 0) -> Expression:
        return self._made.setdefault((gate, inputs, event, bit), Expression(gate, inputs, event, bit))
