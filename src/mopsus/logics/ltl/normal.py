"""Stage 2: temporal formulas in negation normal form, each distinct one kept once and known by number.

Few kinds are left: literals, `and`, `or`, next, until and release, and the present value of a past
operator. Bounds in steps stay numbers, so that a bound of a thousand is one node and not a thousand.
Past operators become *registers*, single bits that are stepped with every letter. A future formula
under a past operator cannot be known when the bit is set: it is replaced by an *oracle*, a truth value
that is guessed at every step while the formula (or its negation) becomes an obligation.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from mopsus.logics.logic import FormulaError
from mopsus.logics.temporal.syntax import FUTURE, PAST, Formula, Op

MAX_REGISTERS = 2_000
"""A bounded past operator needs one for each step that it looks back."""

MAX_AHEAD = 10_000
"""A bounded operator on the future needs a state for each step that it looks ahead."""

UNBOUNDED = -1

MAX_ORACLES = 8
"""Each oracle doubles the guesses at every step."""

FALSE, TRUE = 0, 1


class Kind(Enum):
    """What a node is."""

    CONSTANT = 0
    ATOM = 1
    PAST = 2
    """The present value of a register."""
    ORACLE = 3
    AND = 4
    OR = 5
    NEXT = 6
    """So many steps ahead, at a position that must exist."""
    WEAK_NEXT = 7
    """So many steps ahead, if there is such a position."""
    UNTIL = 8
    """The right part within so many steps, the left one until then."""
    RELEASE = 9
    """The dual of until."""


class Node(NamedTuple):
    """A formula over numbered parts. Atoms, registers and oracles are literals: positive or negative.

    `slot` is the number of a register or oracle, of the steps of next, or the bound of until and release.
    """

    kind: Kind
    parts: tuple[int, ...] = ()
    name: str = ""
    slot: int = 0
    positive: bool = True


class Past(Enum):
    """What a register holds; the comment says its present value, `b` being the value of the bit before the step."""

    SINCE = 0  # right or (left and b); the bit becomes that value
    TRIGGER = 1  # right and (left or b); the bit becomes that value
    PREVIOUS = 2  # b; the bit becomes the value of the operand


@dataclass(frozen=True, slots=True)
class Register:
    """One bit that remembers the past. Operands speak of letters, of oracles and of registers of lower number."""

    past: Past
    parts: tuple[int, ...]
    initial: bool


_DUALS = {
    Kind.AND: Kind.OR,
    Kind.OR: Kind.AND,
    Kind.NEXT: Kind.WEAK_NEXT,
    Kind.WEAK_NEXT: Kind.NEXT,
    Kind.UNTIL: Kind.RELEASE,
    Kind.RELEASE: Kind.UNTIL,
}


class Normal:
    """The distinct normal forms that a formula needs, with its registers and oracles.

    `ending`: tell next from weak next, which differ on traces that end.
    """

    def __init__(self, *, ending: bool = False) -> None:
        self.nodes: list[Node] = []
        self.registers: list[Register] = []
        self.oracles: list[int] = []
        """The formulas whose present truth is guessed."""
        self.ending = ending
        self._numbers: dict[Node, int] = {}
        self._register_numbers: dict[Register, int] = {}
        self._negations: dict[int, int] = {}
        self._add(Node(Kind.CONSTANT, slot=FALSE))
        self._add(Node(Kind.CONSTANT, slot=TRUE))
        self._negations = {FALSE: TRUE, TRUE: FALSE}

    def add(self, formula: Formula) -> int:
        """The number of the normal form of `formula`; `FormulaError` if it is too large."""
        return self._lower(formula, within_past=False)

    def negate(self, number: int) -> int:
        """The normal form of the negation."""
        found = self._negations.get(number)
        if found is None:
            node = self.nodes[number]
            if node.kind in _DUALS:
                parts = tuple(map(self.negate, node.parts))
                found = self.make(_DUALS[node.kind], parts, node.slot)
            else:
                found = self._add(node._replace(positive=not node.positive))
            self._negations[number] = found
            self._negations[found] = number
        return found

    # -- making nodes --------------------------------------------------------------------------

    def _add(self, node: Node) -> int:
        found = self._numbers.get(node)
        if found is None:
            found = self._numbers[node] = len(self.nodes)
            self.nodes.append(node)
        return found

    def make(self, kind: Kind, parts: tuple[int, ...], slot: int = 0) -> int:
        """The number of a formula that is not a literal, simplified."""
        match kind:
            case Kind.AND:
                return self._several(kind, parts, unit=TRUE, zero=FALSE)
            case Kind.OR:
                return self._several(kind, parts, unit=FALSE, zero=TRUE)
            case Kind.UNTIL:
                return self._until(kind, parts, slot, unit=FALSE, zero=TRUE)
            case Kind.RELEASE:
                return self._until(kind, parts, slot, unit=TRUE, zero=FALSE)
        return self._next(kind, parts[0], slot)

    def _several(self, kind: Kind, parts: Iterable[int], unit: int, zero: int) -> int:
        members: set[int] = set()
        for part in parts:
            node = self.nodes[part]
            members.update(node.parts if node.kind is kind else (part,))
        members.discard(unit)
        if zero in members or any(self._negations.get(part) in members for part in members):
            return zero
        if len(members) < 2:
            return next(iter(members), unit)
        return self._add(Node(kind, tuple(sorted(members))))

    def _until(self, kind: Kind, parts: tuple[int, ...], bound: int, unit: int, zero: int) -> int:
        """Until for unit `false`; release, its dual, for unit `true`."""
        left, right = parts
        if bound == 0 or right in (unit, zero) or left in (unit, right):
            return right
        inner = self.nodes[right]
        if inner.kind is kind and left == inner.parts[0] and bound == inner.slot == UNBOUNDED:
            return right
        return self._add(Node(kind, parts, slot=bound))

    def _next(self, kind: Kind, part: int, steps: int) -> int:
        if not self.ending:
            kind = Kind.NEXT
        if steps == 0:
            return part
        # That there is a next position is something to be known only where words may end.
        if (part == TRUE and (kind is Kind.WEAK_NEXT or not self.ending)) or (
            part == FALSE and (kind is Kind.NEXT or not self.ending)
        ):
            return part
        inner = self.nodes[part]
        if inner.kind is kind:
            return self._add(Node(kind, inner.parts, slot=steps + inner.slot))
        return self._add(Node(kind, (part,), slot=steps))

    # -- from formulas -------------------------------------------------------------------------

    def _lower(self, formula: Formula, within_past: bool) -> int:
        if within_past and formula.op in FUTURE:
            return self._oracle(formula)
        past = within_past or formula.op in PAST
        parts = tuple(self._lower(part, past) for part in formula.parts)
        op = formula.op
        make = self.make
        match op:
            case Op.TRUE | Op.FALSE:
                return TRUE if op is Op.TRUE else FALSE
            case Op.ATOM:
                return self._add(Node(Kind.ATOM, name=formula.name))
            case Op.NOT:
                return self.negate(parts[0])
            case Op.AND | Op.OR:
                return make(Kind.AND if op is Op.AND else Kind.OR, parts)
            case Op.XOR | Op.IFF:
                value = parts[0]
                for part in parts[1:]:
                    value = self._xor(value, part)
                return value if op is Op.XOR else self.negate(value)
            case Op.IMPLIES:
                return make(Kind.OR, (self.negate(parts[0]), parts[1]))
            case Op.NEXT | Op.WEAK_NEXT:
                return make(Kind.NEXT if op is Op.NEXT else Kind.WEAK_NEXT, parts, 1)
            case Op.PREVIOUS | Op.WEAK_PREVIOUS:
                return self._register(Past.PREVIOUS, parts, initial=op is Op.WEAK_PREVIOUS)
        return self._bounded(formula, parts)

    def _xor(self, one: int, other: int) -> int:
        make = self.make
        return make(Kind.OR, (make(Kind.AND, (one, self.negate(other))), make(Kind.AND, (self.negate(one), other))))

    def _register(self, past: Past, parts: tuple[int, ...], *, initial: bool) -> int:
        unit, zero = (FALSE, TRUE) if past is Past.SINCE else (TRUE, FALSE)
        if past is not Past.PREVIOUS and (parts[1] in (unit, zero) or parts[0] == unit):
            return parts[1]
        if past is Past.PREVIOUS and parts[0] == (TRUE if initial else FALSE):
            return parts[0]
        register = Register(past, parts, initial)
        slot = self._register_numbers.setdefault(register, len(self.registers))
        if slot == len(self.registers):
            self.registers.append(register)
        return self._add(Node(Kind.PAST, slot=slot))

    def _oracle(self, formula: Formula) -> int:
        number = self._lower(formula, within_past=False)
        if self.nodes[number].kind is Kind.CONSTANT:
            return number
        negated = self.negate(number)
        for slot, known in enumerate(self.oracles):
            if known in (number, negated):
                return self._add(Node(Kind.ORACLE, slot=slot, positive=known == number))
        if len(self.oracles) == MAX_ORACLES:
            raise FormulaError(
                f"more than {MAX_ORACLES} formulas about the future stand under operators about the past",
                offset=formula.offset,
                code="LOGIC-007",
                hint="rewrite the property with the future operators outside",
            )
        self.oracles.append(number)
        return self._add(Node(Kind.ORACLE, slot=len(self.oracles) - 1))

    # -- operators that may be bounded in steps ------------------------------------------------

    def _bounded(self, formula: Formula, parts: tuple[int, ...]) -> int:
        lower, upper = (0, None) if formula.interval is None else step_bounds(formula)
        left, right, dual = self._as_until(formula.op, parts)
        within = UNBOUNDED if upper is None else upper - lower
        if formula.op in PAST:
            return self._looking_back(formula, left, right, dual, lower, within)
        if lower + max(within, 0) > MAX_AHEAD:
            raise _bounds_too_large(formula, f"ahead more than {MAX_AHEAD:,} steps")
        # The left part as long as the right one does not count, and from then on an operator bounded by its width.
        if dual:
            inner = self.make(Kind.RELEASE, (left, right), within)
            early = self.make(Kind.UNTIL, (TRUE, left), lower - 1) if lower else FALSE
            return self.make(Kind.OR, (early, self.make(Kind.WEAK_NEXT, (inner,), lower)))
        inner = self.make(Kind.UNTIL, (left, right), within)
        early = self.make(Kind.RELEASE, (FALSE, left), lower - 1) if lower else TRUE
        return self.make(Kind.AND, (early, self.make(Kind.NEXT, (inner,), lower)))

    def _looking_back(self, formula: Formula, left: int, right: int, dual: bool, lower: int, within: int) -> int:
        """Since, or its dual, written out from its farthest step."""
        gather, require = (Kind.AND, Kind.OR) if dual else (Kind.OR, Kind.AND)
        if lower + max(within, 0) + len(self.registers) > MAX_REGISTERS:
            raise _bounds_too_large(formula, f"back more than {MAX_REGISTERS:,} steps")
        value = right
        if within == UNBOUNDED:
            value = self._register(Past.TRIGGER if dual else Past.SINCE, (left, right), initial=dual)
        for distance in range(lower + max(within, 0), 0, -1):
            before = self._register(Past.PREVIOUS, (value,), initial=dual)
            value = self.make(require, (left, before))
            if distance > lower:
                value = self.make(gather, (right, value))
        return value

    def _as_until(self, op: Op, parts: tuple[int, ...]) -> tuple[int, int, bool]:
        """The operands as those of until or since, or, if the last is true, of the dual operator."""
        match op:
            case Op.UNTIL | Op.SINCE | Op.RELEASE | Op.TRIGGER:
                return parts[0], parts[1], op in (Op.RELEASE, Op.TRIGGER)
            case Op.EVENTUALLY | Op.ONCE:
                return TRUE, parts[0], False
            case Op.ALWAYS | Op.HISTORICALLY:
                return FALSE, parts[0], True
            case Op.WEAK_UNTIL:
                return parts[1], self.make(Kind.OR, parts), True
            case Op.STRONG_RELEASE:
                return parts[1], self.make(Kind.AND, parts), False
        raise ValueError(f"not an operator of ltl: {op}")


def step_bounds(formula: Formula) -> tuple[int, int | None]:
    """The bounds of an operator in steps, or `FormulaError`."""
    interval = formula.interval
    assert interval is not None
    if formula.op in (Op.NEXT, Op.WEAK_NEXT, Op.PREVIOUS, Op.WEAK_PREVIOUS):
        raise FormulaError(
            f"'{formula.op.value}' is about one step and takes no bounds",
            offset=interval.offset,
            length=interval.length,
            hint="leave the bounds out",
            code="LOGIC-015",
        )
    lower = _steps(interval.lower)
    upper = None if interval.upper is None else _steps(interval.upper)
    if lower is None or (interval.upper is not None and (upper is None or upper < lower)):
        raise FormulaError(
            f"'{interval}' is not a range of steps",
            offset=interval.offset,
            length=interval.length,
            hint="write two whole numbers, the smaller first, such as [0,3]; durations are for the logic mtl",
        )
    return lower, upper


def _bounds_too_large(formula: Formula, looks: str) -> FormulaError:
    return FormulaError(
        f"the bounds are too large: the formula looks {looks}",
        offset=formula.offset,
        code="LOGIC-007",
        hint="use smaller bounds; bounds in time are for the logic mtl, and what must be counted for efsm",
    )


def _steps(text: str) -> int | None:
    # Python refuses to read very long numbers; any so long is too large anyway.
    return (int(text) if len(text) < 10 else 10**9) if text.isdecimal() else None
