"""Ctrl-C while we handle an event.

GDB tells of it by an error from whatever we ask for next, and the event must not be lost for that. So the question is
asked again, and the program stops when the event is done.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_waiting: list[bool] = []


def uninterrupted(ask: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """What GDB answers, whoever pressed Ctrl-C."""
    try:
        return ask(*given, **named)
    except KeyboardInterrupt:
        _waiting.append(True)
        return ask(*given, **named)


def take_interrupt() -> bool:
    """Was there one since the last time?"""
    found = bool(_waiting)
    _waiting.clear()
    return found
