"""Stage 0: what a monitor says, with the events that led to it."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from dataclasses import dataclass

from mopsus.model.spec import Severity
from mopsus.model.value import Value


@dataclass(frozen=True, slots=True)
class WitnessEvent:
    """An event of the slice that led to a verdict. `row` counts from 1 within its trace."""

    event: str
    binding: Mapping[str, Value]
    location: str | None = None
    time: float | int | None = None
    row: int | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """A step of an explanation: a modality of the formula met an event, which fitted it or not."""

    modality: str
    """As it is written."""
    event: str
    data: tuple[Value, ...]
    """The values of the event's fields."""
    fitted: bool
    binding: Mapping[str, Value]
    """What its variables stand for since."""
    unfolded: tuple[str, ...] = ()
    """The fixed points that were entered, or entered again, after it."""
    location: str | None = None
    time: float | int | None = None
    row: int | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """A property reached a category for one parameter instance.

    `witness` ends with the event that gave the verdict; it is empty when history is off. `steps` say how a formula with
    data came to it, if explanations are on. `remarks` say what else must be known to judge it, in whole sentences.
    """

    spec: str
    property: str
    category: str
    truth: bool | None
    final: bool
    binding: Mapping[str, Value]
    location: str | None
    time: float | int | None
    witness: tuple[WitnessEvent, ...]
    severity: Severity = Severity.ERROR
    row: int | None = None
    steps: tuple[Step, ...] = ()
    remarks: tuple[str, ...] = ()

    def __str__(self) -> str:
        """In one line: `HasNext: match for i=17 at trace.csv row 12`."""
        from mopsus.model.text import default_message  # it needs this module

        return default_message(self)

    @builtins.property  # the field `property` hides the name in this class
    def violation(self) -> bool:
        """Does this verdict count as a violation?"""
        return self.severity is Severity.ERROR
