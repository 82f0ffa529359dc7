"""Stage 4: check logs of components, or one that is still being written, against specs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from mopsus.events.component.dispatch import Account, Orphan, Reason
from mopsus.events.component.log.events import EventReader, functions_in
from mopsus.events.component.log.merge import MergedBlock, merged_blocks
from mopsus.events.component.log.read import (
    LogBlock,
    LogFormat,
    find_roots,
    follow_blocks,
    live_blocks,
    read_blocks,
)
from mopsus.events.component.log.session import ComponentSession, Dispatching, OpenMonitor
from mopsus.events.trace.checking import CheckResult, Progress, Run
from mopsus.events.trace.follow import POLL_S
from mopsus.events.trace.read import total_size
from mopsus.events.trace.session import BadRows, OnVerdict
from mopsus.events.trace.sources import Source, expand
from mopsus.model import Diagnostic, Spec
from mopsus.model.limits import HISTORY
from mopsus.monitor import Monitor
from mopsus.spec.component import is_hml

DEFAULT: Final = Dispatching()
SHOWN = 5
"""How many components a warning names."""


@dataclass(slots=True)
class ComponentResult(CheckResult):
    """What a run over logs of components found beside its verdicts."""

    accounts: list[Account] = field(default_factory=list)
    """What was heard of each component, if it was asked for."""
    orphans: list[Orphan] = field(default_factory=list)
    """Components some of whose events reached nobody."""
    undecided: dict[str, dict[str, int]] = field(default_factory=dict)
    """By spec and property, how many components have no final verdict."""


def check_logs(
    specs: Sequence[Spec],
    logs: Sequence[str | Source],
    *,
    on_verdict: OnVerdict,
    open_monitor: OpenMonitor | None = None,
    dispatching: Dispatching = DEFAULT,
    format: LogFormat | None = None,
    log_format: str | None = None,
    bad_rows: BadRows = "stop",
    max_violations: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> ComponentResult:
    """Check logs of components, which may be those of several processes of one run, against all the specs at once.

    To specs that hear of several components at once, several logs are one, in the order of the times of their events;
    for all others the order of the lines of each component is enough.

    `on_verdict` hears every verdict. A line that is no event, or an unreadable file, ends the run: the result then has
    the `error`, and everything before it was processed. So does Ctrl-C.
    """
    sources = [source for log in logs for source in (expand([log]) if isinstance(log, str) else [log])]
    total = total_size(sources)
    done = 0

    def note(count: int) -> None:
        nonlocal done
        done += count

    def report(rows: int) -> None:
        if progress is not None:
            progress(Progress(rows, done, total))

    if dispatching.roots == "auto" and format in (None, LogFormat.TEXT) and log_format is None:
        dispatching = replace(dispatching, is_root=find_roots(sources))
    reader = EventReader(format, log_format, skip=bad_rows == "skip")
    run = _LogRun(specs, reader, on_verdict, open_monitor, dispatching, max_violations)
    run.session.learn(lambda: functions_in(sources, reader))
    if len(sources) > 1 and not all(map(is_hml, specs)):
        return run.go(merged_blocks(sources, reader, note), [source.name for source in sources], report)
    return run.go(read_blocks(sources, note), [source.name for source in sources], report)


def watch_log(
    specs: Sequence[Spec],
    log: Path,
    *,
    on_verdict: OnVerdict,
    open_monitor: OpenMonitor | None = None,
    dispatching: Dispatching = DEFAULT,
    format: LogFormat | None = None,
    log_format: str | None = None,
    bad_rows: BadRows = "stop",
    max_violations: int | None = None,
    stop: threading.Event | None = None,
    poll_s: float = POLL_S,
) -> ComponentResult:
    """Follow a log as it grows, until `stop` is set, Ctrl-C, or an error. It need not be there yet.

    The rest is as in `check_logs`, except that a Ctrl-C leaves nothing incomplete.
    """
    reader = EventReader(format, log_format, skip=bad_rows == "skip")
    run = _LogRun(specs, reader, on_verdict, open_monitor, dispatching, max_violations)
    return run.go(follow_blocks(log, stop, poll_s), [str(log)], lambda rows: None, endless=True, obedient=True)


def hear_lines(
    specs: Sequence[Spec],
    name: str,
    pieces: Iterable[bytes],
    *,
    on_verdict: OnVerdict,
    open_monitor: OpenMonitor | None = None,
    dispatching: Dispatching = DEFAULT,
    max_violations: int | None = None,
) -> ComponentResult:
    """Check lines of text that come in `pieces` from whoever is called `name`, as they come.

    The rest is as in `watch_log`; interrupted or not, the run ends with the pieces.
    """
    run = _LogRun(specs, EventReader(LogFormat.TEXT), on_verdict, open_monitor, dispatching, max_violations)
    return run.go(live_blocks(name, pieces), [name], lambda rows: None, endless=True)


class _LogRun:
    """The common part of all runs."""

    def __init__(
        self,
        specs: Sequence[Spec],
        reader: EventReader,
        on_verdict: OnVerdict,
        open_monitor: OpenMonitor | None,
        dispatching: Dispatching,
        max_violations: int | None,
    ) -> None:
        self._reader = reader
        self._result = ComponentResult()
        self.session: ComponentSession

        def open_session(take: OnVerdict) -> ComponentSession:
            self.session = ComponentSession(specs, open_monitor or _open_monitor, take, reader, dispatching)
            return self.session

        self._run: Run[LogBlock | MergedBlock] = Run(on_verdict, max_violations, open_session, self._result)

    def go(
        self,
        blocks: Generator[LogBlock, None, None] | Generator[MergedBlock, None, None],
        sources: list[str],
        report: Callable[[int], object],
        *,
        endless: bool = False,
        obedient: bool = False,
    ) -> ComponentResult:
        """Feed the blocks. To interrupt what is `endless` is the way to end it."""
        run, session, result = self._run, self.session, self._result
        with closing(run), closing(blocks):
            run.go(blocks, report, obedient=obedient)
            result.interrupted = result.interrupted and not endless
            if not run.broken_off:
                run.conclude(session.finish)
            warnings = [*_restarted(session.beginnings), *_orphaned(session.orphans)]
            run.finish(self._reader.tally.bad_lines, [*self._reader.tally.bad], warnings)
            if not run.broken_off:
                result.unseen = session.unseen()
        result.sources = sources
        result.accounts, result.orphans, result.undecided = session.accounts, session.orphans, session.undecided()
        if not result.rows and result.error is None:
            result.warnings += _eventless(sources, self._reader.tally.passed_over)
        return result


def _open_monitor(spec: Spec, on_verdict: OnVerdict) -> Monitor:
    return Monitor(spec, on_verdict=on_verdict, history=HISTORY)


def _eventless(sources: Sequence[str], lines: int) -> list[Diagnostic]:
    if not lines:
        return [Diagnostic("TRACE-007", f"{name} is empty", warning=True) for name in sources]
    what = "the line" if lines == 1 else f"the {lines:,} lines"
    hint = "for a log that Python's `logging` wrote, --log-format must be the format that it was written with"
    return [Diagnostic("LOG-007", f"none of {what} of {', '.join(sources)} has an event", hint=hint, warning=True)]


def _restarted(beginnings: Mapping[str, int]) -> Iterator[Diagnostic]:
    for name, count in beginnings.items():
        if count > 1:
            times = "once" if count == 2 else f"{count - 1:,} times"
            message = (
                f"{name} was begun anew {times} while it was followed; lines cut off before they were read are lost"
            )
            yield Diagnostic("LOG-005", message, warning=True)


_REASONS: Final[dict[Reason, str]] = {
    "never forked": "no `fork` makes them, and they have no `init`",
    "no init": "they have no `init`, and forks were not to be looked at",
    "after its exit": "they come after the `exit` of their component",
    "too many waiting": "there were too many to keep until the `fork` of their component came",
}


def _orphaned(orphans: Sequence[Orphan]) -> Iterator[Diagnostic]:
    for reason, why in _REASONS.items():
        found = [each for each in orphans if each.reason == reason]
        if found:
            events = sum(each.events for each in found)
            shown = ", ".join(each.component for each in found[:SHOWN]) + (", …" if len(found) > SHOWN else "")
            what = "1 event" if events == 1 else f"{events:,} events"
            whose = "1 component" if len(found) == 1 else f"{len(found):,} components"
            message = f"{what} of {whose} reached no monitor: {why} ({shown})"
            hint = "name roots by --root, or use --no-forks for logs without forks" if reason == "never forked" else ""
            yield Diagnostic("LOG-006", message, hint=hint, warning=True)
