"""A program that dies of what it does is a finding, whatever its properties say.

It is told as a verdict about the program itself, with the stack, so that every report has it. What its monitors were in
the midst of then may be the cause: the slices that were still open are notes beside it, each with its witness.
"""

from __future__ import annotations

import signal
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeGuard

from mopsus.interactive.debugger import Where
from mopsus.model import Verdict
from mopsus.model.text import show_signal

if TYPE_CHECKING:
    from mopsus.interactive.watch import Watch

PROGRAM, PROPERTY = "program", "crash"
"""What the verdict is about, in the place of a specification and its property."""
MOST_OPEN = 20
"""So many open slices are told, those that changed last."""
_MOST_LOOKED_AT = 1000


@dataclass(frozen=True, slots=True)
class Crash:
    """The end of a program that it did not want."""

    cause: str
    """`died of SIGSEGV (segmentation fault)`."""
    where: Where
    stack: tuple[str, ...]
    open: tuple[Verdict, ...]
    more_open: bool
    """Were there more of them?"""
    detail: str = ""
    """What the program says about it."""

    @classmethod
    def seen(cls, cause: str, where: Where, stack: Sequence[str], watches: Iterable[Watch], detail: str = "") -> Crash:
        """With what was open then."""
        found = [verdict for watch in watches for verdict in watch.open_slices(_MOST_LOOKED_AT)]
        found.sort(key=lambda verdict: verdict.time or 0, reverse=True)
        return cls(cause, where, tuple(stack), tuple(found[:MOST_OPEN]), len(found) > MOST_OPEN, detail)

    def verdicts(self) -> list[Verdict]:
        """All that is to be reported."""
        remarks = [self.detail, *self.stack] if self.detail else list(self.stack)
        if self.more_open:
            remarks.append(f"Of the slices that were open then, the {MOST_OPEN} are told that changed last.")
        crash = Verdict(
            PROGRAM,
            PROPERTY,
            self.cause,
            False,
            True,
            {},
            self.where.location,
            self.where.time,
            (),
            remarks=tuple(remarks),
        )
        return [crash, *self.open]


_ASKED = {signal.SIGTERM, signal.SIGKILL, signal.SIGHUP}


def was_asked(status: int | None) -> bool:
    """Is that how a process ends its children? It looks at what became of them, and what it does then decides."""
    return status is not None and -status in _ASKED


def is_crash(status: int | None) -> TypeGuard[int]:
    """Has a program died that ended with this status? Not if somebody has interrupted it."""
    return status is not None and status < 0 and -status != signal.SIGINT


def cause_of(number: int) -> str:
    """What a signal does to a program that does not handle it."""
    return f"died of {show_signal(number)}"
