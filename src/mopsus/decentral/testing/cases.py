"""Random runs that an algorithm is tried on: small, but with everything that can be in one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from random import Random

from mopsus.decentral.algorithms.algorithm import Option, Part, Task
from mopsus.decentral.generate.formulas import PRIORITIES, random_formula
from mopsus.decentral.simulate.network import Crash, Network, Partition
from mopsus.decentral.specification import ROOT, Specification, monitor_of
from mopsus.decentral.synthesis import REFERENCE
from mopsus.decentral.system import System
from mopsus.decentral.testing.semantics import run_centralized, run_decentralized
from mopsus.decentral.traces import Event, Trace, default_components, format_event
from mopsus.logics.temporal.syntax import Formula, Op, events_of, print_formula

OPERATORS: Mapping[Op, float] = {
    **PRIORITIES,
    **dict.fromkeys((Op.IMPLIES, Op.RELEASE, Op.WEAK_UNTIL, Op.XOR, Op.IFF), 0.5),
    **dict.fromkeys((Op.TRUE, Op.FALSE), 0.2),
}

RUNS_OF_ONE = 4
"""Traces and networks for each specification, as making its automata takes longer than running them."""


@dataclass(frozen=True)
class Case:
    """A run: what is monitored, what is observed, and what goes wrong."""

    formulas: Mapping[str, Formula]
    """By monitor, the root first. If there are several, the first is on the first component, and so on."""
    system: System
    traces: Mapping[str, Trace]
    network: Network
    """Without crashes, as the names of monitors are up to the algorithm."""
    crashes: tuple[tuple[int, int, int], ...]
    """From a round to before another, the monitor of a number crashes, counted around."""
    seed: int

    @cached_property
    def specification(self) -> Specification:
        """The monitors."""
        return Specification(
            {name: monitor_of(name, formula, place=self.places.get(name)) for name, formula in self.formulas.items()},
            ROOT,
        )

    @property
    def places(self) -> Mapping[str, str]:
        """Where monitors are that refer to each other."""
        return {} if len(self.formulas) == 1 else dict(zip(self.formulas, self.system.components, strict=False))

    @property
    def shortest(self) -> int:
        """The least length of traces: what references mean begins at the first timestamp."""
        return 0 if len(self.formulas) == 1 else 1

    @property
    def length(self) -> int:
        """Timestamps of the traces."""
        return max(map(len, self.traces.values()), default=0)

    @cached_property
    def expected(self) -> bool | None:
        """The verdict of whoever sees everything at once."""
        trace = [{name: events[time] for name, events in self.traces.items()} for time in range(self.length)]
        if len(self.formulas) == 1:
            return run_centralized(self.specification.monitors[ROOT].automaton, trace)[0]
        return run_decentralized(self.specification, trace, self.places)[ROOT, 1]

    @property
    def reliable(self) -> bool:
        """Does everything that is observed and sent arrive in the end?"""
        unharmed = not self.network.loss and not self.network.partitions
        return not self.crashes and (self.network.resend > 0 or unharmed)

    def task(self, options: Mapping[str, Option]) -> Task:
        """What the algorithm is asked to set up."""
        return Task(self.specification, self.system, options)

    def faults(self, parts: tuple[Part, ...]) -> Network:
        """The network, with crashes of monitors that were set up."""
        return replace(
            self.network,
            crashes=tuple(Crash(start, end, parts[number % len(parts)].name) for start, end, number in self.crashes),
        )

    def limit(self, parts: tuple[Part, ...]) -> int:
        """A last round that comes late enough for everything that will ever arrive."""
        slowest = max(self.network.delay[1], self.network.resend)
        healed = max((partition.end for partition in self.network.partitions), default=0)
        return max(self.length, healed) + 5 + 12 * (len(parts) + 2) * slowest

    def describe(self) -> str:
        """The whole of it in a few lines."""
        lines = [
            f"{name}{f' on {self.places[name]}' if self.places else ''}: {print_formula(formula)}"
            for name, formula in self.formulas.items()
        ]
        lines += [f"{name} observes {' > '.join(map(format_event, trace))}" for name, trace in self.traces.items()]
        faults = [
            f"{each.name} {getattr(self.network, each.name)}"
            for each in fields(Network)
            if getattr(self.network, each.name) != each.default
        ]
        faults += [f"monitor {number} is down from {start} to before {end}" for start, end, number in self.crashes]
        return "\n".join([*lines, f"network: {', '.join(faults) or 'as it should be'}; seed {self.seed}"])

    def simpler(self) -> Iterator[Case]:
        """The same with a little less to it, the simplest first."""
        calm = Network()
        if self.network != calm or self.crashes:
            yield replace(self, network=calm, crashes=())
        if self.crashes:
            yield replace(self, crashes=())
        for name in ("delay", "reorder", "duplicate", "loss", "partitions"):
            if getattr(self.network, name) != getattr(calm, name):
                yield replace(self, network=replace(self.network, **{name: getattr(calm, name)}))
        for first, last in ((0, self.length // 2), (0, self.length - 1), (1, self.length)):
            if self.shortest <= last - first < self.length:
                yield replace(self, traces={name: trace[first:last] for name, trace in self.traces.items()})
        for name, formula in self.formulas.items():
            for part in formula.parts:
                yield replace(self, formulas={**self.formulas, name: part})
        if len(self.formulas) == 1 and not self.network.partitions:
            for name in self.system.components:
                yield from self._without(name)

    def _without(self, component: str) -> Iterator[Case]:
        """The same without a component that the formula says nothing about, and that never moves alone."""
        left = {name: own for name, own in self.system.components.items() if name != component}
        traces = {name: self.traces[name] for name in left}
        alone = any(
            own and not any(others) for own, *others in zip(self.traces[component], *traces.values(), strict=True)
        )
        if left and not alone and events_of(self.formulas[ROOT]).isdisjoint(self.system.components[component]):
            yield replace(self, system=System(left), traces=traces)


def draw_cases(
    count: int,
    *,
    seed: int,
    references: bool = False,
    circles: bool = False,
    pauses: bool = False,
    faults: bool = True,
) -> Iterator[Case]:
    """As many cases; equal arguments give equal ones.

    With `references`, monitors refer to each other, and each reads the propositions of its own component only; else
    there is one formula about all. With `circles`, they may do so in a circle. Each component leaves out propositions
    at timestamps of its own, and observes nothing at all at others, but for monitors that refer to each other, as those
    do not move then. With `pauses`, there are timestamps at which something does not move: nobody observes anything, or
    the component of a monitor does not. Without `faults`, messages take a round each.
    """
    source = Random(seed)
    for number in range(count):
        if number % RUNS_OF_ONE == 0:
            case = _monitors(source, references, circles)
        network, crashes = _network(source, case.system) if faults and number % RUNS_OF_ONE else (Network(), ())
        traces = _traces(source, case, pauses)
        yield replace(case, traces=traces, network=network, crashes=crashes, seed=source.getrandbits(32))


def _monitors(source: Random, references: bool, circles: bool) -> Case:
    components = default_components(source.randint(2 if references else 1, 4), source.randint(1, 2))
    formulas: dict[str, Formula] = {}
    if references:
        names = [ROOT, *(f"m{number}" for number in range(1, len(components)))]
        for number, (name, own) in enumerate(zip(names, components.values(), strict=True)):
            others = [REFERENCE + other for other in names[0 if circles else number + 1 :] if other != name]
            formulas[name] = random_formula(source, [*own, *others], source.randint(1, 8), OPERATORS)
    else:
        propositions = [name for names in components.values() for name in names]
        formulas[ROOT] = random_formula(source, propositions, source.randint(1, 12), OPERATORS)
    return Case(formulas, System(components), {}, Network(), (), 0)


def _traces(source: Random, case: Case, pauses: bool) -> dict[str, Trace]:
    components = case.system.components
    likely = source.choice((0.1, 0.5, 0.9))
    # Each component has its own way of being silent, and of leaving out propositions.
    silent = {component: source.choice((0.0, 0.0, 0.2, 0.6)) for component in components}
    left_out = {component: source.choice((0.0, 0.0, 0.0, 0.3)) for component in components}
    traces: dict[str, list[Event]] = {component: [] for component in components}
    for _ in range(source.randint(case.shortest, 10)):
        silence = pauses or len(case.formulas) == 1
        quiet = {component for component in components if silence and source.random() < silent[component]}
        if pauses and source.random() < 0.3:
            quiet = set(components)
        elif not pauses and len(quiet) == len(components):
            quiet.remove(source.choice(sorted(quiet)))
        for component, names in components.items():
            event = {name: source.random() < likely for name in names}
            kept = {name: value for name, value in event.items() if source.random() >= left_out[component]} or event
            traces[component].append({} if component in quiet else kept)
    return {component: tuple(events) for component, events in traces.items()}


def _network(source: Random, system: System) -> tuple[Network, tuple[tuple[int, int, int], ...]]:
    def sometimes() -> bool:
        return source.random() < 0.3

    components = list(system.components)
    least = source.randint(1, 3)
    start = source.randint(1, 8)
    group = tuple(source.sample(components, source.randint(1, len(components))))
    partition = Partition(start, start + source.randint(1, 8), (group,))
    crash = (start, start + source.randint(1, 5), source.randrange(8))
    network = Network(
        delay=(least, least + source.randint(0, 3)),
        reorder=sometimes(),
        duplicate=0.3 * sometimes(),
        loss=0.3 * sometimes(),
        resend=source.randint(1, 3) * (not sometimes()),
        partitions=(partition,) * sometimes(),
    )
    return network, (crash,) * sometimes()
