"""Stage 1: messages in a stream of bytes: each after its length, in four bytes, the most significant first.

A length that cannot be meant is refused before anything is reserved for it, so that damaged bytes cost no more memory
than there are of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from mopsus.bus.messages import BusError

HEADER = 4
"""How many bytes a length has."""
MOST = 1 << 28
"""A message is not longer."""
PIECE = 1 << 16
"""How many bytes are read at once."""


def framed(body: bytes) -> bytes:
    """Return the message as it travels. `BusError` if it is too long."""
    if len(body) > MOST:
        raise BusError(f"a message of {len(body):,} bytes is longer than {MOST:,}", code="BUS-003")
    return len(body).to_bytes(HEADER, "big") + body


def split_frames(data: bytes | bytearray, at: int = 0) -> Iterator[tuple[bytes, int]]:
    """The whole messages in the bytes from `at` on, each with where it ends. `BusError` at a length that cannot be
    meant."""
    while at + HEADER <= len(data):
        end = at + HEADER + _length(data[at : at + HEADER])
        if end > len(data):
            return
        yield bytes(data[at + HEADER : end]), end
        at = end


def read_frame(read: Callable[[int], bytes]) -> bytes | None:
    """Read the next message and nothing beyond it, by a function that gives at most so many bytes, and none at the end.

    None if the stream ends before the message does. `BusError` at a length that cannot be meant.
    """
    header = _exactly(read, HEADER)
    return None if header is None else _exactly(read, _length(header))


class Frames:
    """Takes bytes as they come, and gives the messages that are complete with them."""

    def __init__(self) -> None:
        self._kept = bytearray()

    @property
    def begun(self) -> bool:
        """Whether a message has begun and is not complete."""
        return bool(self._kept)

    def feed(self, data: bytes) -> list[bytes]:
        """Return the messages that end in these bytes. `BusError` at a length that cannot be meant, as soon as the
        messages before it have been given: nothing after it can be relied on."""
        self._kept += data
        bodies, at = [], 0
        try:
            for body, end in split_frames(self._kept):
                bodies.append(body)
                at = end
        except BusError:
            if not bodies:
                raise
        del self._kept[:at]
        return bodies


def _length(header: bytes | bytearray) -> int:
    length = int.from_bytes(header, "big")
    if length > MOST:
        raise BusError(f"a message cannot have {length:,} bytes: what came is damaged", code="BUS-004")
    return length


def _exactly(read: Callable[[int], bytes], length: int) -> bytes | None:
    data = bytearray()
    while len(data) < length:
        piece = read(min(length - len(data), PIECE))
        if not piece:
            return None
        data += piece
    return bytes(data)
