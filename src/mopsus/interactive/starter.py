"""Stage 6: a process that debugs for another ends when that is killed: nobody is there any more for whom it does."""

from __future__ import annotations

import ctypes
import os
import signal

_SET_PARENT_DEATH_SIGNAL = 1


def end_with(starter: int) -> None:
    """End this process, by SIGTERM, when the one that has started it ends."""
    ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != starter:  # it is too late for that signal
        os.kill(os.getpid(), signal.SIGTERM)
