"""Choreography: a formula is split into monitors, each on the component that most of it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from mopsus.decentral.algorithms.algorithm import Algorithm, AlgorithmError, Option, Part, Task
from mopsus.decentral.algorithms.nodes import Placed, node_parts
from mopsus.decentral.algorithms.pauses import PAUSES
from mopsus.decentral.algorithms.split import split_formula
from mopsus.decentral.analysis.dependencies import closure


class Choreography(Algorithm):
    """Monitors of a formula's parts tell each other their verdicts; what the root finds is the verdict."""

    defaults: ClassVar[Mapping[str, Option]] = {"respawn": "parallel", **PAUSES}

    def setup(self, task: Task) -> Sequence[Part]:
        """The monitors that the formula is split into, the root first."""
        whole = task.whole()
        if whole.formula is None:
            raise AlgorithmError(
                f"a choreography splits a formula, and '{whole.id}' is none",
                hint="use the algorithm 'orch' or 'migr'",
                place=whole.span,
            )
        split = split_formula(whole.formula, task.system).parts
        root = next(iter(split))
        needed = closure([root], {name: part.monitor.dependencies for name, part in split.items()})
        return node_parts(
            [
                Placed(part.monitor, part.monitor.place or "", part.respawns, root=name == root)
                for name, part in split.items()
                if name in needed
            ],
            task.system,
            respawn=task.options["respawn"],
            pauses=task.options["pauses"],
        )
