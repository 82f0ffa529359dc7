"""The course of a program under GDB: when it begins, goes on, stops and ends.

GDB tells of a stop while it still handles it. What a session does at a stop is done when GDB has finished: after the
command that let the program run, in a script, or before the next prompt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import gdb

from mopsus.interactive.crash import cause_of
from mopsus.interactive.gdb.agent.frames import is_hook
from mopsus.interactive.gdb.agent.threads import is_running
from mopsus.interactive.gdb.deaths import dies_of, is_called
from mopsus.interactive.gdb.developer import Hooks
from mopsus.interactive.gdb.trap import Trap, sweep

if TYPE_CHECKING:
    from mopsus.interactive.gdb.adapter import GdbDebugger
    from mopsus.interactive.gdb.signals import Listener
    from mopsus.interactive.session import Session

_WHOLE = {"continue", "run", "start", "starti", "signal", "jump"}
"""Commands of the developer's that mean: until something stops the program. The others mean a certain place."""

_BY_LINES = {"step", "next", "finish", "until", "advance"}
"""Commands that mean lines of the program, not instructions of whatever code."""
_TO_ANOTHER = {"step", "next", "until"}
"""Of these, those that go on until another line begins."""

INTERRUPT = "SIGINT"
"""What stops a program because somebody wants that, and is not passed on to it."""

_FIRST = "__libc_start_main"
"""What the first instructions of a program call, in every C library."""

Line = tuple[str, int]
"""A file and the number of a line in it."""


class Course:
    """Tells a session of the program's course, and lets the program run as the session asks for."""

    def __init__(self, debugger: GdbDebugger, session: Session, listener: Listener | None = None) -> None:
        """`listener` has the signals that are meant for the session; None: there are none."""
        self._debugger = debugger
        self._session = session
        self._listener = listener
        self._command = "run"
        self._line: Line | None = None
        self._leaving = False
        self._arrived = False
        """Is the last stop where a step ends, and nothing else?"""
        self._ran = False
        self._stopped = False
        self._silent = False
        self._ended: int | None = None
        self._loaded: Trap | None = None
        self._is_new = False
        self._settling = False
        self.over = False
        """The program has ended, and the session does not know it yet."""
        self.signal: str | None = None
        """The signal that stopped the program last, if it was one."""
        Hooks(self._going_on, self._beginning, self._ending, self.settle)
        gdb.events.stop.connect(self._on_stop)
        gdb.events.exited.connect(self._on_exit)
        gdb.events.before_prompt.connect(lambda *_: self.settle())
        gdb.events.gdb_exiting.connect(lambda _: self._debugger.about_to_leave())

    @property
    def busy(self) -> bool:
        """Are we, or is GDB for us, in the midst of something?"""
        return self._settling or self._debugger.telling or self._debugger.checkpoints.busy

    @property
    def unsettled(self) -> bool:
        """Is it still open whether the program stays where it is?"""
        return self.busy or self._stopped or self.over

    def settle(self) -> None:
        """Do what is to be done at a stop, as often as it lets the program run to another one."""
        if self._settling or is_running():
            return
        self._settling = True
        sweep()
        try:
            while self.over or self._stopped:
                self._settle_once()
        finally:
            self._settling = False
            if self._listener is not None:
                self._listener.release()

    def proceed(self, started: bool = False) -> None:
        """Let the program run if somebody asked for that. `started`: the monitors have just been started."""
        command = self._debugger.take_next()
        if command is None:
            return
        if not is_alive():
            self._ran = self._ran and not started
            command = "run"
        self._command = command
        self._debugger.about_to_run(command in _WHOLE)
        gdb.execute(command)
        self.settle()

    def _settle_once(self) -> None:
        if self.over:
            self.over = self._stopped = False
            self._debugger.ended(self._ended)
            command = self._debugger.take_next()
            if command is not None and is_alive():  # a scenario has brought it back
                self._debugger.about_to_run(True)
                gdb.execute(command, to_string=self._session.silent)
            return
        self._stopped = False
        self._debugger.stopped()
        command = self._debugger.take_next()
        if not is_alive():
            return
        if command is not None and self._command in _WHOLE:
            self._debugger.about_to_run(command in _WHOLE)
            gdb.execute(command, to_string=self._session.silent)
            return
        if self._command in _BY_LINES and is_hook(gdb.newest_frame()):  # a step out of a call that a hook has made
            gdb.execute("finish", to_string=True)
            self._leaving = self._silent = True
            return
        left, self._leaving = self._leaving and self._arrived, False
        if left and self._command in _TO_ANOTHER and not _begins_another(self._line):  # GDB would have gone on
            self._line = _line()
            self._debugger.about_to_run(False)
            gdb.execute(self._command, to_string=True)
            self._silent = True
            return
        self._see_whether_dying()
        if command is not None:
            self._debugger.write(f"`{self._command}` was interrupted for a scenario; the program stands here:")
        if self._silent and not self._session.silent:
            gdb.execute("frame")

    def _see_whether_dying(self) -> None:
        """Does the program stand at the signal that ends it?"""
        number = None if self.signal in (None, INTERRUPT) or is_called() else dies_of(self.signal)
        if number is not None:
            self._session.dying(cause_of(number), keep=self._debugger.checkpoints.outlive)

    def _beginning(self, command: str) -> None:
        """The program is about to be started, perhaps again."""
        self._refuse_while_telling(command)
        self._hold_interrupts()
        self._command = command
        self._debugger.checkpoints.forget()
        self._session.checkpoints.forget()
        self._debugger.began(command in _WHOLE)
        if self._ran or not self._session.started:
            _stay_if(self._session.start())
        self._ran = True
        self._is_new = True
        if self._loaded is None:
            self._loaded = Trap(f"-function {_FIRST}", self._on_loaded)

    def _refuse_while_telling(self, command: str) -> None:
        """GDB would not survive it."""
        if self._debugger.telling:
            raise gdb.GdbError(f"`{command}` is not for code that handles an event: use after_breakpoint(…)")

    def _hold_interrupts(self) -> None:
        if self._listener is not None:
            self._listener.hold()

    def _going_on(self, command: str) -> None:
        self._refuse_while_telling(command)
        self._hold_interrupts()
        if self._settling or self._debugger.checkpoints.busy or not is_alive():
            return
        if self._debugger.checkpoints.program_ended:
            raise gdb.GdbError("The program has ended. `verde checkpoint-restart N` goes back, `run` starts it again.")
        self._command, self._line, self._leaving = command, _line(), False
        if not self._session.started:
            _stay_if(self._session.start())
        _stay_if(self._session.resuming())
        self._debugger.about_to_run(command in _WHOLE)

    def _ending(self, command: str) -> None:
        """The program is about to be killed or let go, by the developer or by us."""
        self._refuse_while_telling(command)
        if not self._debugger.checkpoints.busy:
            self._debugger.about_to_leave()
            self._debugger.checkpoints.forget()
            self._session.checkpoints.forget()

    def _on_loaded(self) -> bool:
        """Every library is there that the program is linked with, and nothing of its own has run. What it becomes
        later, by `exec`, need not have what monitors want to see."""
        Trap.look_again()
        first, self._is_new = self._is_new, False
        stays = first and self._session.loaded()
        self._debugger.loaded()
        return stays

    def _on_stop(self, event: gdb.StopEvent) -> None:
        if (
            self._debugger.checkpoints.busy or self._debugger.telling
        ):  # in the second case it is a call of ours that failed
            return
        if self._debugger.checkpoints.program_ended:  # GDB does not call that an exit
            self.over = True
            self._ended = _exit_status()
            return
        self.over = False  # of the one that was there before this one was started
        self._stopped = True
        ours = isinstance(event, gdb.BreakpointEvent) and all(each.number < 0 for each in event.breakpoints)
        self._silent = ours
        stays, Trap.stays = Trap.stays, False
        self._arrived = not stays and (ours or type(event) is gdb.StopEvent)
        self.signal = event.stop_signal if isinstance(event, gdb.SignalEvent) else None

    def _on_exit(self, event: gdb.ExitedEvent) -> None:
        if self._debugger.checkpoints.busy:
            return
        self.over = True
        self._ended = _exit_status()


def is_alive() -> bool:
    return bool(gdb.selected_inferior().pid)


def _line() -> Line | None:
    """The line that the program is in."""
    place = gdb.newest_frame().find_sal()
    return None if place.symtab is None else (place.symtab.filename, place.line)


def _begins_another(line: Line | None) -> bool:
    """Is the program at the beginning of a line that is not this one?"""
    frame = gdb.newest_frame()
    return frame.find_sal().pc == frame.pc() and _line() != line


def _exit_status() -> int | None:
    """Of the program that has just ended: its exit code, or the number of a signal, negated."""
    code, number = gdb.convenience_variable("_exitcode"), gdb.convenience_variable("_exitsignal")
    if code is not None:
        return int(code)
    return None if number is None else -int(number)


def _stay_if(stays: bool) -> None:
    if stays:
        raise gdb.GdbError("The program stays where it is; the same command again goes on.")
