"""How a program that is debugged hears that something has come over a socket, while it runs: by a signal.

A thread that waits would do, but a process with threads cannot be copied for a checkpoint, and a program may look at
its own threads. The signal is one that the kernel ignores for whoever does not ask for it, so that one which arrives
late does no harm to a process that has become another program.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # behind `signal` the program may have another one
import fcntl
import os
import select
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Protocol

_SET_SIGNAL = 10  # F_SETSIG of Linux, which the module does not name
_SIGNAL = signal.SIGURG


class Line(Protocol):
    def fileno(self) -> int: ...


class Bell:
    """Rings in the main thread, between two instructions of the program, when a socket can be read."""

    def __init__(
        self, line: Line, ring: Callable[[FrameType], object], take: Callable[[], object] = lambda: None
    ) -> None:
        """`ring` is called with the frame that the program is in, maybe once for several things that came, when `take`
        has read what there is, if it is not to be left there. No bell rings while something is taken."""
        self.line, self.ring, self.take = line, ring, take
        self.hang()

    def hang(self) -> None:
        """This process is the one to be told from now on."""
        global _handling
        file = self.line.fileno()
        if self not in _BELLS:
            _BELLS.append(self)
        if not _handling:
            _handling = True
            _signal.signal(_SIGNAL, _signalled)
        fcntl.fcntl(file, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(file, _SET_SIGNAL, _SIGNAL)
        fcntl.fcntl(file, fcntl.F_SETFL, fcntl.fcntl(file, fcntl.F_GETFL) | os.O_ASYNC)

    def take_down(self) -> None:
        """Nobody is to be told any more."""
        if self in _BELLS:
            _BELLS.remove(self)


_BELLS: list[Bell] = []
_handling = False
_taking = _missed = False
"""Is something being taken? Has a bell been about to ring meanwhile?"""


def take_all() -> list[Bell]:
    """Take what has come; the bells that would have rung for it."""
    global _taking, _missed
    found: dict[Bell, None] = {}
    _missed = True
    while _missed:
        _taking, _missed = True, False
        try:
            for bell in [bell for bell in _BELLS if is_waiting(bell.line)]:
                found[bell] = None
                bell.take()
        finally:
            _taking = False
    return list(found)


def is_waiting(line: Line) -> bool:
    """Can the socket be read without waiting?"""
    return bool(select.select([line], [], [], 0)[0])


def await_input(file: int) -> None:
    """Wait until there is something to be read there. A bell that rang when this was just about to wait is heard, too:
    the signal does not come again."""
    while True:
        ready, _, _ = select.select([file, *(bell.line.fileno() for bell in _BELLS)], [], [])
        if ready != [file]:
            ring_waiting(sys._getframe())
        if file in ready:
            return


def ring_waiting(frame: FrameType) -> None:
    """Ring for what has come."""
    # A signal may interrupt the handler of another. If each took something, so many could come that there is no room.
    global _missed
    if _taking:
        _missed = True
        return
    for bell in take_all():
        bell.ring(frame)


def _signalled(_: int, frame: FrameType | None) -> None:
    if frame is not None:
        ring_waiting(frame)
