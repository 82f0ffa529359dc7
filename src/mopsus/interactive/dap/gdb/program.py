"""The program, as GDB tells of it: does it run, in which process, why has it stopped last.

GDB waits in its main thread while the program runs. Another thread that wants it to stand still for a moment holds it,
by a signal that no program can block or ignore.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress

import gdb

from mopsus.interactive.gdb.checkpoint import ProgramCheckpoints
from mopsus.interactive.gdb.course import is_alive

_HELD = "SIGSTOP"


class Program:
    """At most one of them runs at a time. What it does for the sake of an expression or a checkpoint is not meant."""

    def __init__(
        self, checkpoints: ProgramCheckpoints, went_on: Callable[[], None], wanted: Callable[[], bool]
    ) -> None:
        """`went_on` is called when it goes on by a command that `execute` was not told to expect that of. While it is
        `wanted` it does not get far: whoever wanted it may have been too early to `hold` it."""
        self.last: gdb.StopEvent | None = None
        """Why it stopped last; None while it runs, and when it has ended."""
        self.hit: list[gdb.Breakpoint] = []
        """The developer's breakpoints at that place, whether they wanted to stop it or not."""
        self.stops = 0
        """How often it has stopped, or ended."""
        self.lock = threading.Lock()
        """Whoever has it may rely on `running`."""
        self.running = False
        """Does GDB wait for it?"""
        self._process = 0
        self._checkpoints = checkpoints
        self._went_on, self._wanted = went_on, wanted
        self._calling = False
        gdb.events.cont.connect(self._on_cont)
        gdb.events.stop.connect(self._on_stop)
        gdb.events.exited.connect(self._on_exit)
        gdb.events.inferior_call.connect(self._on_call)

    @property
    def over(self) -> bool:
        """Is it not there, or not any more?"""
        return not is_alive() or self._checkpoints.program_ended

    @property
    def held(self) -> bool:
        """Was it `hold` that stopped it, and nothing else?"""
        return isinstance(self.last, gdb.SignalEvent) and self.last.stop_signal == _HELD

    def execute(self, command: str, *, runs: bool) -> str:
        """Have GDB do something, until the program stands still; what GDB says. `runs`: it lets the program run."""
        if runs:
            self.last = None
            self._set_running(True)
        try:
            return gdb.execute(command, to_string=True)
        finally:
            self._set_running(False)

    def hold(self) -> None:
        """Stop it for a moment, if it runs. Any thread may call this."""
        self.signal(signal.SIGSTOP)

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal, if it is there. Any thread may call this."""
        with suppress(ProcessLookupError):  # it has just ended
            if self._process:
                os.kill(self._process, number)

    @staticmethod
    def prepare() -> None:
        """Let GDB stop the program at the signal that holds it, and the program never see it."""
        gdb.execute(f"handle {_HELD} stop print nopass", to_string=True)
        gdb.execute("handle SIGINT stop print pass", to_string=True)  # GDB has no terminal: it is the program's

    def _set_running(self, running: bool) -> None:
        with self.lock:
            self.running = running

    def _on_cont(self, event: gdb.ThreadEvent) -> None:
        if self._calling or self._checkpoints.busy:
            return
        thread = event.inferior_thread or gdb.selected_thread()
        self._process = thread.ptid[0] if thread is not None else 0
        if not self.running:
            self._set_running(True)
            self._went_on()
        if self._wanted():
            self.hold()

    def _on_stop(self, event: gdb.StopEvent) -> None:
        if not self._checkpoints.busy:
            self.last = event
            found = event.breakpoints if isinstance(event, gdb.BreakpointEvent) else ()
            self.hit = [each for each in found if each.number > 0]
            self.stops += 1

    def _on_exit(self, _: gdb.ExitedEvent) -> None:
        if not self._checkpoints.busy:
            self.last = None
            self.stops += 1
            self._process = 0

    def _on_call(self, event: object) -> None:
        self._calling = isinstance(event, gdb.InferiorCallPreEvent)
