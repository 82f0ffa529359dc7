"""How a command is ended from outside: Ctrl-C, a service manager, a terminal that closes.

A process has one set of signal handlers, so there is one `STOPPING`, and whoever must not be cut in two, or has
something to say at the end, asks it. The first signal raises `Stopped` where that is allowed (`interruptible`), and
elsewhere (`deferred`) waits for the end of what is under way, but not for long. A second one ends the process at once.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")
Handle: TypeAlias = Callable[[int, FrameType | None], object]

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

ONE_S = 0.4
"""Signals that come within this time are one: `timeout` sends its own to the process and to its group, `npm` passes on
what the terminal has sent to all."""
CATCH_UP_S = 0.3
"""How long a stream of events that is to end may still be read, so that what was there before is not left out."""
PATIENCE_S = 0.6
"""How long what is deferred may take before it is cut off, and after that, how long until it is cut off again."""


class Stopped(KeyboardInterrupt):
    """A signal wants this process to end. All code treats it like Ctrl-C."""


class Stopping:
    """Which signal came, and what it may do."""

    def __init__(self) -> None:
        self.number: int | None = None
        """The signal that came first."""
        self.expected = False
        """Is a signal how this command is meant to end? Its status is then what it found."""
        self.heeded = False
        """Has somebody seen to it that what was found is reported as interrupted?"""
        self._came = 0.0
        self._over = False
        self._deferring = False
        self._lost = False
        self._reminding = False
        self._tell: Callable[[int], object] | None = None
        self._before: dict[int, Any] = {}
        self._leave: Callable[[int], object] | None = None  # of a command: ends the process
        self._hook = sys.unraisablehook

    # ---- what the rest of a command asks

    def is_set(self) -> bool:
        """Did a signal come?"""
        return self.number is not None

    def wait(self, seconds: float) -> None:
        """Wait, unless a signal came. With `is_set` it can stand in for an event of `threading`, whose lock a handler
        must not take."""
        if self.number is None:
            time.sleep(seconds)

    def is_overdue(self) -> bool:
        """Is it time to stop even where there is more to read?"""
        return self.number is not None and time.monotonic() - self._came > CATCH_UP_S

    def heed(self) -> None:
        """What was found will be reported. From now on only a second signal does something."""
        self.heeded = True
        self._remind_in(0)

    def status(self, status: int) -> int:
        """The exit status of a command that would have ended with this one."""
        return status if self.number is None or self.expected else 128 + self.number

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """What is done here is finished before a signal is raised, if it does not take long."""
        with self._mode(deferring=True):
            yield
        self._raise_pending()

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Here a signal is raised at once, even within `deferred`."""
        with self._mode(deferring=False):
            self._raise_pending()
            yield

    @contextmanager
    def telling(self, tell: Callable[[int], object]) -> Iterator[None]:
        """Here a signal is not raised, but told."""
        before, self._tell = self._tell, tell
        try:
            if self.number is not None:
                tell(self.number)
            yield
        finally:
            self._tell = before

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run an event loop until the work is done. A signal cancels the work: raised in any other task of the loop, it
        would be an error of that task."""
        import asyncio

        async def cancelled_by_signals() -> T:
            loop, task = asyncio.get_running_loop(), asyncio.current_task()
            assert task is not None
            with self.telling(lambda number: loop.call_soon_threadsafe(task.cancel)):
                return await work

        try:
            return asyncio.run(cancelled_by_signals())
        except asyncio.CancelledError:
            raise Stopped from None

    @contextmanager
    def _mode(self, *, deferring: bool) -> Iterator[None]:
        before, self._deferring = self._deferring, deferring
        try:
            yield
        finally:
            self._deferring = before

    def _raise_pending(self) -> None:
        if self.number is not None and not (self.heeded or self._deferring or self._tell):
            raise Stopped

    # ---- handlers

    @contextmanager
    def taking_interrupts(self) -> Iterator[None]:
        """For a run that is no command: Ctrl-C is heeded as above, in the main thread, unless somebody else has it."""
        alone = threading.current_thread() is threading.main_thread()
        if self._before or not alone or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            yield
            return
        self._take((signal.SIGINT,), self._handle)
        try:
            yield
        finally:
            self._give_back()

    def begin_command(self, leave: Callable[[int], object]) -> None:
        """This process is a command from now on. Until `begin_work`, a signal ends it at once, as nothing was begun:
        `leave` does so with a status."""
        if threading.current_thread() is threading.main_thread():
            self._leave = leave
            self._take(SIGNALS, self._end_at_start)
            self._hook, sys.unraisablehook = sys.unraisablehook, self._unraisable

    def begin_work(self) -> None:
        """From now on the command has something to lose."""
        self._handle_all(self._handle)

    def end_work(self) -> None:
        """All is done: from now on a signal raises nothing, as nobody would catch it."""
        self._over = True

    def end_command(self, status: int) -> None:
        """The interpreter is about to end with this status: no signal need wait for that."""
        leave = self._leave
        self._remind_in(0)
        if leave is not None:
            self._handle_all(lambda number, frame: leave(status))

    def forget_command(self) -> None:
        """The process goes on, and is as it was before `begin_command`."""
        if self._leave is not None:
            self._remind_in(0)
            self._leave = None
            sys.unraisablehook = self._hook
            self._give_back()

    @property
    def before(self) -> Mapping[int, Any]:
        """What was to happen with signals before this was a command, of those that were not ignored."""
        return self._before

    def _handle_all(self, handle: Handle) -> None:
        for number in self._before:
            signal.signal(number, handle)

    def _take(self, numbers: tuple[int, ...], handle: Handle) -> None:
        self.number, self.expected, self.heeded, self._lost, self._over = None, False, False, False, False
        # What is ignored stays ignored: `nohup` and shells that start something in the background mean it.
        self._before = {each: now for each in numbers if (now := signal.getsignal(each)) not in (signal.SIG_IGN, None)}
        self._handle_all(handle)

    def _give_back(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}

    def _end_at_start(self, number: int, frame: FrameType | None) -> None:
        assert self._leave is not None
        os.write(2, b"mopsus: interrupted\n")
        self._leave(128 + number)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.number is not None:
            self._hear_again(number)
            return
        if self._over:
            return
        self.number, self._came = number, time.monotonic()
        if self._tell is not None:
            self._tell(number)
        elif not self._deferring:
            raise Stopped
        else:
            self._remind_in(PATIENCE_S)

    def _hear_again(self, number: int) -> None:
        if self._leave is None:
            raise Stopped
        if time.monotonic() - self._came > ONE_S:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

    def _remind_in(self, seconds: float) -> None:
        """Look again after this time, and then every so often; 0: not any more."""
        if seconds and self._leave is not None:
            self._reminding = True
            signal.signal(signal.SIGALRM, self._remind)
            signal.setitimer(signal.ITIMER_REAL, seconds, PATIENCE_S)
        elif self._reminding:
            self._reminding = False
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _remind(self, number: int, frame: FrameType | None) -> None:
        wanted = not (self.heeded or self._over) and (self._deferring or self._lost)
        self._lost = False
        if not wanted:
            self._remind_in(0)
            return
        raise Stopped

    def _unraisable(self, fault: Any) -> None:  # noqa: ANN401 - a structure that has no name
        """It may be raised where nobody can catch it, such as in a finalizer: then it is once more, a little later."""
        if isinstance(fault.exc_value, Stopped):
            self._lost = True
            self._remind_in(0.01)
        else:
            self._hook(fault)


STOPPING = Stopping()


def flush_output() -> None:
    """What was written to standard output comes out, unless the program that was run has closed that, or put nothing in
    its place."""
    if sys.stdout is not None and not getattr(sys.stdout, "closed", False):
        sys.stdout.flush()
