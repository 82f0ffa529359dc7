"""How a program that is debugged hears that something has come over a socket, while it runs: by a signal.

A thread that waits would do, but a process with threads cannot be copied for a checkpoint, and a program may look at
its own threads. The signal is one that the kernel ignores for whoever does not ask for it, so that one which arrives
late does no harm to a process that has become another program.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Protocol

_SET_SIGNAL = 10  # F_SETSIG of Linux, which the module does not name
_SIGNAL = signal.SIGURG


class Line(Protocol):
    def fileno(self) -> int: ...


class Bell:
    """Rings in the main thread, between two instructions of the program, when a socket can be read."""

    def __init__(self, line: Line, ring: Callable[[FrameType], object]) -> None:
        """`ring` is called with the frame that the program is in, maybe once for several things that came."""
        self.line, self._ring = line, ring
        self.hang()

    def hang(self) -> None:
        """This process is the one to be told from now on."""
        global _handling
        file = self.line.fileno()
        if self not in _BELLS:
            _BELLS.append(self)
        if not _handling:
            _handling = True
            signal.signal(_SIGNAL, _heard)
        fcntl.fcntl(file, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(file, _SET_SIGNAL, _SIGNAL)
        fcntl.fcntl(file, fcntl.F_SETFL, fcntl.fcntl(file, fcntl.F_GETFL) | os.O_ASYNC)

    def take_down(self) -> None:
        """Nobody is to be told any more."""
        if self in _BELLS:
            _BELLS.remove(self)

    def ring_if_waiting(self, frame: FrameType) -> None:
        """Ring if there is anything to be read."""
        if is_waiting(self.line):
            self._ring(frame)


_BELLS: list[Bell] = []
_handling = False


@contextmanager
def silence() -> Iterator[None]:
    """No bell rings meanwhile; one that would have rings afterwards, if there still is something to be read."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {_SIGNAL})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def is_waiting(line: Line) -> bool:
    """Can the socket be read without waiting?"""
    return bool(select.select([line], [], [], 0)[0])


def await_input(file: int) -> None:
    """Wait until there is something to be read there. A bell that rang when this was just about to wait is heard, too:
    the signal does not come again."""
    while True:
        ready, _, _ = select.select([file, *(bell.line.fileno() for bell in _BELLS)], [], [])
        if ready != [file]:
            _heard(_SIGNAL, sys._getframe())
        if file in ready:
            return


def _heard(_: int, frame: FrameType | None) -> None:
    if frame is not None:
        for bell in list(_BELLS):
            bell.ring_if_waiting(frame)
