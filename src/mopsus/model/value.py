"""Stage 0: the values that parameters and fields take, as a report shows them.

A live object is never kept by a verdict, because that would prolong its life and so
change what the monitor sees; an `ObjectRef` stands for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Scalar: TypeAlias = "int | float | bool | str | bytes | None"


@dataclass(frozen=True, slots=True)
class ObjectRef:
    """An object as remembered: its type's name, its serial number, its `repr` cut at 80 characters."""

    type: str
    serial: int
    text: str

    def __str__(self) -> str:
        return f"{self.type}#{self.serial} {self.text}"


class Address(int):
    """An integer that is a place in memory, shown as those are. To a monitor it is the integer."""

    __slots__ = ()

    def __repr__(self) -> str:
        return hex(self)


Value: TypeAlias = "Scalar | ObjectRef | tuple[Value, ...] | list[Value] | dict[Value, Value]"
