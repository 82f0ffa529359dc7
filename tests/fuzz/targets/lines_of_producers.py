"""What producers of events send: to the local socket, and through connections that are watched with a codec.

However the bytes are cut into pieces, the same lines and messages come out.
"""

from __future__ import annotations

import socket

from fuzz.choices import Choices

from mopsus.events.component.codec import json_lines, lines, pieces, prefixed
from mopsus.events.component.log.read import live_blocks
from mopsus.events.component.outline.listen import Producer

TOKEN = b"secret"
CODECS = (pieces, lines, json_lines, prefixed(), prefixed("<H"), prefixed("B"))


def one(data: bytes) -> None:
    choices = Choices(data)
    codec, token = choices.pick(CODECS), choices.below(4)
    cuts = [choices.byte() for _ in range(choices.below(6))]
    stream = choices.rest()
    parts = cut(stream, cuts)
    if codec is not pieces:
        decode, whole = codec(), codec()
        assert repr([each for part in parts for each in decode(part)]) == repr(list(whole(stream)))
    blocks = list(live_blocks("x", parts))
    assert b"".join(block.data for block in blocks) == stream
    line = 1
    for block in blocks:
        assert block.line == line
        line += block.data.count(b"\n")
    produce(parts if token == 0 else [TOKEN + b"\n", *parts], trusted=token != 0)


def cut(stream: bytes, cuts: list[int]) -> list[bytes]:
    parts = []
    for size in cuts:
        parts.append(stream[:size])
        stream = stream[size:]
    return [part for part in (*parts, stream) if part]


def produce(parts: list[bytes], *, trusted: bool) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        producer = Producer(ours)
        got = b""
        for part in parts:
            theirs.sendall(part)
            read = producer.read(TOKEN)
            if read is None:
                break
            got += read
        sent = b"".join(parts)
        if trusted:
            assert producer.trusted
            assert got == sent.partition(b"\n")[2].rpartition(b"\n")[0] + b"\n" * (sent.count(b"\n") > 1)
        elif sent.partition(b"\n")[0].strip() != TOKEN:
            assert not got
