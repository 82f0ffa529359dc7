"""What a host has been given in a run, on disk before anybody is told so: enough to be there again after a kill.

Monitors are functions of their turns, and messages are numbered in the order in which turns write them. So a host that
takes the same records again stands where it stood. A journal survives the death of its process, not that of its
machine: records are handed to the operating system, which is not told to wait for the disk.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

import msgspec

from mopsus.bus import BusError, framed, split_frames
from mopsus.decentral.errors import DecentralError
from mopsus.model import UNDECODABLE

MAGIC = b"mopsus journal 1\n"


class Arrived(msgspec.Struct, frozen=True, tag=True):
    """A numbered message of another end."""

    sender: str
    number: int
    body: bytes


class Turn(msgspec.Struct, frozen=True, tag=True):
    """The monitors of a component are run. Without an event, only for the messages that have come."""

    component: str
    event: dict[str, bool] | None


class Exhausted(msgspec.Struct, frozen=True, tag=True):
    """A component has ended."""

    component: str


class Broken(msgspec.Struct, frozen=True, tag=True):
    """A component cannot be observed, and why; or nobody asks any more how the run goes."""

    code: str
    message: str
    hint: str


Record: TypeAlias = Arrived | Turn | Exhausted | Broken

_encoder = msgspec.msgpack.Encoder()
_decoder: msgspec.msgpack.Decoder[Record] = msgspec.msgpack.Decoder(Record)


class JournalError(DecentralError):
    """A journal cannot be read or written."""

    code = "DECENTRAL-075"


class Journal:
    """A file that only grows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.records: list[Record] = []
        """Those that were in it already."""
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            self.records, end = _read(path.read_bytes(), path)
            os.ftruncate(self._file, end)  # one that was being written at a kill; nobody was told of it
            if end == 0:
                os.write(self._file, MAGIC)
        except OSError as error:
            raise JournalError(f"cannot write the journal {path}: {error.strerror}") from None

    def write(self, records: Iterable[Record]) -> None:
        """Keep these, all at once."""
        data = bytearray()
        for record in records:
            data += framed(_encoder.encode(record))
        try:
            while data:
                del data[: os.write(self._file, data)]
        except OSError as error:
            raise JournalError(f"cannot write the journal {self.path}: {error.strerror}") from None

    def close(self) -> None:
        """Write nothing more."""
        os.close(self._file)


def read_journal(path: Path) -> list[Record]:
    """The records of a journal, which may be being written."""
    try:
        return _read(path.read_bytes(), path)[0]
    except OSError as error:
        raise JournalError(f"cannot read the journal {path}: {error.strerror}") from None


def _read(data: bytes, path: Path) -> tuple[list[Record], int]:
    """All whole records, and where the last of them ends."""
    if not data.startswith(MAGIC):
        if MAGIC.startswith(data):
            return [], 0
        raise JournalError(f"{path} is no journal", hint="or one of another release of Mopsus")
    records: list[Record] = []
    at = len(MAGIC)
    try:
        for record, end in split_frames(data, at):
            records.append(_decoder.decode(record))
            at = end
    except (*UNDECODABLE, BusError) as error:
        raise JournalError(f"{path} is damaged at byte {at}: {error}") from None
    return records, at
