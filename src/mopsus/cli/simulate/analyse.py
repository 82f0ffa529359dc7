"""`mopsus simulate analyse`: what can be known of a decentralized specification before it runs."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mopsus.cli.options import Json

if TYPE_CHECKING:
    from mopsus.decentral.analysis.equivalence import Difference
    from mopsus.decentral.load import Loaded

_TRUTHS = {True: "true", False: "false", None: "?"}


def analyse(
    spec: Annotated[Path, typer.Argument(help="The specification, .toml or .xml.", metavar="SPEC")],
    other: Annotated[
        Path | None, typer.Argument(help="Another one: do both have the same verdicts?", metavar="OTHER")
    ] = None,
    json: Json = False,
) -> int:
    """Say what can be known of a specification before it runs.

    Of each monitor: where it runs, whom it depends on, and after how many rounds it can have a verdict. Of all: whether
    each can reach a verdict from wherever it is, and what messages cost on the cheapest placement. Ends with status 1
    if that is not proven or, with OTHER, if there is a trace on which the verdicts differ, which is shown.
    """
    from mopsus.decentral.analysis.equivalence import difference
    from mopsus.decentral.load import load_specification

    loaded = load_specification(spec)
    if other is None:
        told = _told(loaded)
        shown = _lines(told)
        wrong = not told["proven"]
    else:
        found = difference(loaded.specification, load_specification(other).specification)
        told, shown, wrong = _compared(found), _difference_lines(found, spec, other), found is not None
    if json:
        import msgspec

        print(msgspec.json.format(msgspec.json.encode(told), indent=2).decode())
    else:
        print("\n".join(shown))
    return int(wrong)


def _told(loaded: Loaded) -> dict[str, Any]:
    from mopsus.decentral.analysis.dependencies import dependencies
    from mopsus.decentral.analysis.monitorability import depths, monitorability
    from mopsus.decentral.analysis.placement import place

    specification, system = loaded.specification, loaded.system
    found, rounds, graph = monitorability(specification), depths(specification), dependencies(specification)
    placement = None if system is None or specification.centralized else place(specification, system)
    return {
        "monitors": {
            name: {
                "component": None if placement is None else placement.components[name],
                "states": len(monitor.automaton.verdicts),
                "depends_on": sorted(graph[name]),
                "rounds": None if math.isinf(rounds[name]) else int(rounds[name]),
            }
            for name, monitor in specification.monitors.items()
        },
        "cost": None if placement is None else placement.cost,
        "proven": found.proven,
        "reasons": found.reasons(),
    }


def _lines(told: dict[str, Any]) -> list[str]:
    lines = []
    width = max(map(len, told["monitors"]))
    for name, monitor in told["monitors"].items():
        parts = [f"{monitor['states']} state{'s' * (monitor['states'] != 1)}"]
        if monitor["component"] is not None:
            parts.insert(0, f"on {monitor['component']}")
        if monitor["depends_on"]:
            parts.append(f"depends on {', '.join(monitor['depends_on'])}")
        rounds = monitor["rounds"]
        parts.append(
            "a verdict is not sure" if rounds is None else f"a verdict after {rounds} round{'s' * (rounds > 1)}"
        )
        lines.append(f"{name:{width}}  {'; '.join(parts)}")
    if told["cost"] is not None:
        lines.append(f"a verdict of each costs {told['cost']:g} in messages, on the cheapest placement")
    lines.append("monitorable" if told["proven"] else "not proven to be monitorable")
    return [*lines, *(f"   {reason}" for reason in told["reasons"])]


def _compared(found: Difference | None) -> dict[str, Any]:
    if found is None:
        return {"equivalent": True}
    return {
        "equivalent": False,
        "trace": [sorted(each) for each in found.trace],
        "verdicts": [_TRUTHS[found.first], _TRUTHS[found.second]],
    }


def _difference_lines(found: Difference | None, spec: Path, other: Path) -> list[str]:
    if found is None:
        return ["the verdicts are the same on all traces"]
    steps = [f"   {number}: {', '.join(sorted(each)) or 'nothing'}" for number, each in enumerate(found.trace, 1)]
    return [
        "the verdicts differ if this is true at each timestamp, and all else false:",
        *steps,
        f"{spec}: {_TRUTHS[found.first]}",
        f"{other}: {_TRUTHS[found.second]}",
    ]
