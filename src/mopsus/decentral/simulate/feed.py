"""What components observe in a run, as the simulator takes it.

Traces have an event for each timestamp. Where values seldom change, `Changes` say when: what is not mentioned is as
before. A feed can be made once and used in many runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

from mopsus import _core
from mopsus.decentral.errors import DecentralError
from mopsus.decentral.system import System
from mopsus.decentral.traces import Event
from mopsus.logics.text import suggestion


class Change(NamedTuple):
    """A proposition has a value from a timestamp on."""

    time: int
    proposition: str
    value: bool


@dataclass(frozen=True, slots=True)
class Changes:
    """By component, in order of time. Propositions are false at first; timestamps are 1 to `length`."""

    length: int
    by_component: Mapping[str, Sequence[Change]]


@dataclass(frozen=True, slots=True)
class Feed:
    """The observations of all components of a system."""

    source: Mapping[str, Sequence[Event]] | Changes
    core: _core.Feed
    names: Mapping[str, Sequence[str]]
    """Of each component, its propositions."""

    @property
    def length(self) -> int:
        """The last timestamp."""
        return self.core.length

    def values(self, component: str, until: int) -> Iterator[tuple[int, Event]]:
        """All that a component observes at each timestamp up to one, whether it has changed or not."""
        if not isinstance(self.source, Changes):
            yield from enumerate(self.source.get(component, ())[:until], 1)
            return
        values = dict.fromkeys(self.names[component], False)
        changes = iter(self.source.by_component.get(component, ()))
        change = next(changes, None)
        for time in range(1, min(until, self.length) + 1):
            while change is not None and change.time == time:
                values = {**values, change.proposition: change.value}
                change = next(changes, None)
            yield time, values

    def observations(self) -> Iterator[tuple[int, str, Event]]:
        """Timestamps, components and what they observe then or, of changes, what changes; by time."""
        if isinstance(self.source, Changes):
            events: dict[tuple[int, int], dict[str, bool]] = {}
            names = list(self.source.by_component)
            for number, name in enumerate(names):
                for time, proposition, value in self.source.by_component[name]:
                    events.setdefault((time, number), {})[proposition] = value
            yield from ((time, names[number], events[time, number]) for time, number in sorted(events))
            return
        for time in range(1, self.length + 1):
            for name, trace in self.source.items():
                if time <= len(trace) and trace[time - 1]:
                    yield time, name, trace[time - 1]


def feed_of(system: System, source: Mapping[str, Sequence[Event]] | Changes) -> Feed:
    """What components observe, by component. `DecentralError` if one is not there, or observes what is not its own."""
    by_component: Mapping[str, Sequence[object]] = source.by_component if isinstance(source, Changes) else source
    for name in by_component:
        system.check(name, "a trace")
    numbers = {
        component: {name: number for number, name in enumerate(names)} for component, names in system.components.items()
    }
    if isinstance(source, Changes):
        core = _core.Feed([len(names) for names in system.components.values()], source.length, True)
    else:
        length = max(map(len, source.values()), default=0)
        core = _core.Feed([len(names) for names in system.components.values()], length)
    for number, component in enumerate(system.components):
        if isinstance(source, Changes):
            for time, proposition, value in _from_the_beginning(
                source.by_component.get(component, ()), numbers[component], source.length
            ):
                core.add(number, time, _number(numbers[component], proposition, component), value)
        else:
            _add_events(core, number, component, source.get(component, ()), numbers[component])
    return Feed(source, core, system.components)


def _from_the_beginning(changes: Sequence[Change], names: Iterable[str], length: int) -> Iterator[Change]:
    """The changes with what is false at first said too."""
    said = {change.proposition for change in takewhile(lambda change: change.time == 1, changes)}
    if length:
        yield from (Change(1, name, False) for name in names if name not in said)
    yield from changes


def _add_events(
    core: _core.Feed, number: int, component: str, events: Sequence[Event], numbers: Mapping[str, int]
) -> None:
    for time, event in enumerate(events, 1):
        if not event:
            core.add(number, time, _core.NOTHING, False)
        for name, value in event.items():
            core.add(number, time, _number(numbers, name, component), value)


def _number(numbers: Mapping[str, int], name: str, component: str) -> int:
    if name not in numbers:
        raise DecentralError(
            f"the trace of '{component}' observes '{name}', which is none of its propositions",
            hint=suggestion(name, numbers),
            code="DECENTRAL-054",
        )
    return numbers[name]
