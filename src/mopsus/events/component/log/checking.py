"""Stage 4: logs of components as inputs: read to their end, followed as they grow, or told line by line."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeAlias

from mopsus.events.component.dispatch import Account, Orphan, Reason
from mopsus.events.component.log.events import EventReader, functions_in
from mopsus.events.component.log.merge import MergedBlock, merged_blocks
from mopsus.events.component.log.narrate import show_function
from mopsus.events.component.log.read import (
    LogBlock,
    LogFormat,
    find_roots,
    follow_blocks,
    live_blocks,
    read_blocks,
)
from mopsus.events.component.log.session import ComponentSession, Dispatching
from mopsus.events.component.occurrence import Kind
from mopsus.events.feeding import MonitoredRun
from mopsus.events.trace.follow import POLL_S
from mopsus.events.trace.read import total_size
from mopsus.events.trace.session import BadRows, OnVerdict
from mopsus.events.trace.sources import Source, expand
from mopsus.model import ComponentCounts, Diagnostic, Heard, RunResult, Spec
from mopsus.spec.component import about_components, is_hml

DEFAULT: Final = Dispatching()
SHOWN = 5
"""How many components a warning names."""

Blocks: TypeAlias = "Generator[LogBlock, None, None] | Generator[MergedBlock, None, None]"


class ComponentLog:
    """What all logs of components have in common."""

    endless = obedient = False

    def __init__(self, reader: EventReader, dispatching: Dispatching = DEFAULT) -> None:
        self.session: ComponentSession
        self._reader = reader
        self._dispatching = dispatching
        self._names: list[str] = []
        self._ends = ExitStack()

    def gives(self, spec: Spec) -> bool:
        """Return whether events of this spec happen in components."""
        return about_components(spec)

    def open(self, specs: Sequence[Spec], run: MonitoredRun, on_verdict: OnVerdict) -> None:
        """Open the monitors of these specs."""
        self.session = ComponentSession(specs, run.open_monitor, on_verdict, self._reader, self._dispatching)
        self._ends.callback(self.session.close)

    def blocks(self) -> Iterator[LogBlock | MergedBlock]:
        """Give the blocks in order."""
        with closing(self._open_blocks()) as blocks:
            yield from blocks

    def _open_blocks(self) -> Blocks:
        raise NotImplementedError

    def feed(self, block: LogBlock | MergedBlock) -> None:
        """Let the monitors hear of every event of a block."""
        self.session.feed(block)

    def finish(self, result: RunResult, *, interrupted: bool) -> None:
        """Give out what waited for events that will not come."""
        if not result.broken_off:
            self.session.finish()

    def tell(self, result: RunResult) -> None:
        """Add what was counted, heard and not seen to the result."""
        session, tally = self.session, self._reader.tally
        result.sources += self._names
        result.rows += session.rows
        result.ignored += session.ignored
        result.bad_rows += tally.bad_lines + session.bad_rows
        result.bad += tally.bad
        result.stats.update(session.stats)
        result.warnings += [*_restarted(session.beginnings), *_orphaned(session.orphans)]
        if not result.broken_off:
            result.unseen += session.unseen()
        result.heard = Heard(session.undecided(), tuple(map(_counts, session.accounts)))

    def empty(self, result: RunResult) -> Iterable[Diagnostic]:
        """Say that there was no event at all."""
        if self.session.rows or result.error is not None:
            return []
        return _eventless(self._names, self._reader.tally.passed_over)

    @property
    def rows(self) -> int:
        """Events so far."""
        return self.session.rows

    @property
    def progress(self) -> tuple[int, int | None]:
        """Bytes read, and bytes in all."""
        return 0, None

    def close(self) -> None:
        """Close the monitors."""
        self._ends.close()


class ComponentLogs(ComponentLog):
    """Logs, which may be those of several processes of one run, read to their end.

    To specs that hear of several components at once, several logs are one, in the order of the times of their events;
    for all others the order of the lines of each component is enough.
    """

    def __init__(
        self,
        logs: Sequence[str | Source],
        *,
        dispatching: Dispatching = DEFAULT,
        format: LogFormat | None = None,
        log_format: str | None = None,
        bad_rows: BadRows = "stop",
        shared: bool = False,
    ) -> None:
        super().__init__(EventReader(format, log_format, skip=bad_rows == "skip", shared=shared), dispatching)
        self._logs = logs
        self._plain = format in (None, LogFormat.TEXT) and log_format is None
        self._sources: list[Source] = []
        self._merged = False
        self._done = 0
        self._total: int | None = None

    def open(self, specs: Sequence[Spec], run: MonitoredRun, on_verdict: OnVerdict) -> None:
        """Find the logs, and open the monitors of these specs."""
        for log in self._logs:
            self._sources += expand([log]) if isinstance(log, str) else [log]
        self._names = [source.name for source in self._sources]
        self._total = total_size(self._sources)
        if self._dispatching.roots == "auto" and self._plain:
            self._dispatching = replace(self._dispatching, is_root=find_roots(self._sources))
        super().open(specs, run, on_verdict)
        self.session.learn(lambda: functions_in(self._sources, self._reader))
        self._merged = len(self._sources) > 1 and not all(map(is_hml, specs))

    def _open_blocks(self) -> Blocks:
        if self._merged:
            return merged_blocks(self._sources, self._reader, self._note)
        return read_blocks(self._sources, self._note)

    def _note(self, count: int) -> None:
        self._done += count

    @property
    def progress(self) -> tuple[int, int | None]:
        """Bytes read, and bytes in all."""
        return self._done, self._total


class FollowedLog(ComponentLog):
    """A log, followed as it grows until `stop` is set or a signal comes. It need not be there yet."""

    endless = obedient = True

    def __init__(
        self,
        log: Path,
        *,
        dispatching: Dispatching = DEFAULT,
        format: LogFormat | None = None,
        log_format: str | None = None,
        bad_rows: BadRows = "stop",
        stop: threading.Event | None = None,
        poll_s: float = POLL_S,
    ) -> None:
        super().__init__(EventReader(format, log_format, skip=bad_rows == "skip"), dispatching)
        self._names = [str(log)]
        self._follow: Callable[[], Blocks] = lambda: follow_blocks(log, stop, poll_s)

    def _open_blocks(self) -> Blocks:
        return self._follow()


class SharedLog(ComponentLog):
    """The components in a log of JSON lines that something else follows, too, and hands over piece by piece."""

    endless = obedient = True

    def __init__(self, log: Path, *, dispatching: Dispatching = DEFAULT, bad_rows: BadRows = "stop") -> None:
        super().__init__(EventReader(LogFormat.JSONL, skip=bad_rows == "skip", shared=True), dispatching)
        self._names = [str(log)]
        self._line = 1
        self._waiting: deque[LogBlock] = deque()

    def hear(self, lines: bytes, begins: bool) -> None:
        """Take some whole lines. `begins`: they are the first of a file."""
        self._line = 1 if begins else self._line
        self._waiting.append(LogBlock(self._names[0], self._line, lines, begins))
        self._line += lines.count(b"\n")

    def blocks(self) -> Iterator[LogBlock | MergedBlock]:
        """Give what waits."""
        while self._waiting:
            yield self._waiting.popleft()


class ToldLines(ComponentLog):
    """Lines of text that come in `pieces` from what is called `name`. Interrupted or not, the run ends with them."""

    endless = True

    def __init__(self, name: str, pieces: Iterable[bytes], *, dispatching: Dispatching = DEFAULT) -> None:
        super().__init__(EventReader(LogFormat.TEXT), dispatching)
        self._names = [name]
        self._pieces = pieces

    def _open_blocks(self) -> Blocks:
        return live_blocks(self._names[0], self._pieces)


def _counts(account: Account) -> ComponentCounts:
    return ComponentCounts(
        account.component,
        None if account.function is None else show_function(account.function),
        account.selected,
        {kind.value: account.events[kind] for kind in Kind},
    )


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
