"""To which test a verdict belongs.

The events of a program carry the number of the test that they belong to: of the one that runs, unless they come from a
thread that began before it, or while the collector of garbage runs, which could as well have run at another time. A
verdict belongs to the test of its event; where an object came to its end, to that in which it was used last.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from mopsus import _core
from mopsus.model import Verdict

NOBODY = ""
"""In place of the name of a test."""


class Owner(NamedTuple):
    """Of a verdict."""

    test: str
    late: bool
    """Did it come when that test was not running, or could it have come then?"""


class Owners:
    """Numbers tests as they begin, and tells whose a verdict is."""

    def __init__(self) -> None:
        self.part = _core.Part()
        """Gives the events of monitors their numbers."""
        self._names = [NOBODY]
        self._current = 0

    def begin(self, test: str) -> None:
        """A test begins."""
        self._names.append(test)
        self._current = len(self._names) - 1
        self.part.begin(self._current)

    def end(self) -> None:
        """It has ended. What happens now belongs to nobody."""
        self._current = 0
        self.part.begin(0)

    def of(self, verdict: Verdict) -> Owner:
        """Whose a verdict of this process is, which comes now."""
        told = verdict.witness[-1].row if verdict.witness else verdict.row
        number = verdict.row or next((item.row for item in reversed(verdict.witness) if item.row), 0)
        return Owner(self._names[number], not (told == number == self._current) or number == 0)

    def of_process(self, verdict: Verdict) -> Owner:
        """Whose a verdict is that comes from a process which the program has started.

        One that was forked before this test began may do anybody's work.
        """
        numbers = {verdict.row, *(item.row for item in verdict.witness)}
        if self._current and numbers <= {None, self._current}:
            return Owner(self._names[self._current], False)
        return Owner(NOBODY, True)


def without_numbers(verdict: Verdict) -> Verdict:
    """The verdict as it is reported: the numbers of tests are no rows of a trace."""
    return replace(
        verdict,
        row=None,
        witness=tuple(replace(item, row=None) for item in verdict.witness),
        steps=tuple(replace(step, row=None) for step in verdict.steps),
    )
