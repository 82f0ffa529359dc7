"""`mopsus contracts check`: does the catalogue hold with this Python and these packages?"""

from __future__ import annotations

from typing import Annotated

import typer

from mopsus.cli.contracts.examples import Found, Outcome, try_out
from mopsus.cli.options import Json
from mopsus.report.summary import VIOLATED


def check(
    names: Annotated[
        str | None, typer.Argument(help="Libraries, groups or contracts; all if left out.", metavar="NAMES")
    ] = None,
    json: Json = False,
) -> int:
    """Run the examples of contracts: the violating one must give exactly that finding, the clean one none.

    So you know that what a contract looks for is seen with this Python and these versions of packages. Status 1 if a
    contract does not hold.
    """
    from mopsus.contracts import catalogue, choose

    every = [*catalogue().values()]
    for contract in every:
        contract.load()  # once, not in every process
    outcomes = []
    for contract in every if names is None else choose(names):
        outcome = try_out(contract, every)
        outcomes.append(outcome)
        if not json:
            print(outcome_line(outcome))
    failed = sum(not outcome.holds for outcome in outcomes)
    if json:
        import msgspec

        def plain(found: tuple[Found, ...]) -> list[tuple[str, int | None]]:
            return [(each.contract, each.line) for each in found]

        def told(outcome: Outcome) -> dict[str, object]:
            return {
                "contract": outcome.contract.name,
                "holds": outcome.holds,
                "missing": outcome.missing or None,
                "expected": plain(outcome.expected),
                "violating": plain(outcome.violating),
                "clean": plain(outcome.clean),
            }

        print(msgspec.json.format(msgspec.json.encode([told(each) for each in outcomes]), indent=2).decode())
    else:
        left_out = sum(bool(outcome.missing) for outcome in outcomes)
        print(f"{len(outcomes) - failed - left_out} hold, {failed} do not, {left_out} are not tried")
    return VIOLATED if failed else 0


def outcome_line(outcome: Outcome) -> str:
    """What came of the examples of a contract, on a line."""
    name = outcome.contract.name
    if outcome.missing:
        return f"  {name}: {outcome.missing} is not installed"
    if outcome.holds:
        return f"  {name}: holds"
    shown = {
        "violating": (outcome.violating, outcome.expected),
        "clean": (outcome.clean, ()),
    }
    parts = [
        f"{example}: {_words(found)} instead of {_words(expected)}"
        for example, (found, expected) in shown.items()
        if found != expected
    ]
    return f"✗ {name}: {'; '.join(parts) or 'no line of its example is marked'}"


def _words(found: tuple[Found, ...]) -> str:
    return ", ".join(f"{each.contract} at line {each.line}" for each in found) or "nothing"
