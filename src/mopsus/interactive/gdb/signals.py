"""Signals that are for a session, and not for the program: Ctrl-C, and the wish that all ends.

GDB heeds them wherever it is, also in the midst of an event, where it does not always survive what it does then, and
neither do monitors. So while the program runs it does not get them: a thread waits for them, and tells GDB as soon as
it has nothing else to do.
"""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from functools import partial
from pathlib import Path

import gdb

from mopsus.interactive.endless import is_in_users_code
from mopsus.interactive.gdb.agent.threads import is_running
from mopsus.stopping import PATIENCE_S

_HEARD = {signal.SIGINT, signal.SIGTERM}


def _has_pending(process: int) -> bool:
    """Waits a Ctrl-C for this one?"""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return False
    masks = [line.split()[1] for line in lines if line.startswith(("SigPnd:", "ShdPnd:"))]
    return any(int(mask, 16) >> (signal.SIGINT - 1) & 1 for mask in masks)


class Listener:
    """Stops the program at Ctrl-C, or if all shall end. With a prompt, Ctrl-C is GDB's while nothing runs, and at the
    end GDB quits; without one, the run ends when the program stops."""

    def __init__(self, *, has_prompt: bool) -> None:
        self._has_prompt = has_prompt
        self._ends = False
        self._waiting = 0
        self._process = 0
        """Of a program that runs and has the developer's terminal."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        threading.Thread(target=self._wait, daemon=True).start()
        signal.pthread_sigmask(signal.SIG_SETMASK, before | {signal.SIGTERM})
        self.hold()
        if has_prompt:
            self.release()
            gdb.events.before_prompt.connect(lambda *_: self._at_prompt())
            gdb.events.cont.connect(self._goes_on)

    def hold(self) -> None:
        """The program will run."""
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})

    def release(self) -> None:
        """It stands."""
        self._process = 0
        if self._has_prompt:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})

    def _goes_on(self, event: gdb.ThreadEvent) -> None:
        thread = event.inferior_thread or gdb.selected_thread()
        self._process = thread.ptid[0] if thread is not None else 0

    def _wait(self) -> None:
        while True:
            number = self._next()
            if number is None:
                self._look()
                continue
            if number == signal.SIGINT and self._waiting:
                _thread.interrupt_main()
            self._waiting += 1
            gdb.post_event(partial(self._heed, number == signal.SIGTERM or not self._has_prompt))

    def _next(self) -> int | None:
        """The next signal; None if there is something to look at before it comes."""
        if not self._waiting and not self._has_prompt:
            return signal.sigwait(_HEARD)
        found = signal.sigtimedwait(_HEARD, PATIENCE_S)
        return None if found is None else found.si_signo

    def _look(self) -> None:
        """Is there code of a property that does not come to an end, though somebody has pressed Ctrl-C? From the
        terminal that goes to the program, which stands still meanwhile."""
        if is_in_users_code(sys._current_frames().get(threading.main_thread().ident or 0)) and (
            self._waiting or _has_pending(self._process)
        ):
            _thread.interrupt_main()

    def _heed(self, ends: bool) -> None:
        self._waiting = 0
        if self._ends:  # one interruption more would be left to a program that is let go
            return
        self._ends = ends
        if is_running():
            gdb.execute("interrupt")
        elif self._has_prompt:
            self._at_prompt()

    def _at_prompt(self) -> None:
        self.release()
        if self._ends:
            gdb.execute("set confirm off")
            gdb.execute("quit")
