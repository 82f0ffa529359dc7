"""One run on one host, as a function of the records in its journal.

Nothing here knows the time, a file or a connection: the same records give the same monitors, and the same messages with
the same numbers.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections import Counter, defaultdict
from collections.abc import Iterator

from mopsus import _core
from mopsus.bus.office import Office
from mopsus.decentral.algorithms import load_algorithm
from mopsus.decentral.algorithms.build import Running, build
from mopsus.decentral.deploy.journal import Arrived, Broken, Exhausted, Record, Turn
from mopsus.decentral.deploy.messages import (
    Answers,
    Body,
    Control,
    Deploy,
    Ended,
    Failed,
    Finished,
    Found,
    Over,
    Post,
    Ready,
    Start,
    Status,
    Stop,
    decode_body,
    encode_body,
    subject_of_host,
)
from mopsus.decentral.errors import DecentralError
from mopsus.model import MopsusError

MOST_MISSING = 100
"""How many inputs a host says were missing: after a long run without a verdict there may be very many."""


class Run:
    """What a host knows of a run."""

    def __init__(self, session: str, host: str) -> None:
        self.host = host
        self.office = Office(session, subject_of_host(host))
        self.deployed: Deploy | None = None
        self.started = False
        self.stopped = False
        self.times: dict[str, int] = {}
        """By component, how many events it has observed."""
        self.ended: set[str] = set()
        """The components that observe nothing more."""
        self.all_ended = False
        """Does no component anywhere observe anything more?"""
        self.signals: list[Control] = []
        """Control signals that have come and are still to be passed on."""
        self._monitors: dict[str, Running] = {}
        self._inboxes: defaultdict[str, list[tuple[str, _core.Content]]] = defaultdict(list)
        self._depths: Counter[str] = Counter()
        """By monitor, the greatest depth of what waits in its inbox."""
        self._members: frozenset[str] = frozenset()
        self._again: set[str] = set()
        """The monitors that want a turn even if nothing comes."""
        self._slack = 0
        self._turns = 0
        self._sent = 0
        self._received = 0
        self._measures: Counter[str] = Counter()

    def take(self, record: Record) -> None:
        """Go on by one record. Whatever goes wrong is told to the client, and the run stops here."""
        match record:
            case Arrived(sender, number, body):
                self.office.to(sender).received(number)
                with self._told():
                    self._read(decode_body(body))
            case Turn(component, event):
                if self.running:
                    with self._told():
                        self._turn(component, event)
            case Exhausted(component):
                self.ended.add(component)
            case Broken(code, message, hint):
                self._fail(Failed(code, message, hint))

    @property
    def running(self) -> bool:
        """May components observe, and monitors be run?"""
        return self.started and not self.stopped

    @property
    def waiting(self) -> Iterator[str]:
        """The components that have a monitor to which something was sent, or that wants a turn."""
        places = {self._monitors[name].part.place for name in self._inboxes.keys() | self._again}
        return (name for name in self.times if name in places)

    def belongs(self, sender: str) -> bool:
        """May this one have a say in the run?"""
        return self.deployed is None or sender in self._members

    def status(self, number: int) -> Status:
        """The answer to a probe."""
        return Status(
            number=number,
            pid=os.getpid(),
            machine=socket.gethostname(),
            times=dict(self.times),
            ended=self.ended.issuperset(self.times),
            idle=not self._inboxes and not self._again,
            sent=self._sent,
            received=self._received,
        )

    def _read(self, message: Body) -> None:
        match message:
            case Deploy() if self.deployed is None:
                self._deploy(message)
            case Start():
                self.started = True
            case Stop():
                self.stopped = True
                self._tell(self._finished())
            case Ended():
                self.all_ended = True
            case Control():
                self.signals.append(message)
            case Post(source, target, content, depth):
                self._received += 1
                self._deliver(source, target, content, depth)

    def _deploy(self, deployed: Deploy) -> None:
        self.deployed = deployed
        self._members = frozenset((deployed.client, *map(subject_of_host, deployed.hosts.values())))
        slack = deployed.settings.slack
        self._slack = 2 * len(deployed.hosts) if slack is None else slack
        self.times = dict.fromkeys((component.name for component in deployed.components), 0)
        algorithm = load_algorithm(installed(deployed.algorithm))
        for part in deployed.parts:
            self._monitors[part.name] = build(part, algorithm)
            self._again.add(part.name)  # what is known without any event is known at once
        self._tell(Ready())

    def _turn(self, component: str, event: dict[str, bool] | None) -> None:
        if event is not None:
            self.times[component] += 1
        time = self.times[component]
        self._turns += 1
        for name, monitor in self._monitors.items():
            if monitor.part.place != component:
                continue
            letters = self._inboxes.pop(name, [])
            depth = self._depths.pop(name, 0)
            if event is None and not letters and name not in self._again:
                continue
            self._again.discard(name)
            seen = _core.Memory() if event is None else monitor.seen(time, event)
            after = depth + self.all_ended
            taken = monitor.step(time, seen, letters)
            for target, content in taken.outbox:
                self._post(monitor, target, content, after)
            if taken.answers:
                self._tell(Answers(name, taken.answers))
            if taken.finding is not None:
                self._tell(Found(name, *taken.finding, tuple(_reasons(monitor))))
            if taken.stop:
                self._tell(Over(name))
            if taken.again and after <= self._slack:
                self._again.add(name)
                self._depths[name] = max(self._depths[name], after)

    def _post(self, monitor: Running, target: str, content: _core.Content, depth: int) -> None:
        assert self.deployed is not None
        packed = _core.save_message(content)
        self._measures["msg_num"] += 1
        self._measures["msg_data"] += monitor.data(content)
        self._measures["msg_bytes"] += len(packed)
        self._measures[f"msg_{_core.message_kind(content)}"] += 1
        if depth > self._slack:
            return
        source, host = monitor.part.name, self.deployed.hosts[target]
        if host == self.host:
            self._deliver(source, target, packed, depth)
        else:
            self._sent += 1
            self.office.to(subject_of_host(host)).write(encode_body(Post(source, target, packed, depth)))

    def _deliver(self, source: str, target: str, content: bytes, depth: int) -> None:
        monitor = self._monitors[target]
        self._inboxes[target].append((source, monitor.load(content)))
        self._depths[target] = max(self._depths[target], depth)

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """Tell the client what goes wrong meanwhile."""
        try:
            yield
        except MopsusError as error:
            self._fail(Failed(error.code, error.message, error.hint))
        except Exception as error:  # a monitor may be anybody's
            self._fail(Failed("DECENTRAL-074", f"a monitor failed: {type(error).__name__}: {error}", ""))

    def _finished(self) -> Finished:
        missing = {each for monitor in self._monitors.values() for each in _missing(monitor)}
        return Finished(
            pid=os.getpid(),
            missing=tuple(sorted(missing)[:MOST_MISSING]),
            turns=self._turns,
            times=dict(self.times),
            measures=dict(self._measures),
        )

    def _fail(self, failed: Failed) -> None:
        if not self.stopped:
            self.stopped = True
            self._tell(failed)

    def _tell(self, message: Body) -> None:
        """Say something to the client, if there is one yet."""
        if self.deployed is not None:
            self.office.to(self.deployed.client).write(encode_body(message))


def _reasons(running: Running) -> Iterator[tuple[int, str, bool]]:
    """What a monitor's verdict follows from, if it can say so."""
    if isinstance(running.monitor, _core.DecentralMonitor):
        for time, number, value in running.monitor.reasons():
            yield time, running.part.inputs[number], value


def _missing(running: Running) -> Iterator[tuple[int, str]]:
    """What a monitor would have to know, if it can say so."""
    if isinstance(running.monitor, _core.DecentralMonitor):
        for time, number in running.monitor.missing():
            yield time, running.part.inputs[number]


def installed(algorithm: str) -> str:
    """The name of an algorithm. `DecentralError` if it names a file: nobody runs code that a message tells them to."""
    if ":" in algorithm:
        raise DecentralError(
            f"hosts do not run '{algorithm}' from a file",
            hint="install it on all hosts, with an entry point in mopsus.algorithms",
            code="DECENTRAL-072",
        )
    return algorithm
