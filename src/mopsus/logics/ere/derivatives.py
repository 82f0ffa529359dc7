"""Stage 2: Brzozowski derivatives of expressions, each expression stored once.

The derivative of R by an event e denotes the rest of the words of R that begin with e. Up to
associativity, commutativity and idempotence of `|` and `&` an expression has finitely many
derivatives, so these and the unit and zero laws are built into the constructors. Expressions
are numbers into a store, hence equal expressions are the same number and comparing is free.
"""

from __future__ import annotations

from collections.abc import Iterable

from mopsus.logics.ere.syntax import Ere, Op
from mopsus.logics.machines.automaton import too_large

MAX_WEIGHT = 1_000_000
"""How many subexpressions, and references between them, may be stored."""

EMPTY, EPSILON, ALL = 0, 1, 2  # the numbers of `empty`, `epsilon` and `~empty`


class Derivatives:
    """A store of expressions over letters, closed under derivative."""

    def __init__(self) -> None:
        self._ops: list[Op] = []
        self._args: list[tuple[int, ...]] = []
        self._nullable: list[bool] = []
        self._numbers: dict[tuple[Op, tuple[int, ...]], int] = {}
        self._derived: dict[tuple[int, int], int] = {}
        self._weight = 0
        self._store(Op.EMPTY, (), False)
        self._store(Op.EPSILON, (), True)
        self._store(Op.NOT, (EMPTY,), True)

    def nullable(self, number: int) -> bool:
        """Does the expression contain the empty word?"""
        return self._nullable[number]

    def add(self, expression: Ere, letters: dict[str, int]) -> int:
        """The number of `expression`, where `letters` numbers the events."""
        parts = [self.add(part, letters) for part in expression.parts]
        match expression.op:
            case Op.EMPTY:
                return EMPTY
            case Op.EPSILON:
                return EPSILON
            case Op.EVENT:
                return self._store(Op.EVENT, (letters[expression.event],), False)
            case Op.OR | Op.AND:
                return self._lattice(expression.op, parts)
            case Op.SEQUENCE:
                return self._sequence(parts)
            case Op.NOT:
                return self._not(parts[0])
            case Op.STAR:
                return self._star(parts[0])
            case Op.PLUS:
                return self._sequence([parts[0], self._star(parts[0])])
            case Op.POWER:
                return self._sequence(parts * expression.count)

    def derive(self, number: int, letter: int) -> int:
        """The derivative by `letter`."""
        key = (number, letter)
        found = self._derived.get(key)
        if found is None:
            found = self._derived[key] = self._derive(number, letter)
        return found

    def _derive(self, number: int, letter: int) -> int:
        args = self._args[number]
        match self._ops[number]:
            case Op.EVENT:
                return EPSILON if args[0] == letter else EMPTY
            case Op.OR | Op.AND as op:
                return self._lattice(op, [self.derive(part, letter) for part in args])
            case Op.NOT:
                return self._not(self.derive(args[0], letter))
            case Op.STAR:
                return self._sequence([self.derive(args[0], letter), number])
            case Op.SEQUENCE:
                return self._derive_sequence(number, letter)
            case _:
                return EMPTY

    def _derive_sequence(self, number: int, letter: int) -> int:
        """Each part up to the first that is not nullable may be where the letter is read."""
        choices = []
        while self._ops[number] is Op.SEQUENCE:
            head, rest = self._args[number]
            choices.append(self._sequence([self.derive(head, letter), rest]))
            if not self._nullable[head]:
                return self._lattice(Op.OR, choices)
            number = rest
        choices.append(self.derive(number, letter))
        return self._lattice(Op.OR, choices)

    def _lattice(self, op: Op, parts: Iterable[int]) -> int:
        """`|` or `&` of the parts; the laws of the one are those of the other with `empty` and `~empty` swapped."""
        unit, zero = (EMPTY, ALL) if op is Op.OR else (ALL, EMPTY)
        members: set[int] = set()
        for part in parts:
            if self._ops[part] is op:
                members.update(self._args[part])
            else:
                members.add(part)
        members.discard(unit)
        if zero in members or any(self._ops[m] is Op.NOT and self._args[m][0] in members for m in members):
            return zero
        if EPSILON in members:
            others = [member for member in members if member != EPSILON]
            if op is Op.AND:
                return EPSILON if all(self._nullable[member] for member in others) else EMPTY
            if any(self._nullable[member] for member in others):
                members.discard(EPSILON)
        if len(members) < 2:
            return members.pop() if members else unit
        test = any if op is Op.OR else all
        return self._store(op, tuple(sorted(members)), test(self._nullable[member] for member in members))

    def _sequence(self, parts: list[int]) -> int:
        """The parts one after the other, nested to the right whatever way they came."""
        if not parts:
            return EPSILON
        flat: list[int] = []
        for part in parts[:-1]:
            rest = part
            while self._ops[rest] is Op.SEQUENCE:
                head, rest = self._args[rest]
                flat.append(head)
            flat.append(rest)
        result = parts[-1]  # is nested to the right already
        for part in reversed(flat):
            if part == EMPTY or result == EMPTY:
                return EMPTY
            if result == EPSILON:
                result = part
            elif part != EPSILON and not (part == ALL and result == ALL):
                nullable = self._nullable[part] and self._nullable[result]
                result = self._store(Op.SEQUENCE, (part, result), nullable)
        return result

    def _star(self, part: int) -> int:
        if part in (EMPTY, EPSILON):
            return EPSILON
        if part == ALL or self._ops[part] is Op.STAR:
            return part
        return self._store(Op.STAR, (part,), True)

    def _not(self, part: int) -> int:
        if self._ops[part] is Op.NOT:
            return self._args[part][0]
        return self._store(Op.NOT, (part,), not self._nullable[part])

    def _store(self, op: Op, args: tuple[int, ...], nullable: bool) -> int:
        number = self._numbers.setdefault((op, args), len(self._ops))
        if number == len(self._ops):
            self._weight += 1 + len(args)
            if self._weight > MAX_WEIGHT:
                raise too_large("its states are expressions too long to tell apart")
            self._ops.append(op)
            self._args.append(args)
            self._nullable.append(nullable)
        return number
