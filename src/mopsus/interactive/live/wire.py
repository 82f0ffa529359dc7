"""What a debugger and its view say to each other: a line of JSON for each message, over a socket.

The debugger sends pictures, and why it refused what it was asked. The view sends its address once, and what the
developer asks for by its buttons. When one of them is gone, the other reads the end.
"""

from __future__ import annotations

import json
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


def write_line(message: FromView | FromDebugger) -> bytes:
    """A message on its way, with its end."""
    match message:
        case Picture():
            text = f'{{"picture":{message.to_json()}}}'
        case Refused(wish, why):
            text = json.dumps({"refused": wish, "why": why})
        case Ready(address):
            text = json.dumps({"ready": address})
        case Failed(why):
            text = json.dumps({"failed": why})
        case Request(wish, number):
            text = json.dumps({"wish": wish, "number": number})
    return text.encode() + b"\n"


def read_from_debugger(line: bytes) -> FromDebugger:
    """What the debugger said in a line."""
    data = json.loads(line)
    if "refused" in data:
        return Refused(Wish(data["refused"]), data["why"])
    return Picture.from_data(data["picture"])


def read_from_view(line: bytes) -> FromView:
    """What the view said in a line."""
    data = json.loads(line)
    if "ready" in data:
        return Ready(data["ready"])
    if "failed" in data:
        return Failed(data["failed"])
    return Request(Wish(data["wish"]), data["number"])
