"""`mopsus simulate relay`: a bad network, on purpose."""

from __future__ import annotations

import asyncio
import signal
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from mopsus.cli.messages import CommandError
from mopsus.cli.simulate.options import BusAddress, Seed
from mopsus.stopping import STOPPING

if TYPE_CHECKING:
    from mopsus.bus.relay import Faults


def relay(
    bus: BusAddress,
    listen: Annotated[
        str, typer.Option("--listen", help="Where hosts connect instead; port 0 is any.", metavar="ADDRESS:PORT")
    ] = "127.0.0.1:0",
    loss: Annotated[float, typer.Option(help="The chance that a message is lost.", metavar="CHANCE")] = 0.0,
    double: Annotated[float, typer.Option(help="The chance that it comes twice.", metavar="CHANCE")] = 0.0,
    delay: Annotated[
        tuple[float, float], typer.Option(help="It is late by a time between these.", metavar="SECONDS SECONDS")
    ] = (0.0, 0.0),
    seed: Seed = 0,
) -> int:
    """Stand between hosts and a NATS server, and lose, double, delay and reorder what the hosts are sent.

    Hosts that connect to the relay instead of the server show what a deployment is worth in a bad network. SIGUSR1
    begins a partition, in which nothing comes through, or ends it. Ctrl-C or SIGTERM ends the relay.

    `mopsus simulate relay --bus nats://127.0.0.1:4222 --listen 127.0.0.1:4223 --loss 0.1 --delay 0 0.05`
    """
    from mopsus.bus.relay import Faults

    faults = Faults(loss, double, delay, seed)
    STOPPING.expected = True
    asyncio.run(_serve(bus, listen, faults))
    return 0


async def _serve(bus: str, listen: str, faults: Faults) -> None:
    from mopsus.bus.nats_bus import server_address
    from mopsus.bus.relay import Relay

    address, colon, port = listen.rpartition(":")
    if not colon or not port.isdecimal():
        raise CommandError(f"'{listen}' is no address", hint="write ADDRESS:PORT", code="CLI-005")
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    relay = Relay(server_address(bus), faults)
    loop.add_signal_handler(signal.SIGUSR1, relay.toggle)
    with STOPPING.telling(lambda number: loop.call_soon_threadsafe(ended.set)):
        listening = await relay.listen(address, int(port))
        print(f"mopsus: relay at nats://{address}:{listening}", file=sys.stderr, flush=True)
        await ended.wait()
    relay.close()
