"""Which events the core can send by itself when a function starts or returns, with no Python in between.

It takes arguments from where the interpreter keeps them, attributes of these, and results, and converts them. All else
needs a frame to be looked at, so somebody must be told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any

from mopsus.interactive.debugger import Feed
from mopsus.interactive.python.values import RECEIVERS, TYPES, parameters
from mopsus.model import Place, Reading, ReadingKind

RESULT = -1
MOST, MOST_EVENTS = 16, 64
"""Values that the core takes at one moment, and events that it sends then."""

Source = tuple[int, tuple[str, ...], Callable[[Any], object] | None, bool]
"""The number of an argument or `RESULT`, the attributes that lead from it to the value, what that is converted to, and
whether a cell has the argument, because inner functions use it, too."""
Taken = tuple[Place, tuple[Reading, ...]]
"""What some values are to us."""
Straight = tuple[Callable[..., object], tuple[Source, ...], Taken, Callable[..., int] | None, tuple[bytes, ...] | None]
"""An event: what is called, with what, what that is, who remembers it, and in which states it is needed."""


class DetourError(Exception):
    """Why somebody must be told."""


def straight_events(place: Place, feeds: Sequence[Feed], code: CodeType) -> list[Straight]:
    """The events at a place, for the core. `DetourError` if it cannot send them."""
    return [
        (
            feed.send,
            tuple(_source(each, code) for each in feed.readings),
            (place, tuple(feed.readings)),
            feed.remember,
            feed.needed,
        )
        for feed in feeds
    ]


def check_count(events: Sequence[Straight]) -> None:
    """`DetourError` if these are too many for one moment."""
    if sum(len(sources) for _, sources, *_ in events) > MOST:
        raise DetourError(f"its events have more than {MOST} values")
    if len(events) > MOST_EVENTS:
        raise DetourError(f"it has more than {MOST_EVENTS} events")


def _source(reading: Reading, code: CodeType) -> Source:
    if reading.type is not None and reading.type not in TYPES:
        raise DetourError(f"there is no type `{reading.type}`")
    convert = None if reading.type is None else TYPES[reading.type]
    if reading.kind is ReadingKind.RESULT:
        return RESULT, (), convert, False
    argument, *attributes = _way(reading, code)
    names = parameters(code)
    return names.index(argument), tuple(attributes), convert, argument in code.co_cellvars


def _way(reading: Reading, code: CodeType) -> Sequence[str]:
    """The name of an argument, and of the attributes that lead on from there."""
    names = parameters(code)
    match reading.kind:
        case ReadingKind.ARGUMENT if 0 < reading.index <= len(names):
            return [names[reading.index - 1]]
        case ReadingKind.NAME if reading.text in names:
            return [reading.text]
        case ReadingKind.NAME if reading.text not in code.co_freevars:
            receiver = next((each for each in RECEIVERS if each in names), None)
            if receiver is not None:
                return [receiver, reading.text]  # or a global, if there is no such attribute: then we are asked
        case ReadingKind.EXPRESSION:
            way = reading.text.strip().split(".")
            if way[0] in names and all(map(str.isidentifier, way)):
                return way
    raise DetourError(f"{_shown(reading)} is neither an argument of {code.co_qualname} nor an attribute of one")


def _shown(reading: Reading) -> str:
    return f"argument {reading.index}" if reading.kind is ReadingKind.ARGUMENT else f"`{reading.text or reading.kind}`"
