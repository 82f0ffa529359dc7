"""A program that is watched from outside: its processes, its monitor's, and the one that reports what comes of it."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import InitVar, dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

from mopsus.cli.reporting import Reporting
from mopsus.cli.sidecar import LastWord, Sidecar, Terms, start_sidecars
from mopsus.events.component.outline.session import Session, is_running
from mopsus.model import Diagnostic, Fault
from mopsus.report.summary import INTERRUPTED
from mopsus.stopping import SIGNALS, STOPPING

if TYPE_CHECKING:
    from mopsus.events.weave.launch import Program
    from mopsus.model import Unseen, Verdict
    from mopsus.monitor.stats import Stats


@dataclass(slots=True)
class Outcome:
    """What is known of a program that was watched from outside, when it is over."""

    reporting: InitVar[Reporting]
    program: str
    status: int
    sidecars: Sequence[Sidecar]
    elapsed_s: float
    interrupted: bool
    ignored: int = 0
    full: bool = False
    unseen: Sequence[Unseen] = field(init=False)
    error: Diagnostic | None = field(init=False)
    warnings: Sequence[Diagnostic] = field(init=False)
    sources: Sequence[str] = field(init=False)
    stats: Mapping[str, Any] = field(init=False)
    rows: int = field(init=False)
    bad_rows: int = field(init=False)

    def __post_init__(self, reporting: Reporting) -> None:
        self.error = _broken() if any(each.last is None for each in self.sidecars) else None
        first = self.sidecars[0].last or LastWord()
        self.sources = (self.program,)
        self.stats = _add_up([each.stats for each in self.sidecars if each.stats])
        self.rows = sum(stats.events for stats in self.stats.values())
        seen = {name: stats.occurred for name, stats in self.stats.items()}
        self.unseen = [] if self.error is not None else reporting.unseen_in_components(seen)
        self.bad_rows = first.damaged
        self.warnings = list(_warnings(first))


def watch_program(
    program: Program, reporting: Reporting, terms: Terms, on_verdict: Callable[[Verdict], object]
) -> Outcome:
    """Run a program to its end, with a monitor process beside it."""
    from mopsus.events.component.outline.program import command_of, environment_of

    session = Session.create(envelopes=terms.envelopes)
    started = time.perf_counter()
    try:
        sidecars = start_sidecars(session, reporting, terms)
        process = subprocess.Popen(command_of(program), env=environment_of(session))
        with _passing_signals(process):
            _relay(sidecars, reporting, on_verdict, session, process)
            status = process.wait()
    finally:
        session.remove()
    _include_endings(reporting, sidecars)
    return Outcome(
        reporting,
        program=program.name,
        status=status if status >= 0 else 128 - status,
        sidecars=sidecars,
        elapsed_s=time.perf_counter() - started,
        interrupted=status == INTERRUPTED or -status in SIGNALS,
    )


def watch_session(
    session: Session, reporting: Reporting, terms: Terms, on_verdict: Callable[[Verdict], object]
) -> Outcome:
    """Watch a program that runs already, until it ends or until somebody says that it is enough."""
    started = time.perf_counter()
    sidecars = start_sidecars(session, reporting, terms)
    with STOPPING.deferred():
        try:
            with STOPPING.interruptible():
                _relay(sidecars, reporting, on_verdict, session, None)
        except KeyboardInterrupt:  # which is how this is meant to end
            STOPPING.heed()
            _dismiss(session)
            _relay(sidecars, reporting, on_verdict, session, None)
    main = session.main
    if main is not None and not is_running(main):
        session.remove()
    return Outcome(
        reporting,
        program=f"process {main}",
        status=0,
        sidecars=sidecars,
        elapsed_s=time.perf_counter() - started,
        interrupted=False,
    )


def _relay(
    sidecars: Sequence[Sidecar],
    reporting: Reporting,
    on_verdict: Callable[[Verdict], object],
    session: Session,
    process: subprocess.Popen[bytes] | None,
) -> None:
    """Pass verdicts on until all monitor processes are done; tell the first when the program is over."""
    with selectors.DefaultSelector() as selector, ExitStack() as stack:
        for sidecar in sidecars:
            if not sidecar.gone:
                selector.register(sidecar.pipe, selectors.EVENT_READ, sidecar)
        if process is not None:
            watcher = os.pidfd_open(process.pid)
            stack.callback(os.close, watcher)
            selector.register(watcher, selectors.EVENT_READ)
        while not all(sidecar.gone for sidecar in sidecars):
            for key, _ in selector.select():
                if key.data is None:
                    selector.unregister(key.fd)
                    _dismiss(session)
                    continue
                for told in key.data.read():
                    if isinstance(told, Fault):
                        reporting.take_fault(None, told)
                    else:
                        on_verdict(told)
                if key.data.gone:
                    selector.unregister(key.fd)
                    key.data.wait()


def _include_endings(reporting: Reporting, sidecars: Sequence[Sidecar]) -> None:
    if reporting.endings is not None:
        for sidecar in sidecars:
            for ending in sidecar.last.endings if sidecar.last is not None else ():
                reporting.endings.include(ending)


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


def _broken() -> Diagnostic:
    message = "the monitor process ended before the program did; what happened since was not checked"
    return Diagnostic("OUTLINE-003", message, hint="the program was not disturbed; run it again to check all of it")


def _warnings(last: LastWord) -> Iterator[Diagnostic]:
    if last.incomplete_count:
        named = _some(last.incomplete, last.incomplete_count)
        message = f"incomplete: {last.lost:,} events were lost; nothing is said of {named}"
        hint = "--when-full=block loses none, --when-full=grow keeps them in a file"
        yield Diagnostic("OUTLINE-004", message, hint=hint, warning=True)
    if last.orphan_count:
        named = _some([f"{who} ({events:,}, {why})" for who, events, why in last.orphans], last.orphan_count)
        yield Diagnostic("OUTLINE-005", f"events that belong to no component that is known: {named}", warning=True)


def _add_up(counts: Sequence[Mapping[str, Mapping[str, Any]]]) -> dict[str, Stats]:
    """The statistics of each spec's monitors in all processes."""
    from mopsus.monitor.stats import Stats

    def added(values: Sequence[Any]) -> Any:  # noqa: ANN401 - a number, or several by name
        if isinstance(values[0], Mapping):
            return {key: sum(each.get(key, 0) for each in values) for key in dict.fromkeys(chain(*values))}
        return sum(values)

    return {
        spec: Stats(**{name: added([each[spec][name] for each in counts]) for name in counts[0][spec]})
        for spec in (counts[0] if counts else ())
    }


def _some(names: Sequence[str], count: int) -> str:
    more = f" and {count - len(names):,} more" if count > len(names) else ""
    return ", ".join(names) + more
