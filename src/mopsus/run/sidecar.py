"""A process that monitors a program from outside, and what it says to the process that has started it.

It is forked from a command that has loaded the specs. Everything that it finds goes through a pipe; if the pipe ends
before the last word was said, the monitor was killed.
"""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NoReturn

from mopsus.bus.channel import Channel
from mopsus.bus.codec import pack, unpack
from mopsus.bus.messages import BusError
from mopsus.events.component.outline.mesh import join_nodes
from mopsus.events.component.outline.messages import OutlineError
from mopsus.events.component.outline.session import Session, is_running
from mopsus.model import Fault, Verdict
from mopsus.run.faults import FaultPost
from mopsus.stopping import SIGNALS
from mopsus.verdict.ends import Ending

if TYPE_CHECKING:
    import socket

    from mopsus.events.component.outline.collector import Collector
    from mopsus.events.component.outline.mesh import Node
    from mopsus.events.component.outline.watch import Watched
    from mopsus.monitor import Monitor
    from mopsus.run.run import Run

_SOME = 10
"""How many names of components are told."""
_LISTENING, _REFUSED = b"y", b"n"
_LOOK, _SHORT = 0.05, 0.001
"""How long, in seconds, one waits before one looks around; shorter if others have something to say, too."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How a program is watched."""

    when_full: str = "block"
    capacity: int = 1 << 22
    """Bytes of a ring."""
    groups: bool = False
    """Does a component that no property is about belong to its parent's?"""
    monitors: int = 1
    """How many processes share the work."""
    envelopes: bool = False
    """Is a send heard of before the recv of its message? Known to programs that are started so."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict, as a monitor process tells it."""

    verdict: Verdict
    stats: dict[str, dict[str, Any]]
    """What it had counted by then."""


@dataclass(slots=True)
class LastWord:
    """What a monitor process says at its end."""

    stats: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The counts of each spec's monitor."""
    lost: int = 0
    incomplete: list[str] = field(default_factory=list)
    """Some of the components of which events were lost, and how many there are."""
    incomplete_count: int = 0
    orphans: list[tuple[str, int, str]] = field(default_factory=list)
    """Some components whose events waited in vain: who, how many events, why."""
    orphan_count: int = 0
    damaged: int = 0
    endings: list[Ending] = field(default_factory=list)
    """What is presumed of the undecided."""


class Sidecar:
    """A monitor process, as its parent sees it."""

    def __init__(self, pid: int, pipe: int) -> None:
        self.pid = pid
        self.pipe = Channel(pipe)
        self.last: LastWord | None = None
        """What it said when it was done; None if it has not, or never will."""
        self.gone = False
        self.stats: dict[str, dict[str, Any]] = {}
        """What it had counted when it was last heard of."""

    def read(self) -> Iterator[Verdict | Fault]:
        """The verdicts and faults that have come, from a pipe that has something to read or has ended."""
        try:
            messages = [unpack(Judged | Fault | LastWord, body) for body in self.pipe.arrived()]
            self.gone = self.pipe.gone
        except BusError:  # nothing that it says can be relied on: as if it had been killed
            messages, self.gone = [], True
        for message in messages:
            if isinstance(message, Fault):
                yield message
                continue
            self.stats = message.stats
            if isinstance(message, LastWord):
                self.last = message
            else:
                yield message.verdict

    def wait(self) -> None:
        """Wait until it is gone."""
        self.pipe.close()
        os.waitpid(self.pid, 0)


def start_sidecars(session: Session, run: Run, terms: Terms) -> list[Sidecar]:
    """Start the processes that monitor what a program tells in this session. They listen when this returns."""
    monitoring = _Monitoring(run, terms)  # here, because what is wrong with a spec is for the user to know
    ends = join_nodes(terms.monitors) if terms.monitors > 1 else [[None]]
    sidecars: list[Sidecar] = []
    ready, begun = os.pipe()
    for number in range(terms.monitors):
        ours, theirs = os.pipe()
        pid = os.fork()
        if pid == 0:
            for other in (ours, ready, *(each.pipe.fileno() for each in sidecars)):
                os.close(other)
            for row in range(terms.monitors):
                for end in ends[row] if row != number else ():
                    if end is not None:
                        end.close()
            _be_sidecar(partial(monitoring.run, session, number, ends[number], theirs, begun))
        os.close(theirs)
        sidecars.append(Sidecar(pid, ours))
    os.close(begun)
    for end in chain.from_iterable(ends):
        if end is not None:
            end.close()
    with os.fdopen(ready, "rb") as words:
        word = words.read(1)
    if word != _LISTENING:
        for sidecar in sidecars:
            sidecar.wait()
        if word == _REFUSED:
            hint = "only one monitor can watch a program at a time; `mopsus component detach` ends it"
            raise OutlineError("the program is already watched", hint=hint, code="OUTLINE-002")
        raise OutlineError("the monitor process ended before it had begun", code="OUTLINE-003")
    return sidecars


def _be_sidecar(work: Callable[[], None]) -> NoReturn:
    """Be nothing else than a monitor process, from here to the end."""
    status = 1
    try:
        for number in SIGNALS:  # the user stops the program, and the program's end ends us
            signal.signal(number, signal.SIG_IGN)
        work()
        status = 0
    except BrokenPipeError:
        pass  # nobody wants to know any more
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


class _Monitoring:
    """The monitors of all specs, and what they need to hear."""

    def __init__(self, run: Run, terms: Terms) -> None:
        from mopsus.events.component.feed import make_feed
        from mopsus.events.component.outline.watch import Watched

        self._terms, self._run = terms, run
        self._send: Callable[[object], None] = lambda message: None
        self._faults = FaultPost(lambda message: self._send(message))
        self._monitors: dict[str, Monitor] = {}
        self._watched: list[Watched] = []
        if terms.groups and terms.monitors > 1 and len(run.specs) > 1:
            hint = "check them one after the other, or with one monitor process"
            raise OutlineError("groups of several specs cannot be shared out", hint=hint, code="OUTLINE-006")
        for spec in run.specs.values():
            each = Watched(spec, self.add, groups=terms.groups)
            self._monitors[spec.name] = monitor = run.open_monitor(spec, each.add)
            each.attach(make_feed(spec, monitor))
            self._watched.append(each)

    def run(self, session: Session, number: int, ends: Sequence[socket.socket | None], pipe: int, begun: int) -> None:
        """In the process that does nothing else: listen until there is nothing more to hear."""
        self._send = _sender(pipe)
        self._run.hand_over(self)
        node = self._node(number, ends) if len(ends) > 1 else None
        if number == 0:
            self._collect(session, node, begun)
        elif node is not None:
            os.close(begun)
            while not (node.stopped or node.alone):
                node.poll(_LOOK)
            self._end(LastWord())

    def _node(self, number: int, ends: Sequence[socket.socket | None]) -> Node:
        from mopsus.events.component.outline.choreography import Selection
        from mopsus.events.component.outline.mesh import Link, Node
        from mopsus.events.component.outline.watch import WatchedComponent

        single = [each for each in self._watched if not each.selects(None)]
        selection = Selection(lambda function: any(each.selects(function) for each in single), self._terms.groups)
        links = [None if end is None else Link(end) for end in ends]
        return Node(number, links, selection, lambda component, fork: WatchedComponent(single, component, fork))

    def _collect(self, session: Session, node: Node | None, begun: int) -> None:
        from mopsus import _core
        from mopsus.events.component.outline.collector import Collector
        from mopsus.events.component.outline.watch import SharedWatch, Watch

        parent = os.getppid()
        board = _core.Board.open(session.board)
        if not board.attend(self._terms.capacity, self._terms.when_full):
            os.write(begun, _REFUSED)
            return
        _core.nap_precisely()
        watch: Watch | SharedWatch
        watch = Watch(self._watched, groups=self._terms.groups) if node is None else SharedWatch(self._watched, node)
        collector = Collector(session, board, watch)
        os.write(begun, _LISTENING)
        os.close(begun)
        while not collector.dismissed:
            heard = collector.poll(_LOOK if node is None else _SHORT)
            if node is not None:
                node.poll(0)
            if not heard and (os.getppid() != parent or _is_over(session, collector)):
                break
        board.dismiss()
        collector.finish()
        orphans = watch.finish()
        last = LastWord(
            lost=watch.losses.lost,
            incomplete=list(map(str, watch.losses.incomplete))[:_SOME],
            incomplete_count=len(watch.losses.incomplete),
            orphans=[(str(each.component), each.events, each.reason) for each in orphans[:_SOME]],
            orphan_count=len(orphans),
            damaged=collector.damaged,
        )
        self._end(last)

    def add(self, verdict: Verdict) -> None:
        """Send a verdict."""
        self._send(Judged(verdict, self._stats()))

    def add_fault(self, fault: Fault) -> None:
        """Send that code of a spec has raised an error."""
        self._faults.add(fault)

    def _stats(self) -> dict[str, dict[str, Any]]:
        return {name: asdict(monitor.stats()) for name, monitor in self._monitors.items()}

    def _end(self, last: LastWord) -> None:
        for monitor in self._monitors.values():
            monitor.close()
        self._faults.close()
        last.stats = self._stats()
        last.endings = list(self._run.endings or ())
        self._send(last)


def _is_over(session: Session, collector: Collector) -> bool:
    """Has the program ended, and has everything that it told been read?"""
    main = session.main
    return main is not None and not collector.processes and not is_running(main)


def _sender(pipe: int) -> Callable[[object], None]:
    channel = Channel(pipe)

    def send(message: object) -> None:
        if not channel.send(pack(message)):
            raise BrokenPipeError

    return send
