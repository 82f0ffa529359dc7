"""Ctrl-C while we handle an event.

GDB tells of it by an error from whatever we ask for next, and the event must not be lost for that. So the question is
asked again, and the program stops when the event is done.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_waiting: list[bool] = []


def uninterrupted(ask: Callable[[], T]) -> T:
    """What GDB answers, whoever pressed Ctrl-C."""
    try:
        return ask()
    except KeyboardInterrupt:
        _waiting.append(True)
        return ask()


def take_interrupt() -> bool:
    """Was there one since the last time?"""
    found = bool(_waiting)
    _waiting.clear()
    return found
