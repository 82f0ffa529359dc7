"""Signals that a program gets, told before its own handler runs."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

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
    """Stands before the handlers of signals that have a point. The program's own are what `signal.signal` and
    `signal.getsignal` give and take, as ever."""

    def __init__(self, tell: Callable[[Place, FrameType | None], None]) -> None:
        self._tell = tell
        self._places: dict[int, list[Place]] = {}
        self._handlers: dict[int, Any] = {}
        self._signal, self._getsignal = signal.signal, signal.getsignal

    def set(self, place: Place) -> None:
        for number in _numbers(place):
            self._places.setdefault(number, []).append(place)
            if number not in self._handlers and threading.current_thread() is threading.main_thread():
                self._handlers[number] = self._signal(number, self._arrived)
                signal.signal, signal.getsignal = self._set_handler, self._get_handler

    def clear(self, place: Place) -> None:
        for number in _numbers(place):
            self._places[number].remove(place)

    def stop(self) -> None:
        """Leave the program's own handlers alone."""
        self._places.clear()
        signal.signal, signal.getsignal = self._signal, self._getsignal
        if threading.current_thread() is threading.main_thread():
            for number, handler in self._handlers.items():
                if self._getsignal(number) == self._arrived:
                    self._signal(number, handler)
        self._handlers.clear()

    def _arrived(self, number: int, frame: FrameType | None) -> None:
        for place in list(self._places.get(number, ())):
            self._tell(place, frame)
        handler = self._handlers.get(number)
        if callable(handler):
            handler(number, frame)
        elif handler == signal.SIG_DFL:
            self._signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

    def _set_handler(self, signalnum: int, handler: Any) -> Any:  # noqa: ANN401 - as in `signal`
        number = int(signalnum)
        if number not in self._handlers:
            return self._signal(number, handler)
        if threading.current_thread() is not threading.main_thread():
            return self._signal(number, handler)  # which says that this cannot be
        old, self._handlers[number] = self._handlers[number], handler
        return old

    def _get_handler(self, signalnum: int) -> Any:  # noqa: ANN401 - as in `signal`
        number = int(signalnum)
        return self._handlers[number] if number in self._handlers else self._getsignal(number)


def _numbers(place: Place) -> tuple[int, ...]:
    return (int(signal.Signals[place.what]),) if place.what else tuple(map(int, _ANY))
