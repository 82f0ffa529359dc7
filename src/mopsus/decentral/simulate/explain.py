"""Why a run ended as it did: observations from which the verdict follows, or those that nobody has told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from mopsus import _core
from mopsus.decentral.algorithms.algorithm import Part
from mopsus.decentral.algorithms.build import Running
from mopsus.decentral.algorithms.pauses import moves
from mopsus.decentral.simulate.witness import Notes, Witness
from mopsus.decentral.system import System


@dataclass(frozen=True, slots=True)
class Reason:
    """An input of a monitor at a timestamp."""

    time: int
    name: str
    """A proposition, or `@` and a monitor whose verdict it is."""
    component: str
    """Where it is observed, or read."""
    value: bool | None = None
    """None: it is not known."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Of a verdict, or of why there is none."""

    monitor: str | None
    """Who found the verdict."""
    since: int
    """The timestamp at which the state was known last; reasons are later."""
    state: int | None = None
    """That state of the finder's automaton."""
    reasons: tuple[Reason, ...] = ()
    """What the verdict follows from."""
    missing: tuple[Reason, ...] = ()
    """What would have had to be known."""


def explain(
    running: Sequence[Running],
    system: System,
    finder: int | None,
    on_the_way: Sequence[tuple[int, _core.Content]],
    notes: Callable[[], Notes],
) -> Explanation:
    """Why the monitor of that number found a verdict, or why none did; `on_the_way` is to whom messages would have come
    that were not delivered, and `notes` repeats the run to see what monitors knew."""
    if finder is not None:
        found = running[finder]
        if isinstance(found.monitor, _core.Node):
            noted = notes()
            told = Witness(noted).reasons(found.part.name, 1, noted.until)
            reasons = {_reason(part, system, time, put, value) for part, time, put, value in told}
            return Explanation(found.part.name, 0, 0, _ordered(reasons, system))
        since, state, known = _known(found)
        reasons = {_reason(found.part, system, time, put, value) for time, put, value in known}
        return Explanation(found.part.name, since, state, _ordered(reasons, system))
    missing: set[Reason] = set()
    since = 0
    roots = [each for each in running if each.part.settings.get("root")]
    for each in roots or running:
        start, unknown = _unknown(each)
        missing.update(_reason(each.part, system, time, put, None) for time, put in unknown)
        since = max(since, start)
    for number, content in on_the_way:
        if isinstance(content, _core.Encoding):
            ehe = content.ehe
            missing.update(_reason(running[number].part, system, time, put, None) for time, put in ehe.missing(ehe.end))
            since = max(since, ehe.start)
    return Explanation(None, since, missing=_ordered(missing, system))


def _known(running: Running) -> tuple[int, int | None, list[tuple[int, int, bool]]]:
    """Since when a monitor knows all states, which one that was, and from what its finding follows after it."""
    if isinstance(running.monitor, _core.DecentralMonitor):
        ehe = running.monitor.ehe if isinstance(running.monitor, _core.Encoder) else None
        start = running.monitor.extent.start
        return start, None if ehe is None else ehe.state(start), running.monitor.reasons()
    ehe = running.encoding
    return (0, None, []) if ehe is None else (ehe.start, ehe.state(ehe.start), ehe.reasons(ehe.resolved))


def _unknown(running: Running) -> tuple[int, list[tuple[int, int]]]:
    """Since when a monitor knows all states, and what it would have to know for a finding."""
    if isinstance(running.monitor, _core.DecentralMonitor):
        return running.monitor.extent.start, running.monitor.missing()
    ehe = running.encoding
    return (0, []) if ehe is None else (ehe.start, ehe.missing(ehe.end))


def _ordered(reasons: Iterable[Reason], system: System) -> tuple[Reason, ...]:
    order = {component: number for number, component in enumerate(system.components)}
    return tuple(sorted(reasons, key=lambda reason: (reason.time, order[reason.component], reason.name)))


def _reason(part: Part, system: System, time: int, number: int, value: bool | None) -> Reason:
    """A verdict of another monitor is where it is read."""
    name = part.inputs[number]
    places = {**system.owners, **{moves(component): component for component in system.components}}
    return Reason(time, name, places.get(name, part.place), value)
