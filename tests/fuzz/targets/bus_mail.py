"""Frames of the bus: bytes as they come, or frames with odd numbers, between two ends that must not lose anything."""

from __future__ import annotations

import contextlib

import msgspec
from fuzz.choices import Choices
from fuzz.errors import check_error

from mopsus.bus import BusError
from mopsus.bus.mail import LOOSE, VERSION, Correspondence, Frame, bytes_of, frame_of

NUMBERS = (0, 1, 2, 3, 4, 255, 256, 257, 1000, 2**31, 2**63 - 1, -1, -5)


def one(data: bytes) -> None:
    choices = Choices(data)
    if choices.flag():
        read(choices.rest())
        return
    if choices.flag():
        fields = [VERSION, "s", "a", 1, b"body", 0, (2, 3)]
        with contextlib.suppress(OverflowError, UnicodeEncodeError):  # no carrier could bring this
            data = msgspec.msgpack.encode(choices.damaged(fields))
        read(data)
        return
    converse(choices)


def read(data: bytes) -> None:
    try:
        frame = frame_of(data)
    except BusError as error:
        check_error(error)
        return
    assert frame_of(bytes_of(frame)) == frame
    end = Correspondence("s", "b")
    end.write(b"x")
    take(end, frame)
    list(end.due(1.0, 0.5))


def take(end: Correspondence, frame: Frame) -> list[bytes]:
    """As hosts and clients take a frame."""
    end.acknowledged(frame, 0.0)
    if frame.number != LOOSE and end.is_new(frame.number):
        end.received(frame.number)
        return [frame.body]
    return []


def converse(choices: Choices) -> None:
    """Frames are lost, doubled and late between two ends; in the end each has got all of the other, once."""
    ends = (Correspondence("s", "a"), Correspondence("s", "b"))
    written: tuple[list[bytes], list[bytes]] = ([], [])
    got: tuple[list[bytes], list[bytes]] = ([], [])
    on_the_way: tuple[list[Frame], list[Frame]] = ([], [])
    now = 0.0
    for _ in range(200):
        if not choices.left:
            break
        now += 0.1
        who, what = choices.below(2), choices.below(5)
        if what == 0:
            body = b"%d" % len(written[who])
            ends[who].write(body)
            written[who].append(body)
        elif what == 1:
            on_the_way[1 - who].extend(ends[who].due(now, 0.3))
        elif on_the_way[who]:
            at = choices.below(len(on_the_way[who]))
            frame = on_the_way[who][at]
            if what != 2:
                del on_the_way[who][at]
            if what != 3:
                got[who].extend(take(ends[who], frame_of(bytes_of(frame))))
    for _ in range(len(written[0]) + len(written[1]) + 3):
        now += 1.0
        for who in (0, 1):
            for frame in list(ends[who].due(now, 0.3)):
                got[1 - who].extend(take(ends[1 - who], frame))
    assert sorted(got[1]) == sorted(written[0])
    assert sorted(got[0]) == sorted(written[1])
    assert not ends[0].unacknowledged
    assert not ends[1].unacknowledged
