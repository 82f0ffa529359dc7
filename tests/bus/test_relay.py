"""A relay between a bus and its server does to messages what it is told to, and repeats it."""

from __future__ import annotations

import asyncio

import pytest
from bus.servers import TOKEN, nats_server

from mopsus.bus import BusError, NatsBus
from mopsus.bus.nats_bus import server_address
from mopsus.bus.relay import Faults, Relay


@pytest.fixture(scope="module")
def server():
    with nats_server() as running:
        yield running


async def through(server, faults, count, during=lambda relay: None):
    """What comes of messages through a relay, in order; the last one says that it is the last, until it is heard."""
    relay = Relay(server_address(server.url), faults)
    port = await relay.listen("127.0.0.1", 0)
    reader = await NatsBus.connect(f"nats://127.0.0.1:{port}", TOKEN)
    writer = await NatsBus.connect(server.url, TOKEN)
    got, ended = [], asyncio.Event()
    await reader.follow("mopsus.a", lambda data: got.append(int(data)))
    await reader.follow("mopsus.end", lambda data: ended.set())
    during(relay)
    for number in range(count):
        await writer.publish("mopsus.a", b"%d" % number)
    while not ended.is_set():
        await writer.publish("mopsus.end", b"")
        await asyncio.sleep(0.01)
    relay.close()
    await reader.close()
    await writer.close()
    return got


def test_without_faults_everything_comes_in_order(server):
    assert asyncio.run(through(server, Faults(), 200)) == list(range(200))


def test_loss_and_doubling(server):
    got = asyncio.run(through(server, Faults(loss=0.3, double=0.3, seed=7), 300))
    assert set(got) < set(range(300))
    assert len(got) > len(set(got))
    assert asyncio.run(through(server, Faults(loss=0.3, double=0.3, seed=7), 300)) == got
    assert asyncio.run(through(server, Faults(loss=0.3, double=0.3, seed=8), 300)) != got


def test_delays_change_the_order(server):
    got = asyncio.run(through(server, Faults(delay=(0, 0.02)), 200))
    assert got != sorted(got)


def test_a_partition_holds_everything_back(server):
    def part(relay):
        relay.toggle()
        asyncio.get_running_loop().call_later(0.1, relay.toggle)

    assert sorted(asyncio.run(through(server, Faults(), 50, part))) == list(range(50))


@pytest.mark.parametrize(
    "wrong", [{"loss": -0.1}, {"double": 1.5}, {"loss": 1.0}, {"delay": (2.0, 1.0)}, {"delay": (0.0, float("inf"))}]
)
def test_faults_that_make_no_sense(wrong):
    with pytest.raises(BusError) as caught:
        Faults(**wrong)
    assert caught.value.code == "BUS-005"
