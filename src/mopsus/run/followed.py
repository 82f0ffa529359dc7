"""A log that is followed as it grows: a source of events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mopsus.events.feeding import BlockSource
from mopsus.events.trace import Format
from mopsus.events.trace.checking import FollowedTrace
from mopsus.model import LENIENT, Silence, TraceError
from mopsus.run.recorded import LogReading, log_format, trace_format
from mopsus.run.source import SourceKind
from mopsus.spec.component import about_components

if TYPE_CHECKING:
    from mopsus.events.component.log.checking import SharedLog
    from mopsus.events.feeding import BlockInput, MonitoredRun, OnVerdict
    from mopsus.events.trace.follow import Whole
    from mopsus.events.trace.keeping import Keeper
    from mopsus.model import Diagnostic, RunResult, Spec


class Followed(BlockSource):
    """One log, from its beginning or from where an earlier run has kept the state, until a signal comes."""

    def __init__(
        self,
        specs: Iterable[Spec],
        log: Path,
        how: LogReading,
        *,
        max_violations: int | None = None,
        keeper: Keeper | None = None,
        silence: Silence = LENIENT,
    ) -> None:
        about = {about_components(spec) for spec in specs}
        if about == {True, False}:
            read: BlockInput = FollowedBoth(log, how, silence)
        elif about == {True}:
            read = _component_log(log, how)
        else:
            format = trace_format(how.format)
            read = FollowedTrace(log, format=format, bad_rows=how.bad_rows, keeper=keeper, silence=silence)
        super().__init__(read, max_violations=max_violations)


def _component_log(log: Path, how: LogReading) -> BlockInput:
    from mopsus.events.component.log.checking import DEFAULT, FollowedLog

    return FollowedLog(
        log,
        dispatching=how.dispatching or DEFAULT,
        format=log_format(how.format),
        log_format=how.log_format,
        bad_rows=how.bad_rows,
    )


class FollowedBoth:
    """A log of JSON lines, any object of which may be a row or an event of components. It is read once for both."""

    endless = obedient = True

    def __init__(self, log: Path, how: LogReading, silence: Silence) -> None:
        from mopsus.events.component.log.checking import DEFAULT, SharedLog

        self._log = log
        self._components: SharedLog = SharedLog(log, dispatching=how.dispatching or DEFAULT, bad_rows=how.bad_rows)
        format = None if how.format is None else Format.JSONL
        self._rows = FollowedTrace(log, format=format, bad_rows=how.bad_rows, silence=silence, heard=self._hear)
        if how.format not in (None, Format.JSONL) or how.log_format is not None:
            raise self._refusal()

    def _hear(self, whole: Whole, format: Format | None) -> None:
        if format is not Format.JSONL:
            raise self._refusal()
        self._components.hear(whole.rows, whole.begins)

    def _refusal(self) -> TraceError:
        hint = "follow it once for the specs about components, and once for the others"
        message = "rows and components are followed together in JSON lines only"
        return TraceError(message, file=str(self._log), hint=hint, code="TRACE-004")

    def gives(self, spec: Spec) -> bool:
        """Return whether events of this spec can be in such a log."""
        return True

    def open(self, specs: Sequence[Spec], run: MonitoredRun, on_verdict: OnVerdict) -> None:
        """Open all monitors, and the log."""
        self._components.open([spec for spec in specs if about_components(spec)], run, on_verdict)
        self._rows.open([spec for spec in specs if not about_components(spec)], run, on_verdict)

    def blocks(self) -> Iterator[tuple[BlockInput, Any]]:
        """Give the components of each piece of the log, and then its rows."""
        for batch in self._rows.blocks():
            yield from ((self._components, block) for block in self._components.blocks())
            yield self._rows, batch
        yield from ((self._components, block) for block in self._components.blocks())

    def feed(self, block: tuple[BlockInput, Any]) -> None:
        """Let the monitors have a block."""
        read, part = block
        read.feed(part)

    def finish(self, result: RunResult, *, interrupted: bool) -> None:
        """Give out what waited."""
        self._components.finish(result, interrupted=interrupted)
        self._rows.finish(result, interrupted=interrupted)

    def tell(self, result: RunResult) -> None:
        """Add what was counted, and what was not seen."""
        self._components.tell(result)
        self._rows.tell(result)

    def empty(self, result: RunResult) -> Iterable[Diagnostic]:
        """A log may still have everything before it."""
        return ()

    @property
    def rows(self) -> int:
        """Events so far."""
        return self._components.rows + self._rows.rows

    @property
    def progress(self) -> tuple[int, int | None]:
        """Nobody knows how long it will get."""
        return 0, None

    def close(self) -> None:
        """Close the log and all monitors."""
        with ExitStack() as stack:
            stack.callback(self._components.close)
            stack.callback(self._rows.close)


SOURCE = SourceKind("followed", "a log, as it grows", Followed)
