"""`mopsus simulate relay`: a bad network, on purpose."""

from __future__ import annotations

import asyncio
import signal
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from mopsus.cli.messages import CommandError
from mopsus.cli.simulate.options import BusAddress, Seed

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
    partition: Annotated[
        list[str] | None,
        typer.Option(help="Nothing comes through from then to then, in seconds after the start.", metavar="FROM-TO"),
    ] = None,
    seed: Seed = 0,
) -> int:
    """Stand between hosts and a NATS server, and lose, double, delay and reorder what the hosts are sent.

    Hosts that connect to the relay instead of the server show what a deployment is worth in a bad network. It ends with
    Ctrl-C or SIGTERM.

    `mopsus simulate relay --bus nats://127.0.0.1:4222 --listen 127.0.0.1:4223 --loss 0.1 --delay 0 0.05`
    """
    from mopsus.bus.relay import Faults

    faults = Faults(loss, double, delay, tuple(map(_stretch, partition or ())), seed)
    asyncio.run(_serve(bus, listen, faults))
    return 0


async def _serve(bus: str, listen: str, faults: Faults) -> None:
    from mopsus.bus.nats_bus import server_address
    from mopsus.bus.relay import Relay

    address, colon, port = listen.rpartition(":")
    if not colon or not port.isdecimal():
        raise CommandError(f"'{listen}' is no address", hint="write ADDRESS:PORT", code="CLI-005")
    ended = asyncio.Event()
    for each in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(each, ended.set)
    listening = await Relay(server_address(bus), faults).listen(address, int(port))
    print(f"mopsus: relay at nats://{address}:{listening}", file=sys.stderr, flush=True)
    await ended.wait()


def _stretch(text: str) -> tuple[float, float]:
    first, _, last = text.partition("-")
    try:
        return float(first), float(last)
    except ValueError:
        raise CommandError(f"'{text}' is no stretch of time", hint="such as 1.5-3", code="CLI-005") from None
