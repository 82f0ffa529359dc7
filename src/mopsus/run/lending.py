"""Signals while a program runs in this process: they are the program's, and it must not see that we listen.

A signal that would kill the program kills it, but not before what was found is reported. For that the default action of
such signals is replaced by a handler that Python takes for the default: a number that can be called.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

from mopsus.stopping import ONE_S, SIGNALS, STOPPING


class _Default(int):
    """Stands for SIG_DFL, of which it has the value, so that `signal.getsignal` says that this is the handler."""

    last_words: Callable[[int], object]

    def __call__(self, number: int, frame: FrameType | None) -> None:
        came = time.monotonic()

        def hear_again(number: int, frame: FrameType | None) -> None:
            if time.monotonic() - came > ONE_S:
                _die(number)

        for each in SIGNALS:
            handler = _signal.getsignal(each)
            if isinstance(handler, _Default) or handler is _signal.default_int_handler:
                _signal.signal(each, hear_again)
        try:
            self.last_words(number)
        finally:
            _die(number)


def _die(number: int) -> None:
    _signal.signal(number, _signal.SIG_DFL)
    os.kill(os.getpid(), number)


class _Door:
    """Stands before the functions behind the module `signal`: who sets the default action sets ours."""

    def __init__(self, default: _Default) -> None:
        self._default = default

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the module has
        return getattr(_signal, name)

    def signal(self, number: int, handler: Any, /) -> Any:  # noqa: ANN401 - as the function that it stands for
        ours = type(handler) is int and handler == _signal.SIG_DFL and number in SIGNALS
        return _signal.signal(number, self._default if ours else handler)


@contextmanager
def lent(last_words: Callable[[int], object]) -> Iterator[None]:
    """In here signals do what they did before this was a command, as a program expects. If one kills the program, it is
    `last_words` that are called first, with its number."""
    ours = {number: signal.getsignal(number) for number in STOPPING.before}
    if not ours:  # not the main thread, or no command
        yield
        return
    default = _Default(_signal.SIG_DFL)
    default.last_words = last_words
    module: Any = signal
    before, module._signal = module._signal, _Door(default)
    try:
        for number, handler in STOPPING.before.items():
            signal.signal(number, handler)
        yield
    finally:
        module._signal = before
        _give_back(ours)


def _give_back(handlers: Mapping[int, Any]) -> None:
    try:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    except KeyboardInterrupt:  # a Ctrl-C that comes before ours are all in place is still answered as the program would
        _give_back(handlers)
        raise
