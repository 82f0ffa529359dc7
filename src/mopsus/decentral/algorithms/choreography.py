"""Choreography: a formula is split into monitors, each on the component that most of it is about.

All of them move at the timestamps at which the formula does: those at which some component observes something. A
component that observes nothing cannot tell by itself whether another one does. So its monitors take what it did not
observe as unknown. If there may be timestamps at which nobody observes anything, components tell each other at which
ones they do, and no monitor moves at a timestamp at which none does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from mopsus.decentral.algorithms.algorithm import Algorithm, AlgorithmError, Option, Part, Task
from mopsus.decentral.algorithms.nodes import Placed, node_parts, passing
from mopsus.decentral.algorithms.pauses import PAUSES, moves, with_pauses
from mopsus.decentral.algorithms.split import split_formula
from mopsus.decentral.analysis.dependencies import closure
from mopsus.decentral.specification import Monitor
from mopsus.decentral.system import System


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
        placed = [
            Placed(part.monitor, part.monitor.place or "", part.respawns, root=name == root, stutters=False)
            for name, part in split.items()
            if name in needed
        ]
        if task.options["pauses"]:
            placed = _with_pauses(placed, task.system)
        return node_parts(placed, task.system, respawn=task.options["respawn"], pauses=False)


def _with_pauses(placed: Sequence[Placed], system: System) -> list[Placed]:
    """Monitors that do not move where no component does, with those on other components that tell them which do."""
    tellers = {moves(component): component for component in system.components}
    monitors = [
        replace(
            each,
            monitor=replace(
                each.monitor,
                automaton=with_pauses(each.monitor.automaton, system.components),
                references=each.monitor.references | (tellers.keys() - {moves(each.place)}),
            ),
        )
        for each in placed
    ]
    asked = frozenset[str]().union(*(each.monitor.dependencies for each in monitors))
    return monitors + [
        Placed(Monitor(name, passing(name), place=component), component, stutters=False)
        for name, component in tellers.items()
        if name in asked
    ]
