"""Networks of monitors that tell each other their verdicts, as parts: who tells whom, and by way of whom.

Where two components have no link of their own, a *relay* on each component between them passes verdicts on.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from mopsus.decentral.algorithms.algorithm import AlgorithmError, Option, Part
from mopsus.decentral.algorithms.pauses import with_pauses
from mopsus.decentral.automaton import Automaton
from mopsus.decentral.errors import DecentralError
from mopsus.decentral.specification import Monitor
from mopsus.decentral.synthesis import REFERENCE
from mopsus.decentral.system import Link, System

ORDERS: Mapping[Option, bool] = {"parallel": False, "sequential": True}
"""How the instances of a monitor, one for each timestamp, run; those that wait for each other only to be compared."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A monitor of a network."""

    monitor: Monitor
    place: str
    respawns: bool = True
    """It is asked at all timestamps, not only at the first."""
    root: bool = False
    report: bool = False
    """Its verdicts are wanted, even if nobody refers to it."""
    stutters: bool = True
    """It does not move where its component observes nothing. One that does move there knows nothing of what its
    component could have observed."""


def node_parts(
    placed: Sequence[Placed], system: System, *, respawn: Option, pauses: Option, hold: bool = False, lag: int = 0
) -> list[Part]:
    """The parts of a network. `DecentralError` if verdicts cannot get to where they are needed.

    One that stutters sees by itself that its component does not move. With `pauses` it also reckons with that at
    timestamps that it did not see, because it was down.
    """
    if respawn not in ORDERS:
        raise AlgorithmError(
            f"'respawn' is {respawn}", hint=f"instances run: {', '.join(map(str, ORDERS))}", code="DECENTRAL-052"
        )
    wiring = _Wiring(placed, system)
    parts = []
    for each in (*placed, *wiring.relays):
        name = each.monitor.id
        references, receivers = wiring.references[name], wiring.receivers[name]
        automaton = _marked(each.monitor.automaton, references)
        if pauses and each.stutters:
            automaton = with_pauses(automaton, [each.place])
        settings = {
            "references": {REFERENCE + monitor: teller for monitor, teller in references.items()},
            "receivers": receivers,
            "respawns": each.respawns,
            "one_by_one": ORDERS[respawn],
            "root": each.root,
            "report": each.report,
            "hold": hold,
            "lag": lag,
            "stutters": each.stutters,
        }
        peers = tuple(dict.fromkeys((*references.values(), *receivers)))
        parts.append(Part(name, each.place, "node", automaton, automaton.inputs, peers, settings))
    return parts


class _Wiring:
    """Who tells whom; `references` says for each monitor which part tells it which of its inputs."""

    def __init__(self, placed: Sequence[Placed], system: System) -> None:
        self.relays: list[Placed] = []
        self._routes = _Routes(system)
        self.receivers: dict[str, list[str]] = {each.monitor.id: [] for each in placed}
        self.references: dict[str, dict[str, str]] = {each.monitor.id: {} for each in placed}
        readers: dict[str, list[Placed]] = {each.monitor.id: [] for each in placed}
        for each in placed:
            for name in sorted(each.monitor.dependencies):
                readers[name].append(each)
        for each in placed:
            before = self._routes.before(each.place)
            for reader in readers[each.monitor.id]:
                if reader.place not in before:
                    raise DecentralError(
                        f"verdicts of '{each.monitor.id}' on '{each.place}' are needed by '{reader.monitor.id}' on "
                        f"'{reader.place}', and no link leads there",
                        hint="add links, or place the monitors elsewhere",
                        code="DECENTRAL-026",
                    )
                self._connect(self._nearest(each, before[reader.place], before), reader.monitor.id, each.monitor.id)

    def _nearest(self, teller: Placed, place: str, before: Mapping[str, str]) -> str:
        """The part on a component that knows a monitor's verdicts: itself, or a relay."""
        if place == teller.place:
            return teller.monitor.id
        name = f"{teller.monitor.id} via {place}"
        if name not in self.references:
            relay = Monitor(name, passing(teller.monitor.id), frozenset({teller.monitor.id}), place)
            self.relays.append(Placed(relay, place, teller.respawns, stutters=False))
            self.receivers[name] = []
            self.references[name] = {}
            self._connect(self._nearest(teller, before[place], before), name, teller.monitor.id)
        return name

    def _connect(self, teller: str, reader: str, monitor: str) -> None:
        self.receivers[teller].append(reader)
        self.references[reader][monitor] = teller


def _marked(automaton: Automaton, references: Collection[str]) -> Automaton:
    """The automaton with `@` in front of references: a component may observe a proposition of the same name."""
    inputs = tuple(REFERENCE + name if name in references else name for name in automaton.inputs)
    return replace(automaton, inputs=inputs)


def passing(name: str) -> Automaton:
    """The automaton whose verdict is the value of an input: of a reference, the verdict of that monitor."""
    return Automaton((name,), (None, True, False), ((0, ~2, ~1),), (0, ~1, ~2))


class _Routes:
    """The cheapest ways through a system."""

    def __init__(self, system: System) -> None:
        self._direct = dict.fromkeys(system.components) if system.links is None else None
        self._leaving: dict[str, list[Link]] = {component: [] for component in system.components}
        for link in system.links or ():
            self._leaving[link.source].append(link)
        self._found: dict[str, Mapping[str, str]] = {}

    def before(self, start: str) -> Mapping[str, str]:
        """For each component that can be reached, the one before it on the way from `start`; of `start`, itself."""
        if start not in self._found:
            self._found[start] = dict.fromkeys(self._direct, start) if self._direct is not None else self._search(start)
        return self._found[start]

    def _search(self, start: str) -> Mapping[str, str]:
        before: dict[str, str] = {}
        queue = [(0.0, 0, start, start)]
        while queue:
            cost, steps, component, previous = heapq.heappop(queue)
            if component in before:
                continue
            before[component] = previous
            for link in self._leaving[component]:
                heapq.heappush(queue, (cost + link.cost, steps + 1, link.target, component))
        return before
