"""Signals that a program gets: they are told before its own handler runs, and wait while the debugger is at work.

The interpreter runs handlers between any two instructions of the main thread, those of the debugger among them. What a
handler raises there, such as the end of a timeout, would cut off the debugger instead of the program, or be taken for a
fault of a property.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # what is behind `signal`, where another one is put
import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from mopsus._core import Gate
from mopsus.interactive.endless import is_in_users_code
from mopsus.model import Place

_ANY = (
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGALRM,
    signal.SIGVTALRM,
    signal.SIGPROF,
    signal.SIGTERM,
    signal.SIGCHLD,
    signal.SIGWINCH,
)
"""What a place without a name is about: signals that programs send each other. Errors of the processor are none."""


class Signals:
    """Stands before the handlers of the program, which are what `signal.signal` and `signal.getsignal` give and take,
    as ever."""

    def __init__(self, tell: Callable[[Place, FrameType], None], gate: Gate) -> None:
        """The gate knows whether the debugger is at work."""
        self._tell, self._gate = tell, gate
        self._places: dict[int, list[Place]] = {}
        self._handlers: dict[int, Any] = {}
        self._waiting: list[int] = []
        self._first = self._arrived
        """What the interpreter knows as the handler of each signal that has one of the program's."""

    def start(self) -> None:
        """The program is about to begin. If Ctrl-C is its, that waits, too."""
        module: Any = signal
        module._signal = _Door(self)
        if _signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self.set_handler(signal.SIGINT, signal.default_int_handler)

    def stop(self, *, forked: bool) -> None:
        """Leave the program's own handlers alone. What still waits comes to them now, but not in a forked process."""
        module: Any = signal
        module._signal = _signal
        self._places.clear()
        if threading.current_thread() is not threading.main_thread():
            return
        for number, handler in self._handlers.items():
            if _signal.getsignal(number) is self._first:
                _signal.signal(number, handler)
        waiting, self._waiting = self._waiting, []
        for number in () if forked else waiting:
            signal.raise_signal(number)

    def set(self, place: Place) -> None:
        for number in _numbers(place):
            self._places.setdefault(number, []).append(place)
            if _signal.getsignal(number) is not self._first and threading.current_thread() is threading.main_thread():
                self._handlers[number] = _signal.signal(number, self._first)

    def clear(self, place: Place) -> None:
        for number in _numbers(place):
            self._places[number].remove(place)

    def set_handler(self, number: int, handler: Any, /) -> Any:  # noqa: ANN401 - as the function that it stands for
        """What `_signal.signal` does for the program."""
        ours = callable(handler) or bool(self._places.get(number))
        known = _signal.signal(number, self._first if ours else handler)
        old = self._handlers.pop(number, None) if known is self._first else known
        if ours:
            self._handlers[number] = handler
        return old

    def handler(self, number: int, /) -> Any:  # noqa: ANN401 - as the function that it stands for
        """What `_signal.getsignal` does for the program."""
        known = _signal.getsignal(number)
        return self._handlers[number] if known is self._first else known

    def _arrived(self, number: int, frame: FrameType) -> None:
        # Ctrl-C cuts off code of a property that does not come to an end.
        at_once = number == signal.SIGINT and is_in_users_code(frame)
        if at_once or not self._gate.within():
            self._handle(number, frame)
        elif number not in self._waiting:
            self._waiting.append(number)
            self._gate.later(self._deliver)

    def _deliver(self) -> None:
        """The program goes on: what has waited comes to it now."""
        try:
            while self._waiting and not self._gate.within():
                self._handle(self._waiting.pop(0), sys._getframe(1))
        finally:
            if self._waiting:
                self._gate.later(self._deliver)
                self._gate.left()

    def _handle(self, number: int, frame: FrameType) -> None:
        for place in list(self._places.get(number, ())):
            self._tell(place, frame)
        handler = self._handlers.get(number)
        if callable(handler):
            handler(number, frame)
        elif handler == signal.SIG_DFL:
            _signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)


class _Door:
    """Stands in the module `signal` for what is behind it."""

    def __init__(self, signals: Signals) -> None:
        self.signal, self.getsignal = signals.set_handler, signals.handler

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the module has
        return getattr(_signal, name)


def _numbers(place: Place) -> tuple[int, ...]:
    return (int(signal.Signals[place.what]),) if place.what else tuple(map(int, _ANY))
