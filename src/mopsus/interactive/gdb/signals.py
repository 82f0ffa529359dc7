"""Signals that are for a session, and not for the program: Ctrl-C, and the wish that all ends.

GDB heeds them wherever it is, also in the midst of an event, where it does not always survive what it does then, and
neither do monitors. So while the program runs it does not get them: a thread waits for them, and tells GDB as soon as
it has nothing else to do.
"""

from __future__ import annotations

import _thread
import signal
import threading
from functools import partial

import gdb

from mopsus.interactive.gdb.agent.threads import is_running


class Listener:
    """Stops the program at Ctrl-C, or if all shall end. With a prompt, Ctrl-C is GDB's while nothing runs, and at the
    end GDB quits; without one, the run ends when the program stops."""

    def __init__(self, *, has_prompt: bool) -> None:
        self._has_prompt = has_prompt
        self._ends = False
        self._waiting = 0
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        threading.Thread(target=self._wait, daemon=True).start()
        signal.pthread_sigmask(signal.SIG_SETMASK, before | {signal.SIGTERM})
        self.hold()
        if has_prompt:
            self.release()
            gdb.events.before_prompt.connect(lambda *_: self._at_prompt())

    def hold(self) -> None:
        """The program will run."""
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})

    def release(self) -> None:
        """It stands."""
        if self._has_prompt:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})

    def _wait(self) -> None:
        while True:
            number = signal.sigwait({signal.SIGINT, signal.SIGTERM})
            if number == signal.SIGINT and self._waiting:  # code of a property that does not come to an end
                _thread.interrupt_main()
            self._waiting += 1
            gdb.post_event(partial(self._heed, number == signal.SIGTERM or not self._has_prompt))

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
