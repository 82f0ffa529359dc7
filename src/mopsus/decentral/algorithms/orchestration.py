"""Orchestration: all monitors tell one of them what they see, and that one finds the verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from mopsus.decentral.algorithms.algorithm import Algorithm, Option, Part, Task
from mopsus.decentral.algorithms.pauses import PAUSES, moving
from mopsus.decentral.errors import DecentralError
from mopsus.decentral.system import System


class Orchestration(Algorithm):
    """One monitor has the whole automaton; those on the other components forward all that they observe."""

    defaults: ClassVar[Mapping[str, Option]] = PAUSES

    def setup(self, task: Task) -> Sequence[Part]:
        """The monitor that finds the verdict is the first: where the specification places it, else on the first
        component that all others can reach."""
        center = _center(task.system, task.whole().place)
        automaton = moving(task)
        others = [name for name in task.system.components if name != center]
        # Whatever is observed is told, so everything has a number.
        told = tuple(name for name in task.system.owners if name not in automaton.inputs)
        inputs = automaton.inputs + told
        main = _name(center)
        forwarders = [
            Part(_name(place), place, "forwarder", inputs=inputs, peers=(main,), settings={"to": main})
            for place in others
        ]
        peers = tuple(part.name for part in forwarders)
        return [Part(main, center, "orchestrator", automaton, inputs, peers), *forwarders]


def _name(component: str) -> str:
    return f"monitor {component}"


def _center(system: System, place: str | None) -> str:
    for center in system.components if place is None else [place]:
        if all(center in reached for reached in system.costs.values()):
            return center
    raise DecentralError(
        "no component can be told what all others observe"
        if place is None
        else f"'{place}' cannot be told what all others observe",
        hint="add links, or place the monitor elsewhere",
        code="DECENTRAL-026",
    )
