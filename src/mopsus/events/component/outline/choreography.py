"""Stage 4: tracers that share the work of following components, without anybody in charge.

A *tracer* collects what some components do and gives it to their analyser. The tracing service tells each tracer what
its components do; a component that is forked is told of to the tracer of its parent. If it is one that a property is
about, that tracer makes a new tracer for it, which takes it over. What the component did meanwhile is still told to the
old one, which passes it on along *routes*, from tracer to tracer, to the new one; and that listens to nothing else
(*priority*) until the mark has come that nothing more will come that way. Then it goes on with what it collected itself
(*direct*).

The mark is a command to the tracer that still collects for the component, the *router*: stop passing on, when you have
passed on as much as the component had done when it was taken over. The service says how much that was. So no event is
lost, overtakes another of its component, or is analysed twice, whatever the order in which messages of different
senders arrive. It is only needed that those of one sender arrive in order.

Nothing here sends or runs anything: a *world* does. In tests it tries all orders; see `mesh.py` for real processes.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Protocol, TypeAlias, cast

from mopsus.events.component.occurrence import Function, Kind, Occurrence
from mopsus.model.term import Pid

Name: TypeAlias = Hashable
"""Of a tracer, or of an analyser that is no part of one."""


# ---- messages


@dataclass(frozen=True, slots=True)
class Traced:
    """From the service: something happened."""

    event: Occurrence


@dataclass(frozen=True, slots=True)
class Taken:
    """From the service: a component is yours. It had done `count` things; None: it is over."""

    component: Pid
    count: int | None


@dataclass(frozen=True, slots=True)
class Detach:
    """To a router: this tracer has taken over a component; see `Taken` for the count."""

    tracer: Name
    component: Pid
    count: int | None


@dataclass(frozen=True, slots=True)
class Routed:
    """From tracer to tracer, along a route that begins at the router."""

    router: Name
    content: Traced | Detach


@dataclass(frozen=True, slots=True)
class Analyse:
    """To an analyser that is no part of its tracer: something happened, or (None) nothing more will."""

    event: Occurrence | None


Message: TypeAlias = "Traced | Taken | Detach | Routed | Analyse"


# ---- what is around


@dataclass(frozen=True, slots=True)
class Ended:
    """To who supervises: a tracer is done, and what it has seen of its components."""

    tracer: Name
    leader: Pid | None
    events: Counter[Kind]


class Analyser(Protocol):
    """What a tracer gives the events of its component to."""

    def analyse(self, event: Occurrence) -> None:
        """Something happened."""

    def stop(self) -> None:
        """Nothing more will happen."""


class World(Protocol):
    """What tracers live in."""

    def send(self, to: Name, message: Message) -> None:
        """Send a message; those from one sender to one receiver arrive in order. One to a tracer that is gone is
        dropped."""

    def take(self, component: Pid, by: Name) -> None:
        """Ask the service to tell this tracer of a component from now on. The answer is `Taken`; what the component
        does afterwards comes after it."""

    def create(self, component: Pid, fork: Occurrence, router: Name) -> Name:
        """Make a tracer for a component that a property is about."""

    def ended(self, notice: Ended) -> None:
        """A tracer is done."""


@dataclass(frozen=True, slots=True)
class External:
    """An analyser that is no part of its tracer."""

    name: Name
    world: World

    def analyse(self, event: Occurrence) -> None:
        """Pass an event on to it."""
        self.world.send(self.name, Analyse(event))

    def stop(self) -> None:
        """Let it end."""
        self.world.send(self.name, Analyse(None))


# ---- tracers


class Mode(Enum):
    """What a tracer listens to."""

    DIRECT = auto()
    PRIORITY = auto()


@dataclass(slots=True)
class _Route:
    """Where what a component does is passed on to."""

    hop: Name
    passed: int = 0
    """How much has been, by this tracer as its router."""
    over: bool = False
    held: Detach | None = None
    """The command that waits until everything has been passed on."""

    def is_clear(self, command: Detach) -> bool:
        return self.over if command.count is None else self.passed >= command.count


@dataclass(frozen=True, slots=True)
class Selection:
    """Which components have tracers of their own, and whether others belong to the group of their parents."""

    targets: Callable[[Function], bool]
    """Is a property about components that run this?"""
    groups: bool = False


@dataclass(slots=True, eq=False)
class Tracer:
    """Follows a component and those that join it. The root has no component of its own, and no analyser."""

    name: Name
    world: World
    selection: Selection
    analyser: Analyser | None = None
    leader: Pid | None = None
    traced: dict[Pid, Mode] = field(default_factory=dict)
    events: Counter[Kind] = field(default_factory=Counter)
    mode: Mode = Mode.DIRECT
    over: bool = False
    _routes: dict[Pid, _Route] = field(default_factory=dict)
    _waiting: deque[Traced | Detach] = field(default_factory=deque)
    """What came directly while only routes were listened to."""
    _asked: dict[Pid, Name] = field(default_factory=dict)
    """Components that the service was asked for, and their routers."""

    @property
    def idle(self) -> bool:
        """Does it follow nobody, and pass nothing on?"""
        # A command that is still to be sent frees a route of the router, so it must be.
        return not self.traced and not self._routes and not self._asked

    def take_over(self, component: Pid, router: Name) -> None:
        """Begin, as the tracer of a component that another one has made it for."""
        self.mode = Mode.PRIORITY
        self._ask(component, router)

    def receive(self, message: Message) -> None:
        """Take a message, and do everything that has become possible."""
        if self.over:
            return
        match message:
            case Routed():
                self._receive_routed(message)
            case Taken():
                router = self._asked.pop(message.component)
                self.world.send(router, Detach(self.name, message.component, message.count))
                self._end_if_done()
            case Traced() | Detach():
                self._waiting.append(message)
            case Analyse():
                raise TypeError("a tracer analyses nothing itself")
        while self.mode is Mode.DIRECT and self._waiting and not self.over:
            self._receive_directly(self._waiting.popleft())

    # ---- directly collected ----

    def _receive_directly(self, message: Traced | Detach) -> None:
        if isinstance(message, Detach):
            route = self._routes.get(message.component)
            if route is not None:
                route.held = message
                self._let_go(message.component, route)
            return
        event = message.event
        route = self._routes.get(event.subject)
        if route is None:
            self._handle(event, self.name)
            return
        self._pass_on(Routed(self.name, message), event, route)
        route.passed += 1
        route.over = route.over or event.kind is Kind.EXIT
        self._let_go(event.subject, route)

    def _let_go(self, component: Pid, route: _Route) -> None:
        """As its router: send the mark after the last event, if it is known to be the last."""
        if route.held is not None and route.is_clear(route.held):
            self.world.send(route.hop, Routed(self.name, route.held))
            del self._routes[component]
            self._end_if_done()

    # ---- routed ----

    def _receive_routed(self, message: Routed) -> None:
        content = message.content
        component = content.event.subject if isinstance(content, Traced) else content.component
        route = self._routes.get(component)
        if isinstance(content, Traced):
            if route is not None:
                self._pass_on(message, content.event, route)
            else:
                self._handle(content.event, message.router)
        elif route is not None:
            self.world.send(route.hop, message)
            del self._routes[component]
            self._end_if_done()
        elif self.mode is Mode.PRIORITY:
            if component in self.traced:
                self.traced[component] = Mode.DIRECT
            if all(mode is Mode.DIRECT for mode in self.traced.values()):
                self.mode = Mode.DIRECT

    def _pass_on(self, message: Routed, event: Occurrence, route: _Route) -> None:
        self.world.send(route.hop, message)
        if event.kind is Kind.FORK:
            self._routes[cast(Pid, event.other)] = _Route(route.hop)

    # ---- its own ----

    def _handle(self, event: Occurrence, router: Name) -> None:
        self.events[event.kind] += 1
        if self.analyser is not None and (self.selection.groups or event.subject == self.leader):
            self.analyser.analyse(event)
        if event.kind is Kind.FORK:
            self._instrument(event, router)
        elif event.kind is Kind.EXIT:
            self.traced.pop(event.subject, None)
            self._end_if_done()

    def _instrument(self, fork: Occurrence, router: Name) -> None:
        child = cast(Pid, fork.other)
        if self.selection.targets(cast(Function, fork.data)):
            self._routes[child] = _Route(self.world.create(child, fork, router))
        else:
            self.traced[child] = self.mode
            if self.mode is Mode.PRIORITY:
                self._ask(child, router)

    def _ask(self, component: Pid, router: Name) -> None:
        self.traced[component] = Mode.PRIORITY
        self._asked[component] = router
        self.world.take(component, self.name)

    def _end_if_done(self) -> None:
        if self.idle and self.leader is not None:
            self.over = True
            if self.analyser is not None:
                self.analyser.stop()
            self.world.ended(Ended(self.name, self.leader, self.events))


# ---- the service


class Service:
    """Knows which tracer is to be told of which component, and tells it.

    What a component does before its fork has come waits for it. One that says itself that nobody in sight has forked it
    belongs to the root; so does at the end whoever is left.
    """

    def __init__(self, world: World, root: Name) -> None:
        self._world, self._root = world, root
        self._tracers: dict[Pid, Name] = {}
        self._counts: Counter[Pid] = Counter()
        self._waiting: dict[Pid, list[Occurrence]] = {}

    @property
    def waiting(self) -> dict[Pid, list[Occurrence]]:
        """What waits for a fork."""
        return self._waiting

    def tracer(self, component: Pid) -> Name | None:
        """Who is told of a component now."""
        return self._tracers.get(component)

    def adopt(self, component: Pid) -> None:
        """A component is the root's, because no fork of it will come."""
        self._tracers.setdefault(component, self._root)
        self._release(component)

    def post(self, event: Occurrence) -> None:
        """Something happened."""
        if event.subject in self._tracers:
            self._deliver(event)
        else:
            self._waiting.setdefault(event.subject, []).append(event)

    def take(self, component: Pid, by: Name) -> int | None:
        """Tell this tracer of a component from now on; how much it has done so far, None if it is over."""
        if component not in self._tracers:
            return None
        self._tracers[component] = by
        return self._counts[component]

    def finish(self) -> None:
        """No fork will come any more: whoever waits for one is the root's."""
        while self._waiting:
            forked = {each.other for events in self._waiting.values() for each in events if each.kind is Kind.FORK}
            component = next((each for each in self._waiting if each not in forked), next(iter(self._waiting)))
            self.adopt(component)

    def _deliver(self, event: Occurrence) -> None:
        tracer = self._tracers[event.subject]
        self._counts[event.subject] += 1
        child = event.other
        if event.kind is Kind.FORK and child is not None:
            self._tracers.setdefault(child, tracer)
        elif event.kind is Kind.EXIT:
            del self._tracers[event.subject], self._counts[event.subject]
        self._world.send(tracer, Traced(event))
        if event.kind is Kind.FORK and child is not None:
            self._release(child)

    def _release(self, component: Pid) -> None:
        for event in self._waiting.pop(component, ()):
            self.post(event)
