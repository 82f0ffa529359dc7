"""Decentralized specifications as they are given: each monitor runs on its component, and tells its verdicts to those
that refer to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from mopsus.decentral.algorithms.algorithm import Algorithm, AlgorithmError, Option, Part, Task
from mopsus.decentral.algorithms.nodes import Placed, node_parts
from mopsus.decentral.algorithms.pauses import PAUSES
from mopsus.decentral.analysis.dependencies import closure, dependencies
from mopsus.decentral.analysis.placement import place
from mopsus.decentral.errors import DecentralError
from mopsus.decentral.specification import Monitor, Specification
from mopsus.decentral.system import System
from mopsus.logics.text import suggestion


class General(Algorithm):
    """Each monitor is started anew at each timestamp, and tells what it finds as soon as it is sure.

    What the root finds when it is started at the first timestamp is the verdict, and ends the run. With `watch`, runs
    go on to the end, and the verdicts at all timestamps are reported: of `all` monitors, of the `tops` that no
    other one refers to, or of those named, with commas between them. `hold` says that monitors are told changes only.
    With `lag`, they have a turn only every so many timestamps: they run less often, and tell more at once, but later.
    """

    defaults: ClassVar[Mapping[str, Option]] = {"respawn": "parallel", "watch": "", "hold": False, "lag": 0, **PAUSES}

    def setup(self, task: Task) -> Sequence[Part]:
        """The root and the monitors watched, with all that they depend on."""
        specification = task.specification
        watched = _watched(specification, str(task.options["watch"]))
        root = _root(specification, required=not watched)
        wanted = closure([*watched, *([root] if root else [])], dependencies(specification))
        monitors = {
            name: replace(monitor, references=monitor.dependencies, place=_home(monitor, task.system))
            for name, monitor in specification.monitors.items()
            if name in wanted
        }
        places = place(Specification(monitors, root), task.system).components
        referred = {name for monitor in monitors.values() for name in monitor.references}
        return node_parts(
            [
                Placed(
                    monitor,
                    places[name],
                    respawns=bool(watched) or name != root or name in referred,
                    root=name == root,
                    report=name in watched,
                )
                for name, monitor in monitors.items()
            ],
            task.system,
            respawn=task.options["respawn"],
            pauses=task.options["pauses"],
            hold=bool(task.options["hold"]),
            lag=_lag(task.options["lag"]),
        )


def _watched(specification: Specification, text: str) -> frozenset[str]:
    if text in ("all", "tops"):
        return frozenset(specification.monitors if text == "all" else specification.tops)
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in specification.monitors:
            raise AlgorithmError(
                f"there is no monitor '{name}' to watch",
                hint=suggestion(name, specification.monitors),
                code="DECENTRAL-052",
            )
    return frozenset(names)


def _lag(value: Option) -> int:
    if not isinstance(value, int) or value < 0:
        raise AlgorithmError(f"'lag' is {value}, and must be a number of timestamps", code="DECENTRAL-052")
    return value


def _root(specification: Specification, *, required: bool) -> str | None:
    """None if it is not clear which one it is, and need not be."""
    try:
        return specification.root
    except DecentralError:
        if required:
            raise
        return None


def _home(monitor: Monitor, system: System) -> str | None:
    """The component that a monitor must be on to see what it reads, or was placed on; None if it may be anywhere.

    A specification of one monitor may read what it likes and be where it likes, but not here.
    """
    homes = {system.owners[name] for name in monitor.propositions if name in system.owners}
    if monitor.place is not None:
        homes.add(monitor.place)
    if len(homes) > 1:
        about = " and ".join(map(repr, sorted(homes)))
        raise DecentralError(
            f"monitor '{monitor.id}' is about {about}, but can be on one component only",
            hint="let the algorithm 'chor' split it, or make a monitor on each component and refer to it with @",
            code="DECENTRAL-022",
            place=monitor.span,
        )
    return homes.pop() if homes else None
