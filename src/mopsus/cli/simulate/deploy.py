"""`mopsus simulate deploy`: monitors on several hosts, and the verdict that they find."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mopsus.cli.options import Json
from mopsus.cli.simulate.options import BusAddress
from mopsus.report.summary import VIOLATED
from mopsus.stopping import STOPPING

SHOWN = 10
"""How many observations that are missing are listed for people."""

if TYPE_CHECKING:
    from mopsus.decentral.deploy.client import Deployed, Deployment


def deploy(
    file: Annotated[Path, typer.Argument(help="A deployment, in TOML.", metavar="FILE")],
    bus: BusAddress | None = None,
    json: Json = False,
) -> int:
    """Set monitors up on hosts, start them, and wait for the verdict.

    The file says which specification is monitored by which algorithm, and where each component is and what it observes.
    The hosts are processes that `mopsus simulate host` has started; without --bus, all run in this process.

    `mopsus simulate deploy lights.deploy.toml --bus nats://127.0.0.1:4222`
    """
    from mopsus.decentral.automaton import VERDICT_NAMES
    from mopsus.decentral.deploy.plan import read_plan

    outcome = STOPPING.run(_run(read_plan(file), bus))
    if json:
        import msgspec

        told = msgspec.to_builtins(outcome) | {"verdict": VERDICT_NAMES[outcome.verdict]}
        print(msgspec.json.format(msgspec.json.encode(told), indent=2).decode())
    else:
        _show(outcome)
    return VIOLATED if outcome.verdict is False else 0


async def _run(deployment: Deployment, address: str | None) -> Deployed:
    if address is None:
        from mopsus.decentral.deploy.here import deploy_here

        return await deploy_here(deployment, lambda text: print(f"mopsus: {text}", file=sys.stderr))
    from mopsus.bus import NatsBus
    from mopsus.decentral.deploy.client import Client

    bus = await NatsBus.connect(address, os.environ.get("MOPSUS_TOKEN"))
    try:
        return await Client(bus, deployment).run()
    finally:
        await bus.close()


def _show(outcome: Deployed) -> None:
    from mopsus.decentral.automaton import VERDICT_NAMES

    verdict = VERDICT_NAMES[outcome.verdict]
    found = f" at timestamp {outcome.timestamp}, found by {outcome.monitor}" if outcome.verdict is not None else ""
    print(f"verdict: {verdict}{found}" + (" (nothing more can happen)" if outcome.end == "quiet" else ""))
    for reason in outcome.reasons:
        print(f"  because {reason.name} of {reason.component} was {VERDICT_NAMES[reason.value]} at {reason.time}")
    if outcome.verdict is None:
        for reason in outcome.missing[:SHOWN]:
            print(f"  not known: {reason.name} of {reason.component} at {reason.time}")
    for name, host in outcome.hosts.items():
        observed = ", ".join(f"{component} {time}" for component, time in host.times.items())
        processes = " then ".join(map(str, host.pids))
        print(f"  {name}: process {processes} on {host.machine}; {host.turns} turns; observed: {observed}")
    measures = outcome.measures
    print(f"  {measures.get('msg_num', 0)} messages of {measures.get('msg_bytes', 0)} bytes")
