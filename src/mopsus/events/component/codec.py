"""Stage 4: messages in streams of bytes: what was sent or received, from the pieces that went through a connection.

A codec makes a new decoder for each direction of each connection. A decoder takes bytes as they come, and gives the
messages that are complete with them.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from mopsus.model import UNDECODABLE

Decoder: TypeAlias = "Callable[[bytes], Iterable[Any]]"
Codec: TypeAlias = "Callable[[], Decoder]"


_used: list[Codec] = []


def use_codec(codec: Codec) -> Codec:
    """Let messages of connections that are seen from now on be decoded so; gives what decoded them before."""
    before = new_decoders()
    _used[:] = [codec]
    return before


def new_decoders() -> Codec:
    """The codec in use."""
    return _used[0] if _used else pieces


def pieces() -> Decoder:
    """Each piece of bytes is a message, as it was sent or received in one call."""
    return lambda data: (data,)


def lines() -> Decoder:
    """Each line is a message: a text without the end of the line."""
    kept = b""

    def decode(data: bytes) -> list[str]:
        nonlocal kept
        *whole, kept = (kept + data).split(b"\n")
        return [line.removesuffix(b"\r").decode("utf-8", "replace") for line in whole]

    return decode


def json_lines() -> Decoder:
    """Each line is a message in JSON; one that is none is its text."""
    split = lines()

    def decode(data: bytes) -> list[Any]:
        return [_parsed(line) for line in split(data)]

    return decode


def prefixed(length: str = ">I") -> Codec:
    """A codec of messages of bytes each of which comes after its length, packed as `struct` does by this format."""
    size = struct.calcsize(length)

    def make() -> Decoder:
        kept = b""

        def decode(data: bytes) -> list[bytes]:
            nonlocal kept
            kept += data
            found = []
            while len(kept) >= size and len(kept) >= size + (wanted := struct.unpack(length, kept[:size])[0]):
                found.append(kept[size : size + wanted])
                kept = kept[size + wanted :]
            return found

        return decode

    return make


def _parsed(line: str) -> object:
    try:
        return json.loads(line)
    except UNDECODABLE:
        return line
