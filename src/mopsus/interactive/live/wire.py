"""What a debugger and its view say to each other, over a socket.

The debugger sends pictures, and why it refused what it was asked. The view sends its address once, and what the
developer asks for by its buttons. When one of them is gone, the other reads the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from mopsus.interactive.live.picture import Picture


class Wish(StrEnum):
    """What a view may ask for."""

    LOOK = "look"
    """Another picture: how does it stand now?"""
    CONTINUE = "continue"
    INTERRUPT = "interrupt"
    CHECKPOINT = "checkpoint"
    RESTORE = "restore"


@dataclass(frozen=True, slots=True)
class Ready:
    """The view is there, under this address."""

    address: str


@dataclass(frozen=True, slots=True)
class Failed:
    """The view cannot be shown."""

    why: str


@dataclass(frozen=True, slots=True)
class Request:
    """Something that a view asks for."""

    wish: Wish
    number: int | None = None
    """Of the checkpoint to go back to."""


NO_PROMPT = "there is no prompt: the program runs by --batch, or an editor debugs it"
"""Why a view is refused all but looks."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The debugger could not do what the view asked for."""

    wish: Wish
    why: str


FromView = Ready | Failed | Request
FromDebugger = Picture | Refused
