"""Ctrl-C while we handle an event.

GDB tells of it by an error from whatever we ask for next, and the event must not be lost for that. So the question is
asked again, and the program stops when the event is done.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, TypeVarTuple

T = TypeVar("T")
Given = TypeVarTuple("Given")

interrupts: list[None] = []
"""Those that nobody has heeded yet."""


def uninterrupted(ask: Callable[[*Given], T], *given: *Given) -> T:
    """What GDB answers, whoever pressed Ctrl-C."""
    try:
        return ask(*given)
    except KeyboardInterrupt:
        interrupts.append(None)
        return ask(*given)
