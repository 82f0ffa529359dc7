"""Stage 2: the one parser of expressions: operands, brackets, and operators that bind more or less tightly."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import Enum
from typing import Generic, NamedTuple, TypeVar

from mopsus.logics.text import Cursor

Part = TypeVar("Part")
Op = TypeVar("Op")


class Takes(Enum):
    """The operands that an operator takes."""

    ONE = "the one behind it"
    TWO = "the one before it and the one behind; of several such operators the last is applied first"
    ALL = "all that it stands between"


class Sign(NamedTuple, Generic[Op]):
    """An operator as written, which waits for the operand behind it. A tighter one has a higher level."""

    op: Op
    level: int
    takes: Takes
    offset: int | None = None
    """None: nothing is written between the operands."""


class OperatorParser(ABC, Generic[Part, Op]):
    """Reads an expression at a cursor; a logic says what its operands and operators are.

    Postfix operators bind tightest. What is not finished waits on a list, not on Python's stack, which no text can
    therefore exhaust.
    """

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self._parts: list[Part] = []
        self._waiting: list[Sign[Op] | None] = []  # None: an open bracket
        self._open = 0

    @abstractmethod
    def leaf(self) -> Part | None:
        """The operand without operators that stands here."""

    @abstractmethod
    def infix(self) -> Sign[Op] | None:
        """The operator between two operands that stands here."""

    @abstractmethod
    def join(self, signs: Sequence[Sign[Op]], parts: Sequence[Part]) -> Part:
        """The expression of an operator and its operands: one of each, or the parts with the signs between them."""

    def prefix(self) -> Sign[Op] | None:
        """The operator before an operand that stands here."""
        return None

    def postfix(self, part: Part) -> Part | None:
        """The expression of the postfix operator that stands here and the part before it."""
        return None

    def group(self, part: Part) -> Part:
        """What the brackets around a part make of it."""
        return part

    def read(self) -> Part:
        """The longest expression here; `FormulaError` if there is none, or its brackets do not close."""
        self._read_operand()
        while True:
            if (part := self.postfix(self._parts[-1])) is not None:
                self._parts[-1] = part
            elif (sign := self.infix()) is not None:
                self._settle(sign.level + 1)
                self._waiting.append(sign)
                self._read_operand()
            elif self._open and self.cursor.take(")"):
                self._settle(0)
                self._waiting.pop()
                self._open -= 1
                self._parts[-1] = self.group(self._parts[-1])
            elif self._open:
                raise self.cursor.refusal()
            else:
                self._settle(0)
                return self._parts.pop()

    def _read_operand(self) -> None:
        while True:
            if (sign := self.prefix()) is not None:
                self._waiting.append(sign)
            elif self.cursor.take("("):
                self._waiting.append(None)
                self._open += 1
            elif (part := self.leaf()) is not None:
                self._parts.append(part)
                return
            else:
                raise self.cursor.refusal()

    def _settle(self, level: int) -> None:
        """Apply what waits since the last open bracket, if it is of this level or higher."""
        while self._waiting and (sign := self._waiting[-1]) is not None and sign.level >= level:
            signs = [sign]
            self._waiting.pop()
            while sign.takes is Takes.ALL and self._waiting and (before := self._waiting[-1]) is not None:
                if before.level != sign.level:
                    break
                signs.append(before)
                self._waiting.pop()
            count = len(signs) + (sign.takes is not Takes.ONE)
            parts = self._parts[-count:]
            del self._parts[-count:]
            self._parts.append(self.join(signs[::-1], parts))
