"""Measures of many runs as means and standard deviations, normalized as the thesis does it.

The thesis does not say in one way what the average delay of a run is, and its tables disagree. All readings are kept:

gap      timestamps from one known state of an encoding to the next, at the average of all steps of this kind;
batch    timestamps that are dropped in a turn that resolves something, at the average of these turns;
age      rounds from a timestamp to the one in which its state is known, at the average of all that are resolved;
verdict  the age of the verdict alone, 0 if there is none;
wait     timestamps that are held while the verdict is awaited: 1, 2 and so on to its age, at the average of these.

What is told by the round is divided by the round in which the verdict is reported, or by all rounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

import msgspec

Measures: TypeAlias = Mapping[str, float | int | str | None]
"""The measures of a run, by key."""


class Mean(msgspec.Struct, frozen=True):
    """The mean of a measure and its standard deviation."""

    mean: float
    deviation: float


def number(measures: Measures, key: str) -> float:
    """A measure that is a number; 0 if there is none."""
    return float(measures[key] or 0)


def _a_round(key: str) -> Callable[[Measures], float]:
    return lambda measures: number(measures, key) / (number(measures, "verdict_round") or number(measures, "run_len"))


def _average(key: str) -> Callable[[Measures], float]:
    """The average of a delay; 0 if nothing was resolved."""
    return lambda measures: number(measures, f"{key}_sum") / max(1.0, number(measures, f"{key}_num"))


def _age_of_verdict(measures: Measures) -> float:
    return number(measures, "verdict_round") - number(measures, "verdict_time")


def _wait(measures: Measures) -> float:
    """The mean of 1 to the age of the verdict."""
    age = _age_of_verdict(measures)
    return (1 + age) / 2 if age else 0.0


COLUMNS: Mapping[str, Callable[[Measures], float]] = {
    "delay_gap": _average("delay_gap"),
    "delay_batch": _average("delay_batch"),
    "delay_age": _average("delay_age"),
    "delay_verdict": _age_of_verdict,
    "delay_wait": _wait,
    "messages": _a_round("msg_num"),
    "messages_by_timestamp": lambda measures: (
        number(measures, "msg_num") / (number(measures, "verdict_time") or number(measures, "run_len"))
    ),
    "data": _a_round("msg_data"),
    "bytes": _a_round("msg_bytes"),
    "s_max": lambda measures: number(measures, "simp_max"),
    "s_crit": _a_round("simp_crit"),
    "conv_e": _a_round("conv_e"),
}
"""What is told of runs."""


class Totals:
    """Sums over runs, from which their means follow: there may be very many runs."""

    def __init__(self) -> None:
        self.count = 0
        self._sums = dict.fromkeys(COLUMNS, 0.0)
        self._squares = dict.fromkeys(COLUMNS, 0.0)

    def add(self, measures: Measures) -> None:
        """One more run."""
        self.count += 1
        for name, column in COLUMNS.items():
            value = column(measures)
            self._sums[name] += value
            self._squares[name] += value * value

    def means(self) -> dict[str, Mean]:
        """The mean and deviation of each column."""
        found = {}
        for name in COLUMNS if self.count else ():
            mean = self._sums[name] / self.count
            variance = self._squares[name] / self.count - mean * mean
            found[name] = Mean(round(mean, 4), round(math.sqrt(max(0.0, variance)), 4))
        return found


def summarize(runs: Iterable[Measures]) -> dict[str, Mean]:
    """The means of some runs."""
    totals = Totals()
    for each in runs:
        totals.add(each)
    return totals.means()
