"""Groups of the apartment's specifications, and what they need: references, propositions, depth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from mopsus.decentral.load import load_specification
from mopsus.decentral.specification import Specification
from mopsus.decentral.system import System
from studies.decentral.apartment.home import SPECS

ACTIVITIES = [
    "toilet",
    "sink_usage",
    "shower_usage",
    "napping",
    "dressing",
    "reading",
    "office_tv",
    "computing",
    "cooking",
    "washing_dishes",
    "kactivity",
    "preparing",
    "livingroom_tv",
    "eating",
]
FLOORS = ["actfloor0", "actfloor1", "acthouse"]

GROUPS: Mapping[str, list[str]] = {
    "ADL": ACTIVITIES,
    "ADL+H": [*ACTIVITIES, *FLOORS],
    "ADL+2": [*ACTIVITIES, *FLOORS, "notwopeople"],
    "ADL+M": [*ACTIVITIES, *FLOORS, "notwopeople", "restricttv", "firehazard"],
}
"""Activities of daily living; with those of floors and house; with `notwopeople`; with all meta specifications."""

LISTED = ["sc_light_0", "sc_ok", *GROUPS["ADL+M"]]
"""The 22 specifications; that of the lamps is the same for each room."""


@cache
def whole() -> tuple[Specification, System]:
    """All monitors, and the components that they are on."""
    loaded = load_specification(SPECS)
    assert loaded.system is not None
    return loaded.specification, loaded.system


def part(names: Iterable[str], of: Specification, on: System) -> tuple[Specification, System]:
    """The monitors of these names and all that they refer to, and the components that those read."""
    needed: dict[str, None] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed[name] = None
            waiting += of.monitors[name].references
    monitors = {name: monitor for name, monitor in of.monitors.items() if name in needed}
    read = {each for monitor in monitors.values() for each in monitor.propositions}
    components = {name: own for name, own in on.components.items() if not read.isdisjoint(own)}
    return Specification(monitors), System(components)


def references(specification: Specification) -> int:
    """How many references there are: each is a verdict that one monitor tells another at each timestamp."""
    return sum(len(monitor.references) for monitor in specification.monitors.values())


def propositions(name: str, specification: Specification) -> frozenset[str]:
    """The propositions that a monitor would have to read if it referred to no other."""
    monitor = specification.monitors[name]
    return monitor.propositions.union(*(propositions(each, specification) for each in monitor.references))


def depth(name: str, specification: Specification) -> int:
    """How many references lie one after the other below a monitor."""
    below = specification.monitors[name].references
    return 1 + max(depth(each, specification) for each in below) if below else 0
