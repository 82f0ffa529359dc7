"""Stage 4: tracers in several processes, each of which is joined to every other by a socket.

The first process, number 0, reads what the program tells and is the tracing service; the root tracer is there, too. New
tracers are made in all processes in turn. Messages between tracers go over the sockets as encoded values.
"""

from __future__ import annotations

import selectors
import socket
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

from mopsus import _core
from mopsus.bus import Channel
from mopsus.events.component.identity import OUTSIDE
from mopsus.events.component.occurrence import Kind, Occurrence
from mopsus.events.component.outline.choreography import (
    Analyse,
    Analyser,
    Detach,
    Ended,
    Message,
    Name,
    Routed,
    Selection,
    Service,
    Taken,
    Traced,
    Tracer,
)
from mopsus.events.component.outline.watch import GAP_ROW, JOINED_ROW
from mopsus.model.term import Pid

MakeAnalyser: TypeAlias = "Callable[[Pid, Occurrence], Analyser]"
"""Makes the analyser of a component from the fork that made it known."""

_ROOT: Name = (0, 0, 0)
_KINDS = tuple(Kind)
_WORK = ("message", "take", "create")
"""The other messages are only about these: whether all of them have arrived."""


class Link:
    """One end of a socket between two processes. What cannot be sent yet is kept."""

    def __init__(self, end: socket.socket) -> None:
        self._channel = Channel(end)
        self.sent = 0
        self.received = 0
        """How many messages that make work for somebody."""

    @property
    def alive(self) -> bool:
        """Whether there is anybody at the other end, as far as is known."""
        return not self._channel.gone

    def fileno(self) -> int:
        return self._channel.fileno()

    def put(self, message: tuple[Any, ...]) -> None:
        """Send a message, if there is anybody to take it."""
        if self.alive:
            self._channel.put(_core.encode(message))
            self.sent += message[0] in _WORK
            self._channel.flush()

    def flush(self) -> bool:
        """Send what was kept; is anything left?"""
        return not self._channel.flush()

    def read(self) -> list[tuple[Any, ...]]:
        """The messages that have come."""
        messages = [_core.decode(body) for body in self._channel.arrived()]
        self.received += sum(message[0] in _WORK for message in messages)
        return messages


class Node:
    """The tracers of one process. `links` are those to the other processes, by number; this one has none."""

    def __init__(
        self, number: int, links: Sequence[Link | None], selection: Selection, make_analyser: MakeAnalyser
    ) -> None:
        self._number, self._links = number, links
        self._selection, self._make_analyser = selection, make_analyser
        self._made = 0
        self._local: deque[tuple[Name, Message]] = deque()
        self._tracers: dict[Name, Tracer] = {}
        self._answers: dict[int, tuple[int, list[int], list[int]]] = {}
        self.seen: Counter[Kind] = Counter()
        """What the tracers that are done have seen."""
        self.collected = 0
        """How many tracers are done."""
        self.stopped = False
        self.service: Service | None = None
        if number == 0:
            self.service = Service(self, _ROOT)
            self._tracers[_ROOT] = Tracer(_ROOT, self, selection)

    # ---- the world of tracers ----

    def send(self, to: Name, message: Message) -> None:
        home = _home(to)
        if home == self._number:
            self._local.append((to, message))
        else:
            self._link(home).put(("message", to, *_pack(message)))

    def take(self, component: Pid, by: Name) -> None:
        if self.service is not None:
            self.send(by, Taken(component, self.service.take(component, by)))
        else:
            self._link(0).put(("take", component, by))

    def create(self, component: Pid, fork: Occurrence, router: Name) -> Name:
        self._made += 1
        home = (self._number + self._made) % len(self._links)
        if home != self._number and not self._link(home).alive:
            home = self._number
        name = (home, self._number, self._made)
        if home == self._number:
            self._create(name, component, fork, router)
        else:
            self._link(home).put(("create", name, component, _flat(fork), router))
        return name

    def ended(self, notice: Ended) -> None:
        self.seen += notice.events
        self.collected += 1
        self._tracers.pop(notice.tracer, None)

    # ---- what comes ----

    def post(self, event: Occurrence) -> None:
        """In the first process: something happened in the program."""
        service = cast(Service, self.service)
        if event.kind is Kind.INIT and event.other == OUTSIDE and service.tracer(event.subject) is None:
            self._introduce(event, None)
        service.post(event)
        self._work()

    def join(self, init: Occurrence) -> None:
        """In the first process: a component was there already."""
        self._introduce(init, JOINED_ROW)
        cast(Service, self.service).post(init)
        self._work()

    def lose(self, component: Pid, count: int) -> None:
        """In the first process: events of a component were lost. That is told where they would have been."""
        self.post(Occurrence(Kind.RECV, component, None, count, row=GAP_ROW))

    def waiting(self) -> Mapping[Pid, list[Occurrence]]:
        """In the first process: what waits for a fork."""
        return cast(Service, self.service).waiting

    @property
    def alone(self) -> bool:
        """Has the first process gone?"""
        return self._number != 0 and not self._link(0).alive

    def poll(self, seconds: float) -> None:
        """Take what has come from other processes, at most so late."""
        with selectors.DefaultSelector() as selector:
            for link in self._links:
                if link is not None and link.alive:
                    waits = selectors.EVENT_WRITE if link.flush() else 0
                    selector.register(link, selectors.EVENT_READ | waits)
            if not selector.get_map():
                return
            for key, _ in selector.select(seconds):
                for message in cast(Link, key.fileobj).read():
                    self._receive(*message)
        self._work()

    def finish(self) -> None:
        """In the first process: let everything come to rest, everywhere, and let the others stop."""
        cast(Service, self.service).finish()
        self._work()
        others = [number for number, link in enumerate(self._links) if link is not None]
        before: object = None
        for probe in range(1, 1 << 30):
            alive = [number for number in others if self._link(number).alive]
            for number in alive:
                self._link(number).put(("probe", probe))
            while any(self._answers.get(n, (0,))[0] != probe for n in alive if self._link(n).alive):
                self.poll(0.2)
            counts = self._between([number for number in alive if self._link(number).alive])
            # What was sent has been received, and nothing has moved since the last time it looked so.
            if all(sent == received for sent, received in counts.values()) and counts == before:
                break
            before = counts
        for number in others:
            self._link(number).put(("stop",))
        while any(self._link(number).flush() for number in others):
            self.poll(0.2)

    def _between(self, others: Sequence[int]) -> dict[tuple[int, int], tuple[int, int]]:
        """Of messages from each process to each other, how many were sent and how many received."""
        tables = {number: self._answers[number][1:] for number in others}
        tables[0] = self._table()
        return {(a, b): (tables[a][0][b], tables[b][1][a]) for a in tables for b in tables if a != b}

    def _table(self) -> tuple[list[int], list[int]]:
        return (
            [0 if link is None else link.sent for link in self._links],
            [0 if link is None else link.received for link in self._links],
        )

    # ---- inside ----

    def _link(self, number: int) -> Link:
        return cast(Link, self._links[number])

    def _introduce(self, init: Occurrence, row: int | None) -> None:
        """A component that nobody in sight has forked is the root's to instrument."""
        service = cast(Service, self.service)
        service.adopt(OUTSIDE)
        service.post(init._replace(kind=Kind.FORK, subject=OUTSIDE, other=init.subject, row=row))

    def _create(self, name: Name, component: Pid, fork: Occurrence, router: Name) -> None:
        self._tracers[name] = tracer = Tracer(
            name, self, self._selection, self._make_analyser(component, fork), component
        )
        tracer.take_over(component, router)

    def _receive(self, what: str, *rest: Any) -> None:  # noqa: ANN401 - by what it is
        if what == "message":
            to, *packed = rest
            self._local.append((to, _unpack(packed)))
        elif what == "take":
            self.take(rest[0], rest[1])
        elif what == "create":
            name, component, fork, router = rest
            self._create(name, component, _unflat(fork), router)
        elif what == "probe":
            self._work()
            self._link(0).put(("answer", self._number, rest[0], *self._table()))
        elif what == "answer":
            number, probe, sent, received = rest
            self._answers[number] = probe, sent, received
        else:
            self.stopped = True

    def _work(self) -> None:
        while self._local:
            to, message = self._local.popleft()
            tracer = self._tracers.get(to)
            if tracer is not None:  # else it was collected
                tracer.receive(message)


def join_nodes(count: int) -> list[list[socket.socket | None]]:
    """Sockets between so many processes: by process, its end to each other one."""
    ends: list[list[socket.socket | None]] = [[None] * count for _ in range(count)]
    for one in range(count):
        for other in range(one):
            ends[one][other], ends[other][one] = socket.socketpair()
    return ends


def _home(name: Name) -> int:
    return cast("tuple[int, int, int]", name)[0]


# ---- messages as plain tuples


def _flat(event: Occurrence) -> tuple[Any, ...]:
    return (_KINDS.index(event.kind), *event[1:])


def _unflat(data: tuple[Any, ...]) -> Occurrence:
    return Occurrence(_KINDS[data[0]], *data[1:])


def _pack(message: Message) -> tuple[Any, ...]:
    match message:
        case Traced(event):
            return ("traced", _flat(event))
        case Taken(component, count):
            return ("taken", component, count)
        case Detach(tracer, component, count):
            return ("detach", tracer, component, count)
        case Routed(router, content):
            return ("routed", router, _pack(content))
        case Analyse():
            raise TypeError("analysers are where their tracers are")


def _unpack(data: Sequence[Any]) -> Message:
    match data:
        case ("traced", event):
            return Traced(_unflat(event))
        case ("taken", component, count):
            return Taken(component, count)
        case ("detach", tracer, component, count):
            return Detach(tracer, component, count)
        case ("routed", router, content):
            return Routed(router, cast("Traced | Detach", _unpack(content)))
    raise ValueError(data)
