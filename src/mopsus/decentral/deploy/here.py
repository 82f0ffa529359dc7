"""A whole deployment in this process, on a bus of its own: to try one before there are hosts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from mopsus.bus import LocalBus
from mopsus.decentral.deploy.client import Client, Deployed, Deployment
from mopsus.decentral.deploy.host import Host


async def deploy_here(deployment: Deployment, say: Callable[[str], None]) -> Deployed:
    """Run all hosts of a deployment, and its client. `DecentralError` if one fails."""
    bus = LocalBus()
    hosts = [Host(name, bus, None, say) for name in deployment.components]
    for host in hosts:
        await host.join()
    serving = [asyncio.ensure_future(host.serve()) for host in hosts]
    try:
        return await Client(bus, deployment).run()
    finally:
        for each in serving:
            each.cancel()
        await asyncio.gather(*serving, return_exceptions=True)
