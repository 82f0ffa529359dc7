"""Where monitors can run, so that their verdicts reach whoever needs them; and where they should.

A *network* says which monitor sends to which. A placement is compatible if messages can go, maybe by way of others,
from the component of every sender to that of its receiver.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from mopsus.decentral.analysis.dependencies import closure, dependencies
from mopsus.decentral.errors import DecentralError
from mopsus.decentral.specification import Specification
from mopsus.decentral.system import System

Network: TypeAlias = "Mapping[str, frozenset[str]]"
"""For each monitor, those that it sends its verdicts to."""

MAX_TRIES = 1_000_000
"""How many partial placements are looked at; the problem is a hard one, but instances are small."""


@dataclass(frozen=True, slots=True)
class Placement:
    """A component for each monitor, and what all links together cost if every monitor sends one verdict."""

    components: Mapping[str, str]
    cost: float


def network_of(specification: Specification) -> Network:
    """Who sends to whom: the other way round than who depends on whom."""
    graph = dependencies(specification)
    receivers: dict[str, set[str]] = {name: set() for name in graph}
    for receiver, senders in graph.items():
        for sender in senders:
            receivers[sender].add(receiver)
    return {name: frozenset(those) for name, those in receivers.items()}


def place(specification: Specification, system: System) -> Placement:
    """The cheapest compatible placement. `DecentralError` if there is none, with what cannot reach what."""
    pins = specification.pins(system)
    network = network_of(specification)
    found = best_placement(network, system, pins)
    if found is not None:
        return found
    raise DecentralError(
        "no placement of the monitors fits the links", hint=_obstacle(network, system, pins), code="DECENTRAL-026"
    )


def compatible_placement(network: Network, system: System, pins: Mapping[str, str]) -> Mapping[str, str] | None:
    """Some compatible placement that has all monitors of `pins` where these say; None if there is none."""
    found = _Search(network, system, pins, first=True).run()
    return None if found is None else found.components


def best_placement(network: Network, system: System, pins: Mapping[str, str]) -> Placement | None:
    """A cheapest compatible placement; None if there is none."""
    return _Search(network, system, pins, first=False).run()


class _Search:
    """Backtracking over the monitors that are not pinned; with `first`, until there is a placement at all."""

    def __init__(self, network: Network, system: System, pins: Mapping[str, str], *, first: bool) -> None:
        self._costs = system.costs
        self._pins = pins
        self._network = network
        self._senders: dict[str, list[str]] = {name: [] for name in network}
        for name, receivers in network.items():
            for receiver in receivers:
                self._senders[receiver].append(name)
        self._first = first
        self._tries = 0
        self._best: Placement | None = None

    def run(self) -> Placement | None:
        placed: dict[str, str] = {}
        cost = 0.0
        for name, component in self._pins.items():
            more = self._joining(name, component, placed)
            if more is None:
                return None
            placed[name] = component
            cost += more
        free = [name for name in self._network if name not in placed]
        domains = self._domains(free, placed)
        free.sort(key=lambda name: (len(domains[name]), -len(self._network[name]) - len(self._senders[name])))
        self._search(free, domains, placed, cost)
        return self._best

    def _domains(self, free: Sequence[str], placed: Mapping[str, str]) -> dict[str, list[str]]:
        """For each monitor, the components that fit all pinned monitors that it reaches or is reached from."""
        below = {name: closure([name], self._network) for name in self._network}
        return {
            name: [
                component
                for component in self._costs
                if all(placed[other] in self._costs[component] for other in below[name] if other in placed)
                and all(component in self._costs[where] for other, where in placed.items() if name in below[other])
            ]
            for name in free
        }

    def _search(
        self, free: Sequence[str], domains: Mapping[str, list[str]], placed: dict[str, str], cost: float
    ) -> None:
        if self._best is not None and (self._first or cost + self._bound(free, domains, placed) >= self._best.cost):
            return
        if not free:
            self._best = Placement({name: placed[name] for name in self._network}, cost)
            return
        self._tries += 1
        if self._tries > MAX_TRIES:
            raise DecentralError(
                "the placement takes too long to find", hint="place more monitors by hand", code="DECENTRAL-027"
            )
        name = free[0]
        choices = [(self._joining(name, component, placed), component) for component in domains[name]]
        for more, component in sorted((more, component) for more, component in choices if more is not None):
            placed[name] = component
            self._search(free[1:], domains, placed, cost + more)
            del placed[name]

    def _bound(self, free: Iterable[str], domains: Mapping[str, list[str]], placed: Mapping[str, str]) -> float:
        """What the monitors that are not placed yet cost at least."""
        return sum(
            min((more for each in domains[name] if (more := self._joining(name, each, placed)) is not None), default=0)
            for name in free
        )

    def _joining(self, name: str, component: str, placed: Mapping[str, str]) -> float | None:
        """What messages between a monitor there and those placed cost; None if some cannot be sent."""
        total = 0.0
        for receiver in self._network[name]:
            if receiver in placed:
                if placed[receiver] not in self._costs[component]:
                    return None
                total += self._costs[component][placed[receiver]]
        for sender in self._senders[name]:
            if sender in placed:
                if component not in self._costs[placed[sender]]:
                    return None
                total += self._costs[placed[sender]][component]
        return total


def _obstacle(network: Network, system: System, pins: Mapping[str, str]) -> str:
    for name, component in pins.items():
        for other in sorted(closure([name], network)):
            if other in pins and pins[other] not in system.costs[component]:
                return (
                    f"verdicts of '{name}' on '{component}' are needed by '{other}' on '{pins[other]}', "
                    "and no link leads there"
                )
    return "add links"
