"""Runs a program under GDB without a prompt: to its end, or until somebody stops it."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import gdb

from mopsus.interactive.crash import cause_of
from mopsus.interactive.gdb.course import is_alive
from mopsus.interactive.gdb.deaths import dies_of, traps_itself
from mopsus.interactive.gdb.holding import GROUP
from mopsus.interactive.outcome import INTERRUPTION, Outcome, Stop

if TYPE_CHECKING:
    from mopsus.interactive.gdb.course import Course
    from mopsus.interactive.session import Session

_DEADLY = ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSYS", "SIGPIPE", "SIGXCPU", "SIGXFSZ", "SIGQUIT")
"""Signals that are rare in a program that handles them: of others, it is only known that it died of one."""
_TRAP = "SIGTRAP"
"""Is most often GDB's own, and passed on only if somebody says so."""


def run_batch(
    session: Session, course: Course, attached: bool, keep: bool = True, handing_over: str | None = None
) -> Outcome:
    """Signals are the program's own affair, as without a debugger; of a deadly one, the stack is kept. `keep`: if we
    were attached to it, it goes on without us. `handing_over`: where its children are handed over, if they are."""
    gdb.execute("handle all nostop noprint pass", to_string=True)
    gdb.execute(f"handle {' '.join(_DEADLY)} stop", to_string=True)
    stop = None
    command = "continue" if attached else "run"
    while command:
        try:
            gdb.execute(command, to_string=True)
        except gdb.error as error:
            if course.over:  # it died while a scenario had its hands on it
                course.settle()
                break
            return replace(session.outcome(), error=f"the program cannot be run: {error}")
        command = ""
        if is_alive() and traps_itself():
            if (number := dies_of(_TRAP)) is not None:
                session.dying(cause_of(number), keep=False)
            command = f"signal {_TRAP}"
        elif is_alive() and course.signal in _DEADLY:
            command = "continue"
        elif is_alive():  # where nobody else stops a program
            stop = _stop(session, INTERRUPTION)
    outcome = session.outcome(stop)
    session.close()
    if is_alive():
        group = os.getpgid(gdb.selected_inferior().pid)
        gdb.execute("detach" if attached and keep else "kill", to_string=True)
        if not attached:
            _end(group, handing_over)
    return outcome


def _end(group: int, handing_over: str | None) -> None:
    """What a program has started and waited for shall not go on for ever without it. Children that are watched have
    something to say first."""
    if group == os.getpgrp():  # GDB's own, in which we may be, too
        return
    if handing_over is not None:
        (Path(handing_over) / f"{group}{GROUP}").touch()
    else:
        with suppress(OSError):
            os.killpg(group, signal.SIGKILL)


def _stop(session: Session, reason: str) -> Stop:
    return Stop(reason, session.debugger.where().location, tuple(session.debugger.backtrace()))
