"""Stage 0: machines that evaluate a temporal formula over the times of events."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from fractions import Fraction

from mopsus.model.drawing import Drawing, Edge, Node
from mopsus.model.machine import Machine

UNTIMED = "untimed"
"""The category of an event that has no time."""

DISORDERED = "disordered"
"""The category of an event that is earlier than one that came before it."""

TIMED_VERDICTS = ("validation", "violation", UNTIMED, DISORDERED)
"""What a timed machine says, numbered as in the core."""


class TimedKind(IntEnum):
    """The operators that the core evaluates, numbered as there."""

    NOT = 0
    AND = 1
    OR = 2
    XOR = 3
    PREVIOUS = 4
    SINCE = 5
    NEXT = 6
    UNTIL = 7


@dataclass(frozen=True, slots=True)
class TimedOperator:
    """An operator over values that come before it; `SINCE` and `UNTIL` may lack the left one, which then always holds.

    The bounds are exact, in the machine's unit; no upper bound: `None`.
    """

    kind: TimedKind
    operands: tuple[int, ...]
    lower: Fraction = Fraction(0)
    upper: Fraction | None = None


@dataclass(frozen=True, slots=True)
class FormulaPart:
    """An operator or name of a formula, for drawings, with the numbers of its parts."""

    label: str
    parts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedMachine(Machine):
    """Values at each event: the letters first, which depend on the event alone, then those of the operators."""

    letters: tuple[tuple[bool, ...], ...] = field(repr=False)
    """Of each letter, whether it holds at each event of the alphabet."""
    operators: tuple[TimedOperator, ...]
    formula: int
    """The number of the value that is reported."""
    unit: int
    """Nanoseconds of the unit in which numbers are times."""
    tree: tuple[FormulaPart, ...] = field(repr=False)
    """The formula as it was written; all of it comes first."""
    reaches: frozenset[str]
    """The goal categories that some trace may reach."""
    alive: frozenset[frozenset[str]]
    """Sets of events; all of one of them must come before something in `goal` is reported."""

    def reportable(self) -> frozenset[str]:
        return self.reaches

    def drawing(self) -> Drawing:
        count = len(self.operators)
        return Drawing(
            nodes=tuple(Node(part.label, reports=number == 0) for number, part in enumerate(self.tree)),
            edges=tuple(
                Edge(number, "" if len(part.parts) == 1 else str(place), child)
                for number, part in enumerate(self.tree)
                for place, child in enumerate(part.parts, 1)
            ),
            initial=0,
            summary=f"{count} operator{'s' * (count != 1)}, {self._reports()}",
        )
