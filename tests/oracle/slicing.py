"""Parametric slicing as the definitions have it: Algorithms B and C, and Algorithm D without any index.

Meredith 2012, ch. 3. B and C are short enough to be read as right, so the engine is compared with
them; D is what the engine implements, so D against C checks the algorithm itself, apart from its code.
Everything here is a plain scan over all instances: slow, and meant to be.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias, TypeVar

from mopsus.model import BindingMode, Spec, TableMachine

Key: TypeAlias = tuple[str, Any]
Instance: TypeAlias = frozenset[tuple[str, Key]]
"""A parameter instance: pairs of a parameter and the key of its value."""

Item = TypeVar("Item")

RELEASE = "#release"
"""The event that ends the values it binds: they never occur again."""

BOTTOM: Instance = frozenset()


class Occurrence(NamedTuple):
    """One event of a parametric trace."""

    event: str
    binding: Mapping[str, Any]
    thread: Any = None


class Report(NamedTuple):
    """Event `index` of the trace took property `property` of `instance` to `category`."""

    index: int
    property: int
    category: str
    instance: Instance


def key(value: Any) -> Key:
    """What tells values apart: `1`, `1.0`, `True` and `"1"` are four values, also inside tuples."""
    if isinstance(value, tuple):
        return ("tuple", tuple(key(item) for item in value))
    return (type(value).__name__, value)


def instance(binding: Mapping[str, Any]) -> Instance:
    return frozenset((name, key(value)) for name, value in binding.items())


@dataclass(frozen=True)
class Subject:
    """What is monitored: everything of a spec that decides who reports what.

    `creation` are the spec's creation events, already chosen among declared and computed ones.
    `resets` has, for each machine, the categories whose handler takes the instance, with all its
    machines, back to the initial states, or where its machines say that a reset leads.
    """

    parameters: tuple[str, ...]
    events: Mapping[str, tuple[str, ...]]
    machines: tuple[TableMachine, ...]
    creation: frozenset[str]
    resets: tuple[frozenset[str], ...]
    binding: BindingMode = BindingMode.ANY
    connected: bool = False
    perthread: bool = False

    @classmethod
    def of(cls, spec: Spec, machines: Sequence[TableMachine], resets: Sequence[frozenset[str]]) -> Subject:
        """The subject that `spec` with its compiled `machines`, one per property, describes."""
        declared = frozenset(event.name for event in spec.events if event.creation)
        computed = frozenset().union(*(machine.creation for machine in machines))
        return cls(
            parameters=tuple(parameter.name for parameter in spec.parameters),
            events={event.name: event.parameters for event in spec.events},
            machines=tuple(machines),
            creation=declared or computed,
            resets=tuple(resets),
            binding=spec.modifiers.binding,
            connected=spec.modifiers.connected,
            perthread=spec.modifiers.perthread,
        )

    def domain(self, events: Iterable[str]) -> frozenset[str]:
        return frozenset(name for event in events for name in self.events[event])

    def enabled_domains(self, event: str) -> list[frozenset[str]]:
        """The parameter enable set of `event` for all goals together, from large to small."""
        families = [by_event.get(event) for machine in self.machines for by_event in machine.enable.values()]
        if None in families:  # unrestricted
            return [frozenset(part) for part in parts(self.parameters)]
        domains = {self.domain(seen) for family in families if family is not None for seen in family}
        return sorted(domains, key=lambda domain: (-len(domain), sorted(domain)))


def join(one: Instance, other: Instance) -> Instance | None:
    """The least upper bound, or None if the two are not compatible."""
    merged = dict(one)
    for name, value in other:
        if merged.setdefault(name, value) != value:
            return None
    return frozenset(merged.items())


def below(top: Instance, *, strict: bool) -> Iterator[Instance]:
    """All less informative instances, from large to small."""
    return (
        frozenset(part) for part in parts(sorted(top, key=lambda pair: pair[0])) if len(part) < len(top) or not strict
    )


def parts(items: Sequence[Item]) -> Iterator[tuple[Item, ...]]:
    """All subsequences, from large to small."""
    return (part for size in range(len(items), -1, -1) for part in combinations(items, size))


def slice_of(trace: Iterable[Occurrence], theta: Instance) -> list[str]:
    """The slice of a trace for an instance: the events whose binding is part of it."""
    return [event for event, binding, _ in trace if instance(binding) <= theta]


class Slicer(ABC):
    """One run of a parametric monitor: the instances, their states, and which of them may report."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.initial = tuple(machine.initial for machine in subject.machines)
        self.states: dict[Instance, tuple[int, ...]] = {}  # Δ
        self._useful: set[Instance] = set()
        self._ended: set[tuple[str, Key]] = set()
        self._classes: list[set[Key]] = []

    @abstractmethod
    def extend(self, event: str, theta: Instance) -> Collection[Instance]:
        """Create the instances that this event calls for; gives those that it steps."""

    def feed(self, index: int, event: str, theta: Instance) -> list[Report]:
        """Handle one event; gives its reports."""
        self._connect(theta)
        before = set(self.states)
        touched = self.extend(event, theta)
        reached = []
        for each in touched:
            categories = self._step(each, event)
            reports = any(categories) and self._connected(each)
            if each not in before and (reports or self._can_report(each)):
                self._useful.add(each)
            if reports and self._bound_enough(each):
                reached.append((each, categories))
        found = []
        for each, categories in reached:
            if not self._surpassed(each):
                found += [Report(index, p, c, each) for p, names in enumerate(categories) for c in sorted(names)]
                if self._resets(categories):
                    pairs = zip(self.subject.machines, self.states[each], strict=True)
                    self.states[each] = tuple(after_report(machine, state) for machine, state in pairs)
        return found

    def release(self, theta: Instance) -> None:
        """These values never occur again. Only `maximal-binding` cares: what cannot report hides nobody."""
        self._ended |= theta

    def _step(self, theta: Instance, event: str) -> list[frozenset[str]]:
        """Move every machine of the instance; gives the categories that each newly reports."""
        after, reported = [], []
        for machine, state in zip(self.subject.machines, self.states[theta], strict=True):
            target = machine.table[state][machine.alphabet.index(event)]
            said = frozenset() if getattr(machine, "every", False) else machine.final[target] & machine.final[state]
            reported.append((machine.categories[target] & machine.goal) - said)
            after.append(target)
        self.states[theta] = tuple(after)
        return reported

    def _resets(self, categories: Sequence[frozenset[str]]) -> bool:
        return any(mine & resetting for mine, resetting in zip(categories, self.subject.resets, strict=True))

    def _can_report(self, theta: Instance) -> bool:
        gone = {name for name, _ in theta & self._ended}
        pairs = zip(self.subject.machines, self.states[theta], strict=True)
        return any(
            not gone & self.subject.domain(events) for machine, state in pairs for events in machine.alive[state]
        )

    def _connect(self, theta: Instance) -> None:
        values = {value for _, value in theta}
        joined = [group for group in self._classes if group & values]
        self._classes = [group for group in self._classes if not group & values] + [values.union(*joined)]

    def _connected(self, theta: Instance) -> bool:
        values = {value for _, value in theta}
        return not self.subject.connected or len(values) < 2 or any(values <= group for group in self._classes)

    def _bound_enough(self, theta: Instance) -> bool:
        return self.subject.binding is not BindingMode.FULL or len(theta) == len(self.subject.parameters)

    def _surpassed(self, theta: Instance) -> bool:
        """Has there been a more informative instance that was, when it was created, good for a report?"""
        return self.subject.binding is BindingMode.MAXIMAL and any(theta < other for other in self._useful)


def after_report(machine: TableMachine, state: int) -> int:
    """Where a handler's reset takes a machine."""
    return machine.after_report[state] if machine.after_report else machine.initial


class AlgorithmB(Slicer):
    """The definition itself: every slice of the trace has a state, whatever its first event."""

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self.states[BOTTOM] = self.initial

    def extend(self, event: str, theta: Instance) -> Collection[Instance]:
        old = dict(self.states)
        joins = {joined for other in old if (joined := join(theta, other)) is not None}
        for joined in joins:
            self.states[joined] = old[max((other for other in old if other <= joined), key=len)]
        return joins


class AlgorithmC(Slicer):
    """Online, with creation events; `U[θ]` is found by looking at every instance."""

    def extend(self, event: str, theta: Instance) -> Collection[Instance]:
        if theta not in self.states:
            largest = next((part for part in below(theta, strict=True) if part in self.states), None)
            if largest is not None:
                self.states[theta] = self.states[largest]
            elif event in self.subject.creation:
                self.states[theta] = self.initial
            for part in below(theta, strict=True):
                for other in self.above(part):
                    joined = join(other, theta)
                    if joined is not None and joined not in self.states:
                        self.states[joined] = self.states[other]
        return [other for other in self.states if theta <= other]

    def above(self, theta: Instance) -> list[Instance]:
        return [other for other in self.states if theta < other]


class AlgorithmD(Slicer):
    """C without the instances that can reach no goal: enable sets say which, time stamps which were skipped."""

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self.enabled = {event: subject.enabled_domains(event) for event in subject.events}
        self.disabled: dict[Instance, int] = {}  # last time that an event met no monitor for exactly this
        self.born: dict[Instance, int] = {}  # T: when the oldest ancestor was created
        self.stamp = 1

    def extend(self, event: str, theta: Instance) -> Collection[Instance]:
        if theta not in self.states:
            self._derive(event, theta)
            if theta not in self.states and event in self.subject.creation:
                self._define_new(theta)
            self.disabled[theta] = self._tick()
        return [other for other in self.states if theta <= other]

    def _tick(self) -> int:
        self.stamp += 1
        return self.stamp - 1

    def _derive(self, event: str, theta: Instance) -> None:
        domain = frozenset(name for name, _ in theta)
        for enabled in self.enabled[event]:
            if domain <= enabled:
                continue
            shared = frozenset(pair for pair in theta if pair[0] in enabled)
            for source in list(self.states):
                if shared <= source and frozenset(name for name, _ in source) == enabled:
                    target = source | theta
                    if target not in self.states:
                        self._define_to(target, source)

    def _define_new(self, theta: Instance) -> None:
        if any(part in self.states for part in below(theta, strict=True)):
            return
        self.states[theta] = self.initial
        self.born[theta] = self._tick()

    def _define_to(self, theta: Instance, source: Instance) -> None:
        since = self.born[source]
        for part in below(theta, strict=False):
            skipped = self.disabled.get(part, 0) > since or self.born.get(part, since) < since
            if skipped and not part <= source:
                return
        self.states[theta] = self.states[source]
        self.born[theta] = since


def run(algorithm: type[Slicer], subject: Subject, trace: Iterable[Occurrence]) -> list[Report]:
    """All reports of a trace, sorted.

    `#release` ends values. Other events that the subject does not declare are passed over.
    """
    slicers: dict[Any, Slicer] = {}
    reports: list[Report] = []
    for index, (event, binding, thread) in enumerate(trace):
        mine = thread if subject.perthread else None
        if mine not in slicers:
            slicers[mine] = algorithm(subject)
        if event == RELEASE:
            slicers[mine].release(instance(binding))
        elif event in subject.events:
            reports += slicers[mine].feed(index, event, instance(binding))
    return sorted(reports, key=order)


def order(report: Report) -> tuple[int, int, str, list[tuple[str, str]]]:
    """A total order on reports; values of different types have none of their own."""
    return (*report[:3], sorted((name, repr(value)) for name, value in report.instance))
