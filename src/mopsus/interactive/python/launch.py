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
from dataclasses import replace
from pathlib import Path

from mopsus.interactive.backends import Backend, is_python
from mopsus.interactive.crash import is_crash
from mopsus.interactive.debugger import DebuggerError
from mopsus.interactive.outcome import Outcome
from mopsus.interactive.python.deaths import with_death
from mopsus.interactive.python.processes import LIVE, copies
from mopsus.interactive.setup import Setup

_SET_CHILD_SUBREAPER = 36
_START = "import sys; from mopsus.interactive.python.start import main; sys.exit(main())"


def run(setup: Setup) -> Outcome:
    """A session from the beginning to the end. The program has the terminal, and so has the prompt."""
    if setup.process is not None:
        hint = "start it under the debugger, or debug the interpreter with --debugger gdb"
        raise DebuggerError("a Python process that runs already cannot be debugged", hint=hint)
    with tempfile.TemporaryDirectory(prefix="mopsus-debug-") as folder:
        file = Path(folder, "setup.json")
        inside = Path(folder, "outcome.json")
        file.write_text(replace(setup, outcome=str(inside)).to_json())
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the program's, or the prompt's
        try:
            words = [sys.executable, "-c", _START, str(file)]
            lines = () if setup.channel is None else (setup.channel,)
            child = subprocess.Popen(words, preexec_fn=_take_interrupts, pass_fds=lines)
            status = _wait(child, folder)
        finally:
            signal.signal(signal.SIGINT, before)
            _end_copies(folder)
        if not inside.exists():
            return Outcome(status=status, error="the program ended before its monitors could say anything")
        outcome = Outcome.from_json(inside.read_text())
        if outcome.stop is not None:
            return outcome
        return with_death(outcome, status, folder) if is_crash(status) else replace(outcome, status=status)


def _take_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _wait(child: subprocess.Popen[bytes], folder: str) -> int:
    """The status of the process that was the program in the end."""
    status = child.wait()
    last = child.pid
    live = Path(folder, LIVE)
    while live.exists() and (process := int(live.read_text())) != last:
        last, status = process, os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    return status


def _end_copies(folder: str) -> None:
    for process in copies(folder):
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


BACKEND = Backend("python", is_python, run)
