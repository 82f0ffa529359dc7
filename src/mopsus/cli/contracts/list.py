"""`mopsus contracts list`: the catalogue as a table."""

from __future__ import annotations

from itertools import groupby
from typing import Annotated

import typer

from mopsus.cli.options import Json


def list(  # the command's name
    names: Annotated[
        str | None, typer.Argument(help="Libraries, groups or contracts; all if left out.", metavar="NAMES")
    ] = None,
    json: Json = False,
) -> int:
    """List the contracts that there are, by group, each with its severity and its rule.

    `mopsus contracts list threads,asyncio`
    """
    from mopsus.cli.contracts.describe import describe
    from mopsus.contracts import catalogue, choose
    from mopsus.contracts.catalogue import GROUPS

    chosen = [*catalogue().values()] if names is None else choose(names)
    if json:
        import msgspec

        print(msgspec.json.format(msgspec.json.encode([describe(each) for each in chosen]), indent=2).decode())
        return 0
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=False)
    for (library, group), contracts in groupby(chosen, key=lambda each: (each.library, each.group)):
        console.print(Text.assemble((group, "bold"), f"  {GROUPS[library][group]}"))
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True)
        for contract in contracts:
            told = describe(contract)
            table.add_row(Text(f"  {told.name}"), Text(told.severity), Text(told.rule))
        console.print(table)
        console.print()
    return 0
