"""Options that several commands about decentralized monitoring have."""

from __future__ import annotations

from typing import Annotated

import typer

ComponentCount = Annotated[
    int, typer.Option("--components", "-c", help="How many components there are: A, B and so on.", min=1, metavar="N")
]
ObservationCount = Annotated[
    int,
    typer.Option("--observations", help="How many propositions each observes: a0, a1 and so on.", min=1, metavar="N"),
]
Seed = Annotated[int, typer.Option("--seed", help="What chance begins with.", metavar="N")]
BusAddress = Annotated[
    str, typer.Option("--bus", help="The NATS server that carries messages: nats://address:port.", metavar="URL")
]
