"""A world of tracers in which somebody decides what happens next: every order of messages can be tried.

Components are scripts of what they do. What they do is known to the service at once; everything else is a message on
the way, in order between any two, and in no order otherwise.
"""

from __future__ import annotations

import copy
import random
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from mopsus.events.component.occurrence import Function, Kind, Occurrence
from mopsus.events.component.outline.choreography import (
    Analyse,
    Analyser,
    Ended,
    External,
    Message,
    Mode,
    Name,
    Selection,
    Service,
    Taken,
    Traced,
    Tracer,
)
from mopsus.model.term import Atom, Pid

ROOT = "root"


def pid(number: int) -> Pid:
    return Pid(f"<0.{number}.0>")


@dataclass
class Program:
    """A tree of components: by number, whether a property is about it, and what it does between init and exit: the
    number of a child to fork, or None for a message. The first is there from the beginning."""

    targeted: dict[int, bool]
    scripts: dict[int, list[int | None]]

    def function(self, number: int) -> Function:
        return Function("m", "worker" if self.targeted[number] else "helper", (number,))

    def events(self, number: int, parent: int | None) -> list[Occurrence]:
        me = pid(number)
        result = [] if parent is None else [Occurrence(Kind.INIT, me, pid(parent), self.function(number))]
        for at, child in enumerate(self.scripts[number]):
            if child is None:
                result.append(Occurrence(Kind.RECV, me, None, at))
            else:
                result.append(Occurrence(Kind.FORK, me, pid(child), self.function(child)))
        # Whether the first component ends makes no difference, only more orders.
        return result if parent is None else [*result, Occurrence(Kind.EXIT, me, None, Atom("normal"))]

    def parents(self) -> dict[int, int | None]:
        found: dict[int, int | None] = dict.fromkeys(self.scripts)
        for number, script in self.scripts.items():
            found |= {child: number for child in script if child is not None}
        return found

    def leader(self, number: int) -> int | None:
        """The nearest targeted one above, itself included."""
        parents = self.parents()
        at: int | None = number
        while at is not None and not self.targeted[at]:
            at = parents[at]
        return at


@dataclass
class Seen(Analyser):
    """An analyser that remembers."""

    leader: Pid
    events: list[Occurrence] = field(default_factory=list)
    stopped: bool = False

    def analyse(self, event: Occurrence) -> None:
        assert not self.stopped
        self.events.append(event)

    def stop(self) -> None:
        assert not self.stopped
        self.stopped = True


class Simulation:
    """One run. `choose` picks among the things that can happen next, by number."""

    def __init__(
        self,
        program: Program,
        choose: Callable[[int], int],
        *,
        groups: bool = True,
        external: bool = False,
        counted: bool = True,
    ) -> None:
        self._program, self._choose, self._external, self._counted = program, choose, external, counted
        self._channels: dict[tuple[Name, Name], deque[Message | tuple[Pid, Name]]] = defaultdict(deque)
        self._selection = Selection(lambda function: function.name == "worker", groups)
        self._sender: Name = "service"
        self.tracers: dict[Name, Tracer] = {}
        self.seen: dict[Pid, Seen] = {}
        self._analysers: dict[Name, Seen] = {}
        self.notices: list[Ended] = []
        self.dropped = 0
        self.early = 0
        self.service = Service(self, ROOT)
        self.tracers[ROOT] = Tracer(ROOT, self, self._selection)
        parents = program.parents()
        self._todo = {number: deque(program.events(number, parents[number])) for number in program.scripts}
        self._begun = {number for number, parent in parents.items() if parent is None}
        for number in self._begun:
            self.service.adopt(pid(number))

    # ---- the world of tracers ----

    def send(self, to: Name, message: Message) -> None:
        self._channels[self._sender, to].append(message)

    def take(self, component: Pid, by: Name) -> None:
        self._channels[self._sender, "service"].append((component, by))

    def create(self, component: Pid, fork: Occurrence, router: Name) -> Name:
        name = f"tracer of {component}"
        assert name not in self.tracers
        self.seen[component] = seen = Seen(component)
        analyser: Analyser = seen
        if self._external:
            self._analysers[f"analyser of {component}"] = seen
            analyser = External(f"analyser of {component}", self)
        self.tracers[name] = tracer = Tracer(name, self, self._selection, analyser, component)
        before, self._sender = self._sender, name
        tracer.take_over(component, router)
        self._sender = before
        return name

    def ended(self, notice: Ended) -> None:
        self.notices.append(notice)

    # ---- what happens ----

    def possible(self) -> list[object]:
        """What can happen next: a component does something, or a message arrives."""
        acting: list[object] = [number for number in sorted(self._begun) if self._todo[number]]
        return acting + sorted((key for key, queue in self._channels.items() if queue), key=str)

    def do(self, chosen: object) -> None:
        """Let something happen."""
        if isinstance(chosen, int):
            self._act(chosen)
        else:
            self._deliver(*chosen)  # type: ignore[misc]

    def run(self) -> None:
        """Let things happen until nothing can."""
        while possible := self.possible():
            self.do(possible[self._choose(len(possible))])

    def state(self) -> str:
        """Everything that what happens next depends on, and everything that is judged."""
        tracers = [
            (name, t.mode, t.over, t.traced, t._routes, t._waiting, t._asked, t.events)
            for name, t in sorted(self.tracers.items(), key=str)
        ]
        channels = sorted((key, queue) for key, queue in self._channels.items() if queue)
        seen = [(leader, each.events, each.stopped) for leader, each in sorted(self.seen.items())]
        left = {number: len(queue) for number, queue in self._todo.items()}
        return repr((left, channels, tracers, seen, self.service._tracers, self.service._counts, self.early))

    def _act(self, number: int) -> None:
        event = self._todo[number].popleft()
        self._sender = "service"
        self.service.post(event)
        if event.kind is Kind.FORK:
            self._begun |= {child for child in self._program.scripts if pid(child) == event.other}

    def _deliver(self, sender: Name, receiver: Name) -> None:
        message = self._channels[sender, receiver].popleft()
        self._sender = receiver
        if receiver == "service":
            component, by = message  # type: ignore[misc]
            count = self.service.take(component, by)
            self.send(by, Taken(component, count if self._counted else 0))
        elif isinstance(message, Analyse):
            seen = self._analysers[receiver]
            if message.event is None:
                seen.stop()
            else:
                seen.analyse(message.event)
        else:
            tracer = self.tracers[receiver]
            self.dropped += tracer.over
            analysed = tracer.events.total()
            priority = tracer.mode is Mode.PRIORITY
            tracer.receive(message)  # type: ignore[arg-type]
            if priority and isinstance(message, Traced) and tracer.events.total() != analysed:
                self.early += 1


def expected(program: Program, groups: bool) -> dict[Pid, dict[Pid, list[Occurrence]]]:
    """What each analyser shall see of each component, by leader and component."""
    parents = program.parents()
    result: dict[Pid, dict[Pid, list[Occurrence]]] = {}
    for number in program.scripts:
        leader = program.leader(number)
        # A component that no fork has made is the root's, whatever it runs.
        if leader is None or parents[leader] is None or not (groups or leader == number):
            continue
        result.setdefault(pid(leader), {})[pid(number)] = program.events(number, parents[number])
    return result


def flaws(simulation: Simulation, program: Program, groups: bool) -> list[str]:
    """What is wrong with a run that is over."""
    found = []
    wanted = expected(program, groups)
    for leader in wanted.keys() | simulation.seen.keys():
        by_component: dict[Pid, list[Occurrence]] = {}
        begun: set[Pid | None] = {leader}
        for event in simulation.seen[leader].events if leader in simulation.seen else []:
            by_component.setdefault(event.subject, []).append(event)
            if event.kind is Kind.FORK:
                begun.add(event.other)
            if event.subject not in begun:
                found.append(f"{event.subject} did something before its fork")
        if by_component != wanted.get(leader, {}):
            found.append(f"the analyser of {leader} saw something else")
    for name, tracer in simulation.tracers.items():
        if not tracer.idle or (name != ROOT and not tracer.over):
            found.append(f"{name} was not collected")
        elif name != ROOT and not simulation.seen[tracer.leader].stopped:  # type: ignore[index]
            found.append(f"the analyser of {tracer.leader} was not stopped")
    handled = sum((tracer.events for tracer in simulation.tracers.values()), Counter[Kind]())
    parents = program.parents()
    all_events = [event for number in program.scripts for event in program.events(number, parents[number])]
    if handled != Counter(event.kind for event in all_events):
        found.append("not every event was handled once")
    if simulation.early:
        found.append("a tracer analysed what it had collected before what was routed")
    if len(simulation.notices) != len(simulation.tracers) - 1:
        found.append("not every end was told")
    return found


def every_order(program: Program, **options: bool) -> Iterator[Simulation]:
    """The ends of all runs of a program. Runs that have come to the same state go on together."""
    waiting = [Simulation(program, lambda count: 0, **options)]
    known = {waiting[0].state()}
    while waiting:
        simulation = waiting.pop()
        possible = simulation.possible()
        if not possible:
            yield simulation
        for chosen in possible:
            following = copy.deepcopy(simulation)
            following.do(chosen)
            if (state := following.state()) not in known:
                known.add(state)
                waiting.append(following)


def random_program(numbers: random.Random, components: int) -> Program:
    """A tree of that many components; the first is the root's."""
    scripts: dict[int, list[int | None]] = {1: []}
    for number in range(2, components + 1):
        scripts[numbers.randint(1, number - 1)].append(number)
        scripts[number] = []
    for script in scripts.values():
        for _ in range(numbers.randint(0, 4)):
            script.insert(numbers.randint(0, len(script)), None)
    return Program({number: number > 1 and numbers.random() < 0.6 for number in scripts}, scripts)


def biased(numbers: random.Random) -> Callable[[int], int]:
    """A way to choose: evenly, what is first or last (components, or tracers, ahead of others), or in bursts."""
    kind = numbers.randrange(4)
    last = 0

    def choose(count: int) -> int:
        nonlocal last
        if kind == 0:
            return numbers.randrange(count)
        if kind == 1:
            return min(numbers.randrange(count), numbers.randrange(count))
        if kind == 2:
            return max(numbers.randrange(count), numbers.randrange(count))
        if numbers.random() < 0.2:
            last = numbers.randrange(count)
        return min(last, count - 1)

    return choose


def program_of(*components: tuple[bool, list[int | None]]) -> Program:
    """A program by hand: of each component whether it is targeted, and its script; the first is number 1."""
    return Program(
        {number: targeted for number, (targeted, _) in enumerate(components, 1)},
        {number: list(script) for number, (_, script) in enumerate(components, 1)},
    )
