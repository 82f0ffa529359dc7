"""Two ends that lose nothing over a bus that does: numbers, acknowledgements, resending.

Everything that is written is numbered and kept until the other end has acknowledged it; what comes twice is noticed.
An end is plain state without a clock or a connection of its own: one that was killed can be made again from what it had
written and read, with the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import msgspec

from mopsus.bus.messages import BusError
from mopsus.model import UNDECODABLE

VERSION = 1
"""Of all messages; another one is not understood."""
WINDOW = 256
"""How many messages may be on their way to one end."""
LOOSE = 0
"""The number of a message that is not kept: whoever wants an answer asks again."""


class Frame(msgspec.Struct, frozen=True, array_like=True):
    """What goes over the bus: a message, if it has a body, and what the sender has got from the other end so far."""

    version: int
    session: str
    """What the message belongs to; numbers are counted anew in each."""
    sender: str
    number: int
    body: bytes
    upto: int
    """All numbers up to this one have come …"""
    beyond: tuple[int, ...] = ()
    """… and these."""


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Frame)


def frame_of(data: bytes) -> Frame:
    """The frame that came as bytes. `BusError` if it is none, or one of another version."""
    try:
        frame = _decoder.decode(data)
    except UNDECODABLE as error:
        raise BusError(f"what came is no message: {error}", code="BUS-004") from None
    if frame.version != VERSION:
        raise BusError(
            f"a message of '{frame.sender}' has version {frame.version}, but this is version {VERSION}",
            hint="run the same release of Mopsus everywhere",
            code="BUS-004",
        )
    return frame


def bytes_of(frame: Frame) -> bytes:
    """The frame as it travels."""
    return _encoder.encode(frame)


class Correspondence:
    """One end of what two ends write to each other in a session."""

    def __init__(self, session: str, sender: str) -> None:
        self.session = session
        self.sender = sender
        self.owes = False
        """Does the other end wait for an acknowledgement?"""
        self._written = 0
        self._kept: dict[int, bytes] = {}
        self._sent = 0
        self._waiting_since = 0.0
        self._upto = 0
        self._beyond: set[int] = set()

    @property
    def unacknowledged(self) -> int:
        """How many messages the other end may not have."""
        return len(self._kept)

    def write(self, body: bytes) -> None:
        """Send this, until it is acknowledged."""
        self._written += 1
        self._kept[self._written] = body

    def discard(self, number: int) -> None:
        """Do not send this one again."""
        self._kept.pop(number, None)

    def is_new(self, number: int) -> bool:
        """Has this number not come yet?"""
        return number > self._upto and number not in self._beyond

    def received(self, number: int) -> None:
        """This number has come and will not be forgotten: it can be acknowledged."""
        self.owes = True
        self._beyond.add(number)
        while self._upto + 1 in self._beyond:
            self._upto += 1
            self._beyond.remove(self._upto)

    def acknowledged(self, frame: Frame, now: float) -> None:
        """Forget what the other end says that it has got. What it sends again it has got no answer to."""
        before = len(self._kept)
        while self._kept and (oldest := next(iter(self._kept))) <= frame.upto:
            del self._kept[oldest]
        for number in frame.beyond:
            self._kept.pop(number, None)
        if len(self._kept) < before:
            self._waiting_since = now
            self._sent = max(self._sent, frame.upto)
        if frame.number != LOOSE and not self.is_new(frame.number):
            self.owes = True

    def due(self, now: float, resend_s: float) -> Iterator[Frame]:
        """What is to be sent now: new messages; all again that were not acknowledged in time; an acknowledgement."""
        again = bool(self._kept) and now - self._waiting_since >= resend_s
        if again or not self._kept:
            self._waiting_since = now
        last = next(iter(self._kept), 0) + WINDOW
        for number, body in [item for item in islice(self._kept.items(), WINDOW) if item[0] < last]:
            if again or number > self._sent:
                self._sent = max(self._sent, number)
                self.owes = False
                yield self._frame(number, body)
        if self.owes:
            self.owes = False
            yield self._frame(LOOSE, b"")

    def loose(self, body: bytes) -> Frame:
        """A message that is sent once."""
        return self._frame(LOOSE, body)

    def _frame(self, number: int, body: bytes) -> Frame:
        return Frame(VERSION, self.session, self.sender, number, body, self._upto, tuple(sorted(self._beyond)))
