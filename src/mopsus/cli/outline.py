"""A program that is watched from outside: its processes, its monitor's, and the one that reports what comes of it."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mopsus.cli.reporting import INTERRUPTED, VIOLATED, Reporting
from mopsus.cli.sidecar import LastWord, Sidecar, Terms, start_sidecar
from mopsus.events.component.outline.session import Session, is_running
from mopsus.model import Diagnostic

if TYPE_CHECKING:
    from mopsus.events.weave.launch import Program
    from mopsus.model import MopsusError, Verdict

BROKEN = 3


@dataclass(slots=True)
class Outcome:
    """What is known of a program that was watched from outside, when it is over."""

    program: str
    status: int
    last: LastWord
    alive: bool
    """Did the monitor process live to see the end?"""
    elapsed_s: float
    interrupted: bool
    ignored: int = 0
    error: MopsusError | None = None
    full: bool = False
    warnings: Sequence[Diagnostic] = field(init=False)
    sources: Sequence[str] = field(init=False)
    stats: Mapping[str, Any] = field(init=False)
    rows: int = field(init=False)
    bad_rows: int = field(init=False)

    def __post_init__(self) -> None:
        from mopsus.monitor.monitor import Stats

        self.sources = (self.program,)
        self.stats = {name: Stats(**counts) for name, counts in self.last.stats.items()}
        self.rows = sum(stats.events for stats in self.stats.values())
        self.bad_rows = self.last.damaged
        self.warnings = list(_warnings(self.last, self.alive))

    def exit_status(self, fail_on_violation: bool, violations: int) -> int:
        """That of the program; if it did well but shall fail, because of violations or of a monitor that is gone."""
        if self.status or not fail_on_violation:
            return self.status
        return VIOLATED if violations else 0 if self.alive else BROKEN


def watch_program(
    program: Program, reporting: Reporting, terms: Terms, on_verdict: Callable[[Verdict], object]
) -> Outcome:
    """Run a program to its end, with a monitor process beside it."""
    from mopsus.events.component.outline.program import command_of, environment_of

    session = Session.create()
    started = time.perf_counter()
    try:
        sidecar = start_sidecar(session, reporting, terms)
        process = subprocess.Popen(command_of(program), env=environment_of(session))
        with _passing_signals(process):
            _relay(sidecar, on_verdict, session, process)
            status = process.wait()
    finally:
        session.remove()
    return Outcome(
        program=program.name,
        status=status if status >= 0 else 128 - status,
        last=sidecar.last or LastWord(),
        alive=sidecar.last is not None,
        elapsed_s=time.perf_counter() - started,
        interrupted=status in (INTERRUPTED, -signal.SIGINT),
    )


def watch_session(
    session: Session, reporting: Reporting, terms: Terms, on_verdict: Callable[[Verdict], object]
) -> Outcome:
    """Watch a program that runs already, until it ends or until somebody says that it is enough."""
    started = time.perf_counter()
    sidecar = start_sidecar(session, reporting, terms)
    interrupted = False
    while True:
        try:
            _relay(sidecar, on_verdict, session, None)
            break
        except KeyboardInterrupt:
            interrupted = True
            _dismiss(session)
    main = session.main
    if main is not None and not is_running(main):
        session.remove()
    return Outcome(
        program=f"process {main}",
        status=0,
        last=sidecar.last or LastWord(),
        alive=sidecar.last is not None,
        elapsed_s=time.perf_counter() - started,
        interrupted=interrupted,
    )


def _relay(
    sidecar: Sidecar,
    on_verdict: Callable[[Verdict], object],
    session: Session,
    process: subprocess.Popen[bytes] | None,
) -> None:
    """Pass verdicts on until the monitor is done; tell it when the program is over."""
    with selectors.DefaultSelector() as selector:
        selector.register(sidecar.pipe, selectors.EVENT_READ)
        watcher = None if process is None else os.pidfd_open(process.pid)
        if watcher is not None:
            selector.register(watcher, selectors.EVENT_READ)
        try:
            while True:
                for key, _ in selector.select():
                    if key.fd == sidecar.pipe:
                        for verdict in sidecar.read():
                            on_verdict(verdict)
                    else:
                        selector.unregister(key.fd)
                        _dismiss(session)
        except EOFError:
            sidecar.wait()
        finally:
            if watcher is not None:
                os.close(watcher)


def _dismiss(session: Session) -> None:
    from mopsus import _core

    _core.Board.open(session.board).dismiss()


@contextmanager
def _passing_signals(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """What is meant for the program goes to the program. The terminal sends an interrupt to both."""

    def pass_on(number: int, _frame: object) -> None:
        process.send_signal(number)

    before = {number: signal.signal(number, pass_on) for number in (signal.SIGTERM, signal.SIGHUP)}
    before[signal.SIGINT] = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _warnings(last: LastWord, alive: bool) -> Iterator[Diagnostic]:
    if not alive:
        message = "the monitor process ended before the program did; what happened since was not checked"
        hint = "the program was not disturbed; run it again to check all of it"
        yield Diagnostic("OUTLINE-003", message, hint=hint, warning=True)
    if last.incomplete_count:
        named = _some(last.incomplete, last.incomplete_count)
        message = f"incomplete: {last.lost:,} events were lost; nothing is said of {named}"
        hint = "--when-full=block loses none, --when-full=grow keeps them in a file"
        yield Diagnostic("OUTLINE-004", message, hint=hint, warning=True)
    if last.orphan_count:
        named = _some([f"{who} ({events:,}, {why})" for who, events, why in last.orphans], last.orphan_count)
        yield Diagnostic("OUTLINE-005", f"events that belong to no component that is known: {named}", warning=True)


def _some(names: Sequence[str], count: int) -> str:
    more = f" and {count - len(names):,} more" if count > len(names) else ""
    return ", ".join(names) + more
