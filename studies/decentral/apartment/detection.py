"""How well monitors detect activities: their verdicts, second by second, against what the occupant wrote down."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quality:
    """Seconds in which an activity was rightly told, wrongly told, and missed."""

    right: int
    wrong: int
    missed: int

    @property
    def precision(self) -> float | None:
        """Of what was told, the share that is right; None if nothing was told."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else None

    @property
    def recall(self) -> float | None:
        """Of what took place, the share that was told; None if nothing took place."""
        return self.right / (self.right + self.missed) if self.right + self.missed else None

    @property
    def f1(self) -> float:
        """The harmonic mean of both; 0 if nothing was rightly told."""
        return 2 * self.right / (2 * self.right + self.wrong + self.missed) if self.right else 0.0


def quality(told: Iterable[tuple[int, int]], took_place: Iterable[tuple[int, int]]) -> Quality:
    """Compare seconds in which a monitor says true with those in which the activity took place.

    Both are intervals: from, and up to but not with.
    """
    said, real = _seconds(told), _seconds(took_place)
    return Quality(len(said & real), len(said - real), len(real - said))


def _seconds(intervals: Iterable[tuple[int, int]]) -> set[int]:
    return {second for begin, end in intervals for second in range(begin, end)}
