"""A process that monitors a program from outside, and what it says to the process that has started it.

It is forked from a command that has loaded the specs. Everything that it finds goes through a pipe; if the pipe ends
before the last word was said, the monitor was killed.
"""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from mopsus.cli.reporting import Reporting
from mopsus.events.component.outline.messages import OutlineError
from mopsus.events.component.outline.session import Session, is_running

if TYPE_CHECKING:
    from mopsus.events.component.outline.collector import Collector
    from mopsus.model import Verdict
    from mopsus.monitor import Monitor

_LENGTH = 4
"""Bytes before each message that say how long it is."""
_SOME = 10
"""How many names of components are told."""
_LISTENING, _REFUSED = b"y", b"n"


@dataclass(frozen=True, slots=True)
class Terms:
    """How a program is watched."""

    when_full: str = "block"
    capacity: int = 1 << 20
    """Bytes of a ring."""
    groups: bool = False
    """Does a component that no property is about belong to its parent's?"""


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


class Sidecar:
    """A monitor process, as its parent sees it."""

    def __init__(self, pid: int, pipe: int) -> None:
        self.pid = pid
        self.pipe = pipe
        self.last: LastWord | None = None
        """What it said when it was done; None if it has not, or never will."""
        self._text = b""

    def read(self) -> Iterator[Verdict]:
        """The verdicts that have come; raises `EOFError` when the process is gone."""
        import msgspec

        data = os.read(self.pipe, 1 << 16)
        if not data:
            raise EOFError
        self._text += data
        at = 0
        while at + _LENGTH <= len(self._text):
            end = at + _LENGTH + int.from_bytes(self._text[at : at + _LENGTH], "big")
            if end > len(self._text):
                break
            message = msgspec.msgpack.decode(self._text[at + _LENGTH : end], type=dict[str, Any])
            at = end
            if "verdict" in message:
                from mopsus.verdict.wire import unpack_verdict

                yield unpack_verdict(message["verdict"])
            else:
                self.last = LastWord(**message["last"])
        self._text = self._text[at:]

    def wait(self) -> int:
        """Wait until it is gone; how it ended, as `os.waitstatus_to_exitcode` has it."""
        os.close(self.pipe)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def start_sidecar(session: Session, reporting: Reporting, terms: Terms) -> Sidecar:
    """Start a process that monitors what a program tells in this session. It listens when this returns."""
    monitoring = _Monitoring(reporting, terms)  # here, because what is wrong with a spec is for the user to know
    ours, theirs = os.pipe()
    ready, begun = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.close(ours)
            os.close(ready)
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the user stops the program, and the program's end ends us
            monitoring.run(session, theirs, begun)
            status = 0
        except BrokenPipeError:
            pass  # nobody wants to know any more
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(theirs)
    os.close(begun)
    sidecar = Sidecar(pid, ours)
    with os.fdopen(ready, "rb") as words:
        word = words.read(1)
    if word != _LISTENING:
        sidecar.wait()
        if word == _REFUSED:
            hint = "only one monitor can watch a program at a time; `mopsus component detach` ends it"
            raise OutlineError("the program is already watched", hint=hint, code="OUTLINE-002")
        raise OutlineError("the monitor process ended before it had begun", code="OUTLINE-003")
    return sidecar


class _Monitoring:
    """The monitors of all specs, and what they need to hear."""

    def __init__(self, reporting: Reporting, terms: Terms) -> None:
        from mopsus.events.component.feed import make_feed
        from mopsus.events.component.outline.watch import Watch, Watched

        self._terms = terms
        self._send: Callable[[Mapping[str, Any]], None] = lambda message: None
        self._monitors: dict[str, Monitor] = {}
        watched: list[Watched] = []
        for spec in reporting.specs:
            each = Watched(spec, self._report, groups=terms.groups)
            self._monitors[spec.name] = monitor = reporting.open_monitor(spec, each.add)
            each.attach(make_feed(spec, monitor))
            watched.append(each)
        self._watch = Watch(watched, groups=terms.groups)

    def run(self, session: Session, pipe: int, begun: int) -> None:
        """In the process that does nothing else: listen until there is nothing more to hear."""
        from mopsus import _core
        from mopsus.events.component.outline.collector import Collector

        parent = os.getppid()
        board = _core.Board.open(session.board)
        if not board.attend(self._terms.capacity, self._terms.when_full):
            os.write(begun, _REFUSED)
            return
        _core.nap_precisely()
        self._send = _sender(pipe)
        collector = Collector(session, board, self._watch)
        os.write(begun, _LISTENING)
        os.close(begun)
        while not collector.dismissed:
            if not collector.poll() and (os.getppid() != parent or _is_over(session, collector)):
                break
        board.dismiss()
        collector.finish()
        self._end(collector)

    def _report(self, verdict: Verdict) -> None:
        from mopsus.verdict.wire import pack_verdict

        self._send({"verdict": pack_verdict(verdict)})

    def _end(self, collector: Collector) -> None:
        orphans = self._watch.finish()
        for monitor in self._monitors.values():
            monitor.close()
        last = LastWord(
            stats={name: asdict(monitor.stats()) for name, monitor in self._monitors.items()},
            lost=self._watch.lost,
            incomplete=list(map(str, self._watch.incomplete))[:_SOME],
            incomplete_count=len(self._watch.incomplete),
            orphans=[(str(each.component), each.events, each.reason) for each in orphans[:_SOME]],
            orphan_count=len(orphans),
            damaged=collector.damaged,
        )
        self._send({"last": asdict(last)})


def _is_over(session: Session, collector: Collector) -> bool:
    """Has the program ended, and has everything that it told been read?"""
    main = session.main
    return main is not None and not collector.processes and not is_running(main)


def _sender(pipe: int) -> Callable[[Mapping[str, Any]], None]:
    import msgspec

    def send(message: Mapping[str, Any]) -> None:
        data = msgspec.msgpack.encode(message)
        left = memoryview(len(data).to_bytes(_LENGTH, "big") + data)
        while left:
            left = left[os.write(pipe, left) :]

    return send
