"""Start a Python program under its debugger, and wait for it: what `mopsus debug` does for Python programs.

The program has a process of its own, and so has every checkpoint of it (`processes.py`). This process is the parent of
them all, so it learns how the program ended, whichever of them it was by then.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from mopsus.bus.codec import pack, unpack
from mopsus.interactive.backends import Backend, is_python
from mopsus.interactive.crash import is_crash
from mopsus.interactive.debugger import DebuggerError
from mopsus.interactive.outcome import INTERRUPTION, Outcome, Stop
from mopsus.interactive.python.deaths import cut_off, with_death, without_word
from mopsus.interactive.python.processes import copies, live
from mopsus.interactive.setup import Setup
from mopsus.interactive.starter import end_with
from mopsus.stopping import STOPPING

_SET_CHILD_SUBREAPER = 36
_LOOK_S = 0.05
_HEARD_S, _HEED_S = 0.3, 0.5
"""How long a program that was told to end may take to hear that, and to do so."""
# Until the program begins, Ctrl-C ends the process without a word.
_START = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); "
    "from mopsus.interactive.python.start import main; sys.exit(main())"
)


def run(setup: Setup) -> Outcome:
    """A session from the beginning to the end. The program has the terminal, and so has the prompt."""
    if setup.process is not None:
        hint = "start it under the debugger, or debug the interpreter with --debugger gdb"
        raise DebuggerError("a Python process that runs already cannot be debugged", hint=hint)
    with tempfile.TemporaryDirectory(prefix="mopsus-debug-") as folder:
        file = Path(folder, "setup.json")
        inside = Path(folder, "outcome.json")
        file.write_bytes(pack(replace(setup, outcome=str(inside))))
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        interrupts = nullcontext() if setup.batch else _leaving_interrupts()
        try:
            words = [sys.executable, "-c", _START, str(file)]
            lines = () if setup.channel is None else (setup.channel,)
            with interrupts, STOPPING.telling(lambda number: STOPPING.heed()):
                child = subprocess.Popen(words, preexec_fn=partial(_begin, os.getpid()), pass_fds=lines)
                status = _wait(child, folder, batch=setup.batch)
        finally:
            _end_copies(folder)
        if inside.exists():
            outcome = unpack(Outcome, inside.read_bytes())
        elif STOPPING.is_set():
            outcome = Outcome()
        else:
            return Outcome(status=status, error="the program ended before its monitors could say anything")
        if STOPPING.is_set():
            if outcome.status is None and outcome.stop is None:  # whoever ends us may well have ended it, too
                outcome = without_word(outcome, status)
            return replace(outcome, stop=outcome.stop or Stop(INTERRUPTION, None))
        if outcome.stop is not None:
            return outcome
        if is_crash(status):
            return with_death(outcome, status, folder)
        return cut_off(outcome, status) if outcome.status is None else replace(outcome, status=status)


@contextmanager
def _leaving_interrupts() -> Iterator[None]:
    """Ctrl-C is the program's, or the prompt's."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _begin(starter: int) -> None:
    """What the process of the program does before anything else."""
    end_with(starter)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _wait(child: subprocess.Popen[bytes], folder: str, *, batch: bool) -> int:
    """The status of the process that was the program in the end."""
    end = _Ending(batch)
    status = None
    while status is None:
        with suppress(subprocess.TimeoutExpired):
            status = child.wait(_LOOK_S)
        end.look(live(folder) or child.pid)
    last = child.pid
    while (process := live(folder)) not in (None, last):
        last = process
        while not (ended := os.waitpid(process, os.WNOHANG))[0]:
            time.sleep(_LOOK_S)
            end.look(live(folder) or process)
        status = os.waitstatus_to_exitcode(ended[1])
    return status


class _Ending:
    """Ends the program when somebody asks us to end: as Ctrl-C does where there is no prompt, so that it says what was
    found, and by force if it does not heed that."""

    def __init__(self, batch: bool) -> None:
        self._steps = [(_HEED_S, signal.SIGTERM), (0.0, signal.SIGKILL)]
        if batch:
            self._steps.insert(0, (_HEED_S, signal.SIGINT))
        self._next: float | None = None

    def look(self, process: int) -> None:
        """Do what it is time for."""
        if not STOPPING.is_set() or not self._steps:
            return
        now = time.monotonic()
        if self._next is None:
            # A terminal tells the program of Ctrl-C, too, which need not hear it twice.
            self._next = now + (_HEARD_S if STOPPING.number == signal.SIGINT else 0)
        if now >= self._next:
            wait, number = self._steps.pop(0)
            self._next = now + wait
            with suppress(ProcessLookupError):
                os.kill(process, number)


def _end_copies(folder: str) -> None:
    for process in copies(folder):
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


BACKEND = Backend("python", is_python, run)
