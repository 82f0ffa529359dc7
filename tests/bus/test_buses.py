"""Both buses carry bytes to those who follow a subject; what is wrong with a server is said."""

from __future__ import annotations

import asyncio
import contextlib

import pytest
from bus.servers import TOKEN, nats_server

from mopsus.bus import BusError, LocalBus, NatsBus, subject_of


@contextlib.asynccontextmanager
async def opened(kind, server):
    """Two ends of a bus."""
    if kind == "local":
        bus = LocalBus()
        yield bus, bus
        await bus.close()
        return
    ends = await NatsBus.connect(server.url, TOKEN), await NatsBus.connect(server.url, TOKEN)
    yield ends
    for end in ends:
        await end.close()


@pytest.fixture(scope="module")
def server():
    with nats_server() as running:
        yield running


@pytest.mark.parametrize("kind", ["local", "nats"])
def test_followers_get_what_is_sent_to_their_subject(kind, server):
    async def run():
        async with opened(kind, server) as (one, other):
            got: asyncio.Queue[tuple[str, bytes]] = asyncio.Queue()
            await one.follow("mopsus.a", lambda data: got.put_nowait(("a", data)))
            await one.follow("mopsus.b", lambda data: got.put_nowait(("b", data)))
            for number in range(100):
                await other.publish("mopsus.a", b"%d" % number)
            await other.publish("mopsus.c", b"nobody")
            await other.publish("mopsus.b", b"last")
            return sorted([await got.get() for _ in range(101)])

    assert asyncio.run(run()) == sorted([*(("a", b"%d" % number) for number in range(100)), ("b", b"last")])


def test_what_the_server_counts_is_what_was_sent():
    async def run(url):
        bus = await NatsBus.connect(url, TOKEN)
        await bus.publish("mopsus.a", b"x" * 100)
        await bus.publish("mopsus.a", b"x" * 23)
        await bus.close()

    with nats_server() as server:
        asyncio.run(run(server.url))
        assert {key: server.counted()[key] for key in ("in_msgs", "in_bytes")} == {"in_msgs": 2, "in_bytes": 123}


def test_too_much_for_the_server(server):
    async def run():
        bus = await NatsBus.connect(server.url, TOKEN)
        try:
            await bus.publish("mopsus.a", b"x" * (2 << 20))
        finally:
            await bus.close()

    with pytest.raises(BusError, match="2097152 bytes is more than the 1048576") as caught:
        asyncio.run(run())
    assert caught.value.code == "BUS-003"


@pytest.mark.parametrize(
    ("url", "token", "said"),
    [
        ("nats://127.0.0.1:1", TOKEN, "cannot connect to nats://127.0.0.1:1"),
        ("http://127.0.0.1", TOKEN, "is no address of a NATS server"),
        (None, "another", "cannot connect to nats://127.0.0.1:[0-9]+: .*[aA]uthorization"),
    ],
    ids=["nobody there", "no address", "token"],
)
def test_a_server_that_cannot_be_used(server, url, token, said):
    with pytest.raises(BusError, match=said):
        asyncio.run(NatsBus.connect(url or server.url, token))


def test_subjects_have_no_characters_that_mean_something():
    assert subject_of("mopsus", "a.b*> é_-9") == "mopsus.a%2Eb%2A%3E%20%C3%A9_-9"
