"""`mopsus simulate host`: a process in which components are observed and monitors run."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from mopsus.cli.simulate.options import BusAddress
from mopsus.stopping import STOPPING


def host(
    name: Annotated[str, typer.Argument(help="What deployments call this host.", metavar="NAME")],
    bus: BusAddress,
    journal: Annotated[
        Path | None,
        typer.Option(
            "--journal", help="Keep journals in this folder, so that a host that was killed can go on.", metavar="DIR"
        ),
    ] = None,
) -> int:
    """Run what is deployed on this host, until Ctrl-C or SIGTERM.

    All hosts and the client connect to one NATS server; the token that it asks for is that in the environment variable
    MOPSUS_TOKEN. Started again with the same journals, a host goes on with the runs that it was killed in.

    `mopsus simulate host hall --bus nats://127.0.0.1:4222 --journal journals`
    """
    if journal is not None:
        journal.mkdir(parents=True, exist_ok=True)
    STOPPING.expected = True
    STOPPING.run(_serve(name, bus, journal))
    return 0


async def _serve(name: str, address: str, journal: Path | None) -> None:
    from mopsus.bus import NatsBus
    from mopsus.decentral.deploy.host import Host

    bus = await NatsBus.connect(address, os.environ.get("MOPSUS_TOKEN"))
    host = Host(name, bus, journal, _say)
    await host.join()
    _say(f"host '{name}' is ready")
    with contextlib.suppress(asyncio.CancelledError):
        await host.serve()
    await bus.close()
    _say(f"sent {bus.sent_messages} messages of {bus.sent_bytes} bytes")


def _say(text: str) -> None:
    print(f"mopsus: {text}", file=sys.stderr, flush=True)
