"""The Python of guards and blocks, as far as it is about integers, for an agent that has no Python.

Most code of properties counts and compares. That much becomes instructions of a small machine with a stack of words of
64 bits. What its words cannot tell - a sum that is too large for one, a variable that has no value or one of another
kind - is left to Python, there and then: the code is *given up*, and nothing of it has happened. So whatever the
instructions do tell is what Python would have told.

Nothing here has an effect but an assignment, and jumps go forward only: code always ends.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from operator import add, eq, ge, gt, le, lt, mul, ne, sub
from struct import Struct
from typing import NewType

from mopsus.interactive.cells import NoStepperError

MOST_VARIABLES = 8
DEEPEST = 16
"""Words that the stack of the agent has room for."""
_MOST_INSTRUCTIONS = 4096
_BITS = 63
_ALL = (1 << 64) - 1
INSTRUCTION = Struct("<qq")

Label = NewType("Label", int)


class Operation(IntEnum):
    """What an instruction does; each has an operand, which most do not need. The agent has the same numbers."""

    GIVE_UP = 0
    END = 1
    """The code is done, and this is what comes out."""
    NUMBER = 2
    VALUE = 3
    """Of the event, by place."""
    VARIABLE = 4
    ASSIGN = 5
    JUMP = 6
    """So many instructions are left out."""
    JUMP_IF_FALSE = 7
    JUMP_IF_FALSE_OR_DROP = 8
    """The word stays if it jumps."""
    JUMP_IF_TRUE_OR_DROP = 9
    NOT = 10
    ADD = 11
    SUBTRACT = 12
    MULTIPLY = 13
    LESS = 14
    AT_MOST = 15
    GREATER = 16
    AT_LEAST = 17
    EQUAL = 18
    DIFFERENT = 19
    TRUTH = 20
    """A number that is a truth value."""


_JUMPS = {
    Operation.JUMP,
    Operation.JUMP_IF_FALSE,
    Operation.JUMP_IF_FALSE_OR_DROP,
    Operation.JUMP_IF_TRUE_OR_DROP,
}
_BINARY: dict[Operation, Callable[[int, int], int]] = {
    Operation.ADD: add,
    Operation.SUBTRACT: sub,
    Operation.MULTIPLY: mul,
    Operation.LESS: lt,
    Operation.AT_MOST: le,
    Operation.GREATER: gt,
    Operation.AT_LEAST: ge,
    Operation.EQUAL: eq,
    Operation.DIFFERENT: ne,
}
_OPERATORS: dict[type[ast.AST], Operation] = {
    ast.Add: Operation.ADD,
    ast.Sub: Operation.SUBTRACT,
    ast.Mult: Operation.MULTIPLY,
    ast.Lt: Operation.LESS,
    ast.LtE: Operation.AT_MOST,
    ast.Gt: Operation.GREATER,
    ast.GtE: Operation.AT_LEAST,
    ast.Eq: Operation.EQUAL,
    ast.NotEq: Operation.DIFFERENT,
}


@dataclass(frozen=True, slots=True)
class Instruction:
    """One step of code."""

    operation: Operation
    operand: int = 0

    def __bytes__(self) -> bytes:
        return INSTRUCTION.pack(self.operation, self.operand)


def is_word(value: object) -> bool:
    """Can the machine hold it? A truth value counts as a number, as it does in Python."""
    return isinstance(value, int) and -(1 << _BITS) <= value < 1 << _BITS


class Assembler:
    """Code as it grows, piece by piece. `NoStepperError` if it gets too long."""

    def __init__(self, variables: Sequence[str]) -> None:
        self.variables = variables
        self._code: list[tuple[Operation, int]] = []
        self._places: list[int | None] = []
        self._depth = 0

    @property
    def next(self) -> int:
        """Where the next instruction will be."""
        return len(self._code)

    def label(self) -> Label:
        """A place further on, for jumps."""
        self._places.append(None)
        return Label(len(self._places) - 1)

    def put(self, label: Label) -> None:
        """The place is here."""
        self._places[label] = self.next

    def emit(self, operation: Operation, operand: int = 0) -> None:
        if self.next == _MOST_INSTRUCTIONS:
            raise NoStepperError("its code is too long")
        self._code.append((operation, operand))

    def expression(self, node: ast.expr, values: Sequence[str]) -> None:
        """Code that leaves the value of an expression on the stack. `values` are the names of the event's."""
        self._depth += 1
        if self._depth > DEEPEST:
            raise NoStepperError("an expression of its code is too deep")
        self._expression(node, values)
        self._depth -= 1

    def assign(self, name: str) -> None:
        """Code that takes the value of a variable from the stack."""
        self.emit(Operation.ASSIGN, self.variables.index(name))

    def take_constant(self, begin: int) -> int | None:
        """What comes out of the code from there on, if it only says so; it is gone then."""
        match self._code[begin:]:
            case [(Operation.END, operand)]:
                del self._code[begin:]
                return operand
        return None

    def done(self) -> tuple[Instruction, ...]:
        """All of it, with the distances of jumps."""
        return tuple(
            Instruction(operation, self._distance(at, Label(operand)) if operation in _JUMPS else operand)
            for at, (operation, operand) in enumerate(self._code)
        )

    def _distance(self, at: int, label: Label) -> int:
        place = self._places[label]
        assert place is not None
        assert place > at, "jumps go forward"
        return place - at - 1

    def _expression(self, node: ast.expr, values: Sequence[str]) -> None:
        match node:
            case ast.Constant(value=int() as number) if is_word(number):
                self.emit(Operation.TRUTH if isinstance(number, bool) else Operation.NUMBER, int(number))
            case ast.Name(id=name):
                self._name(name, values)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                self.emit(Operation.NUMBER, 0)
                self.expression(operand, values)
                self.emit(Operation.SUBTRACT)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self._expression(operand, values)
                self.emit(Operation.NOT)
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATORS:
                self._two(left, operator, right, values)
            case ast.Compare(left=left, ops=operators, comparators=others):
                self._comparison(left, operators, others, values)
            case ast.BoolOp(op=operator, values=operands):
                self._until(operator, [partial(self._expression, each, values) for each in operands])
            case ast.IfExp(test=test, body=body, orelse=otherwise):
                self._either(test, body, otherwise, values)
            case _:
                raise NoStepperError(f"`{ast.unparse(node)}` in its code is no arithmetic of integers")

    def _name(self, name: str, values: Sequence[str]) -> None:
        if name in values:
            self.emit(Operation.VALUE, values.index(name))
        elif name in self.variables:
            self.emit(Operation.VARIABLE, self.variables.index(name))
        else:
            raise NoStepperError(f"`{name}` in its code is neither a variable nor a value of the event")

    def _two(self, left: ast.expr, operator: ast.operator | ast.cmpop, right: ast.expr, values: Sequence[str]) -> None:
        self._expression(left, values)
        self.expression(right, values)
        self.emit(_OPERATORS[type(operator)])

    def _comparison(
        self, left: ast.expr, operators: Sequence[ast.cmpop], others: Sequence[ast.expr], values: Sequence[str]
    ) -> None:
        """A chain is all its comparisons: what stands between two is computed twice, which nobody notices."""
        for operator in operators:
            if type(operator) not in _OPERATORS:
                raise NoStepperError("its code has a comparison that is not about integers")
        pairs = zip((left, *others), operators, others, strict=False)
        self._until(ast.And(), [partial(self._two, *pair, values) for pair in pairs])

    def _until(self, operator: ast.boolop, parts: Sequence[Callable[[], None]]) -> None:
        """The first part that decides, or the last."""
        end = self.label()
        both = isinstance(operator, ast.And)
        jump = Operation.JUMP_IF_FALSE_OR_DROP if both else Operation.JUMP_IF_TRUE_OR_DROP
        for part in parts[:-1]:
            part()
            self.emit(jump, end)
        parts[-1]()
        self.put(end)

    def _either(self, test: ast.expr, body: ast.expr, otherwise: ast.expr, values: Sequence[str]) -> None:
        other, end = self.label(), self.label()
        self._expression(test, values)
        self.emit(Operation.JUMP_IF_FALSE, other)
        self._expression(body, values)
        self.emit(Operation.JUMP, end)
        self.put(other)
        self._expression(otherwise, values)
        self.put(end)


@dataclass(frozen=True, slots=True)
class Compiler:
    """Makes code of statements. What a `return` does is told by `returns`; whoever may not assign is refused."""

    assembler: Assembler
    values: Sequence[str]
    """The names of the event's."""
    assigns: bool
    returns: Callable[[ast.expr | None], None]

    def compile(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            match statement:
                case ast.Pass() | ast.Expr(value=ast.Constant()):
                    pass
                case ast.Return(value=value):
                    self.returns(value)
                case ast.If(test=test, body=then, orelse=otherwise):
                    self._either(test, then, otherwise)
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self._assign(name, value)
                case ast.AugAssign(target=ast.Name(id=name), op=operator, value=value):
                    self._assign(name, ast.BinOp(ast.Name(name, ast.Load()), operator, value))
                case _:
                    first = ast.unparse(statement).partition("\n")[0]
                    raise NoStepperError(f"`{first}` in its code is no arithmetic of integers")

    def _assign(self, name: str, value: ast.expr) -> None:
        if not self.assigns:
            raise NoStepperError(f"a guard assigns `{name}`")
        if name in self.values:
            raise NoStepperError(f"its code assigns `{name}`, which is a value of the event")
        self.assembler.expression(value, self.values)
        self.assembler.assign(name)

    def _either(self, test: ast.expr, then: Sequence[ast.stmt], otherwise: Sequence[ast.stmt]) -> None:
        other, end = self.assembler.label(), self.assembler.label()
        self.assembler.expression(test, self.values)
        self.assembler.emit(Operation.JUMP_IF_FALSE, other)
        self.compile(then)
        self.assembler.emit(Operation.JUMP, end)
        self.assembler.put(other)
        self.compile(otherwise)
        self.assembler.put(end)


def run(
    code: Sequence[Instruction], begin: int, values: Sequence[int | None], variables: Sequence[int | None]
) -> tuple[int, list[int | None]] | None:
    """What comes out of the code that begins there, and the variables afterwards; None if it is given up. This is what
    the agent does. None is a value that no word can hold."""
    stack: list[int] = []
    after = list(variables)
    at = begin
    while True:
        operation, operand = code[at].operation, code[at].operand
        at += 1
        match operation:
            case Operation.GIVE_UP:
                return None
            case Operation.END:
                return operand, after
            case Operation.NUMBER | Operation.TRUTH:
                stack.append(operand)
            case Operation.VALUE | Operation.VARIABLE:
                word = (values if operation is Operation.VALUE else after)[operand]
                if word is None:
                    return None
                stack.append(word)
            case Operation.ASSIGN:
                after[operand] = stack.pop()
            case Operation.JUMP:
                at += operand
            case Operation.JUMP_IF_FALSE:
                at += 0 if stack.pop() else operand
            case Operation.JUMP_IF_FALSE_OR_DROP | Operation.JUMP_IF_TRUE_OR_DROP:
                if bool(stack[-1]) is (operation is Operation.JUMP_IF_TRUE_OR_DROP):
                    at += operand
                else:
                    stack.pop()
            case Operation.NOT:
                stack.append(not stack.pop())
            case _:
                right, left = stack.pop(), stack.pop()
                result = _BINARY[operation](left, right)
                if not is_word(result):
                    return None
                stack.append(result)


def to_words(variables: Sequence[int | None]) -> list[int]:
    """Variables as the agent has them: first, as bits, which of them it knows."""
    known = sum(1 << place for place, value in enumerate(variables) if value is not None)
    return [known, *((value or 0) & _ALL for value in variables)]


def from_words(words: Sequence[int]) -> list[int | None]:
    """The variables that the agent has."""
    known, *rest = words
    return [
        (word - (1 << 64) if word >> _BITS else word) if known >> place & 1 else None for place, word in enumerate(rest)
    ]


def of_environment(names: Sequence[str], environment: Mapping[str, object]) -> list[int | None]:
    """Variables by name, those that the machine can hold."""
    found = [environment.get(name) for name in names]
    return [int(value) if isinstance(value, int) and is_word(value) else None for value in found]
