"""`mopsus contracts show`: one contract with all that is known about it."""

from __future__ import annotations

from typing import Annotated

import typer

from mopsus.cli.options import Json


def show(
    name: Annotated[str, typer.Argument(help="The contract.", metavar="NAME")],
    json: Json = False,
) -> int:
    """Show a contract: its rule, where the library's documentation states it, the spec, and its two examples."""
    from mopsus.cli.contracts.describe import describe
    from mopsus.contracts import catalogue
    from mopsus.contracts.choice import unknown

    if name not in catalogue():
        raise unknown(name)
    contract = catalogue()[name]
    told = describe(contract)
    if json:
        import msgspec

        print(msgspec.json.format(msgspec.json.encode(told), indent=2).decode())
        return 0
    print(f"{told.name}  ({told.library}, {told.group}, {told.severity})\n\n{told.rule}\n{told.source}\n\n{told.text}")
    for title, path in (("A violation", contract.violating), ("None", contract.clean)):
        print(f"--- {title}: {path.name}\n{path.read_text(encoding='utf-8')}")
    return 0
