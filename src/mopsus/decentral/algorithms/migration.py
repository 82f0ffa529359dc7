"""Migration: what is known of a run travels, as an encoding, from monitor to monitor.

Every component has a monitor with the same automaton. Some are active: they add what they have seen to their
encoding, and send it to one that can add to it. Messages are few and large.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from mopsus import _core
from mopsus.decentral.algorithms.algorithm import Algorithm, AlgorithmError, Option, Part, Task
from mopsus.decentral.algorithms.pauses import PAUSES, moves, moving
from mopsus.decentral.core import compiled
from mopsus.decentral.errors import DecentralError
from mopsus.decentral.system import System


class _Migration(Algorithm):
    way: ClassVar[str]
    defaults: ClassVar[Mapping[str, Option]] = {"active": 1, "patience": 0, **PAUSES}
    """`active`: how many monitors begin with an encoding; `patience`: after how many turns one is sent again that was
    not acknowledged, 0 if none is ever lost."""

    def setup(self, task: Task) -> Sequence[Part]:
        """A monitor on each component, in their order."""
        automaton = moving(task)
        components = list(task.system.components)
        _check_links(task.system)
        names = {component: f"monitor {component}" for component in components}
        places = dict(task.system.owners) | {moves(component): component for component in components}
        owners = {name: names[places[name]] for name in automaton.inputs}
        active = _whole_number(task, "active", 1)
        if active > len(components):
            raise AlgorithmError(
                f"{active} monitors cannot be active, as there are {len(components)}", code="DECENTRAL-052"
            )
        numbers = [components.index(places[name]) for name in automaton.inputs]
        first = self._first(_core.Migrant.first(compiled(automaton), numbers))
        begin = {(first + more) % len(components) for more in range(active)}
        return [
            Part(
                names[component],
                component,
                "migrant",
                automaton,
                automaton.inputs,
                tuple(names.values()),
                {
                    "owners": owners,
                    "way": self.way,
                    "active": number in begin,
                    "patience": _whole_number(task, "patience", 0),
                },
            )
            for number, component in enumerate(components)
        ]

    @abstractmethod
    def _first(self, earliest: int) -> int:
        """The component that begins; the first timestamp can be worked on at `earliest`."""


class EarliestObligation(_Migration):
    """An encoding goes where the earliest input that it still depends on is observed, and stays while that is here."""

    way = "earliest"

    def _first(self, earliest: int) -> int:
        return earliest


class RoundRobin(_Migration):
    """An encoding goes from component to component, always to the next."""

    way = "round robin"

    def _first(self, earliest: int) -> int:
        return 0


def _whole_number(task: Task, name: str, least: int) -> int:
    value = task.options[name]
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value < 2**31:
        raise AlgorithmError(f"'{name}' is {value}, and must be a whole number from {least} on", code="DECENTRAL-052")
    return value


def _check_links(system: System) -> None:
    for component, reached in system.costs.items():
        for other in system.components:
            if other not in reached:
                raise DecentralError(
                    f"an encoding cannot go from '{component}' to '{other}'",
                    hint="add links, or use the algorithm 'orch'",
                    code="DECENTRAL-026",
                )
