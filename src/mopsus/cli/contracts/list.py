"""`mopsus contracts list`: the catalogue as a table."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer

from mopsus.cli.options import Json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import RenderableType
    from rich.text import Text

    from mopsus.cli.contracts.describe import Description

WIDE = 72
"""From that width on, the rule stands beside the name, else below it."""


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
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=False)
    for (library, group), contracts in groupby(chosen, key=lambda each: (each.library, each.group)):
        console.print(Text.assemble((group, "bold"), f"  {GROUPS[library][group]}"))
        told = map(describe, contracts)
        console.print(_table(told) if console.width >= WIDE else _column(told))
        console.print()
    rules = {each.like or each.name for each in chosen}
    console.print(f"{len(chosen)} contracts with {len(rules)} different rules" if len(chosen) > 1 else "1 contract")
    return 0


def _table(descriptions: Iterable[Description]) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    for told in descriptions:
        table.add_row(Text(f"  {told.name}"), _severity(told), Text(told.rule))
    return table


def _column(descriptions: Iterable[Description]) -> RenderableType:
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    return Group(
        *(
            part
            for told in descriptions
            for part in (Text.assemble(f"  {told.name}  ", _severity(told)), Padding(Text(told.rule), (0, 0, 0, 4)))
        )
    )


def _severity(told: Description) -> Text:
    from rich.text import Text

    from mopsus.model import Severity
    from mopsus.report.terminal import STYLES

    return Text(told.severity, STYLES[Severity(told.severity)])
