"""Stage 2: how formulas write spans of time, and what they are in the unit of a trace."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from mopsus.logics.logic import FormulaError
from mopsus.logics.temporal.syntax import Interval
from mopsus.logics.text import suggestion

UNITS = {
    "ns": 1,
    "us": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
    "d": 86400 * 10**9,
}
"""Nanoseconds of each unit."""

SECOND = "s"

LONGEST = 2**62
"""Bounds are less than this, in the unit of the trace: differences of times are counted in 64 bits."""

_DURATION = re.compile(r"([0-9]{1,30}(?:\.[0-9]{1,30})?)([^\W\d]*)")


@dataclass(frozen=True, slots=True)
class Bounds:
    """A closed interval of distances in time, exactly; no upper bound: `None`."""

    lower: Fraction = Fraction(0)
    upper: Fraction | None = None

    def has(self, distance: Fraction) -> bool:
        """Is a point at this distance in the interval?"""
        return self.lower <= distance and (self.upper is None or distance <= self.upper)

    @property
    def punctual(self) -> bool:
        """Is it a single distance other than zero?"""
        return self.lower == self.upper != 0


ALWAYS = Bounds()


def read_bounds(interval: Interval | None, unit: str) -> Bounds:
    """What an interval means in a trace whose times count `unit`; `FormulaError` if it means nothing."""
    if interval is None:
        return ALWAYS
    lower = _read_duration(interval.lower, unit, interval)
    upper = None if interval.upper is None else _read_duration(interval.upper, unit, interval)
    if upper is not None and upper < lower:
        raise _wrong(f"the interval {interval} is empty", interval, "write the lower bound first")
    return Bounds(lower, upper)


def _read_duration(text: str, unit: str, interval: Interval) -> Fraction:
    found = _DURATION.fullmatch(text)
    if found is None:
        raise _wrong(
            f"'{text}' is not a span of time", interval, "write a number, or a number and a unit such as 200ms"
        )
    written = found[2] or unit
    if written not in UNITS:
        raise _wrong(f"'{written}' is not a unit of time", interval, suggestion(written, UNITS))
    span = Fraction(found[1]) * UNITS[written] / UNITS[unit]
    if span >= LONGEST:
        raise _wrong(f"'{text}' is too long a time", interval, "write 'inf' for an interval without end")
    return span


def _wrong(message: str, interval: Interval, hint: str) -> FormulaError:
    return FormulaError(message, offset=interval.offset, length=interval.length, hint=hint, code="LOGIC-061")
