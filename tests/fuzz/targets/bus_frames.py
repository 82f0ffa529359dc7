"""Frames in a stream that comes in any pieces: all readers find the same messages, and refuse the same bytes."""

from __future__ import annotations

import io

from fuzz.choices import Choices
from fuzz.errors import check_error

from mopsus.bus import BusError, Frames, framed, read_frame, split_frames


def one(data: bytes) -> None:
    choices = Choices(data)
    stream = b"".join(piece(choices) for _ in range(1 + choices.below(5)))
    whole, refused = by_splitting(stream)
    assert by_reading(stream) == (whole, refused)
    assert by_feeding(stream, choices) == (whole, refused)
    for body in whole:
        assert stream.startswith(framed(body))
        stream = stream[len(framed(body)) :]


def piece(choices: Choices) -> bytes:
    body = choices.piece(40)
    kind = choices.below(4)
    return framed(body) if kind else body


def by_splitting(stream: bytes) -> tuple[list[bytes], bool]:
    found = []
    try:
        for body, _ in split_frames(stream):
            found.append(body)
    except BusError as error:
        check_error(error)
        return found, True
    return found, False


def by_reading(stream: bytes) -> tuple[list[bytes], bool]:
    found, source = [], io.BytesIO(stream)
    try:
        while (body := read_frame(source.read)) is not None:
            found.append(body)
    except BusError:
        return found, True
    return found, False


def by_feeding(stream: bytes, choices: Choices) -> tuple[list[bytes], bool]:
    frames, found = Frames(), []
    try:
        while stream:
            size = 1 + choices.below(20)
            found += frames.feed(stream[:size])
            stream = stream[size:]
        found += frames.feed(b"")
    except BusError:
        return found, True
    return found, False
