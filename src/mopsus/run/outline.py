"""Programs that are watched from outside: what the process that reports does while others monitor."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any

from mopsus.model import Diagnostic, Fault, RunResult
from mopsus.run.sidecar import LastWord, Sidecar

if TYPE_CHECKING:
    from mopsus.events.component.outline.session import Session
    from mopsus.monitor.stats import Stats
    from mopsus.run.run import Run


def relay(
    sidecars: Sequence[Sidecar], run: Run, session: Session, process: subprocess.Popen[bytes] | None = None
) -> None:
    """Pass verdicts and faults on until all monitor processes are done; tell the first when the program is over."""
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
                    dismiss(session)
                    continue
                for told in key.data.read():
                    if isinstance(told, Fault):
                        run.take_fault(None, told)
                    else:
                        run.take(told)
                if key.data.gone:
                    selector.unregister(key.fd)
                    key.data.wait()


def result_of(program: str, sidecars: Sequence[Sidecar], run: Run) -> RunResult:
    """Return what the monitor processes of a program have found in all."""
    error = _broken() if any(each.last is None for each in sidecars) else None
    first = sidecars[0].last or LastWord()
    stats = _add_up([each.stats for each in sidecars if each.stats])
    seen = {name: counts.occurred for name, counts in stats.items()}
    return RunResult(
        sources=[program],
        stats=dict(stats),
        rows=sum(counts.events for counts in stats.values()),
        bad_rows=first.damaged,
        warnings=[*_warnings(first)],
        unseen=[] if error is not None else run.unseen_in_components(seen),
        error=error,
    )


def include_endings(run: Run, sidecars: Sequence[Sidecar]) -> None:
    """Take over what the monitor processes presume of the undecided."""
    if run.endings is not None:
        for sidecar in sidecars:
            for ending in sidecar.last.endings if sidecar.last is not None else ():
                run.endings.include(ending)


def dismiss(session: Session) -> None:
    """Let the monitor processes of a session say what they have found, and end."""
    from mopsus import _core

    _core.Board.open(session.board).dismiss()


@contextmanager
def passing_signals(process: subprocess.Popen[bytes]) -> Iterator[None]:
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
