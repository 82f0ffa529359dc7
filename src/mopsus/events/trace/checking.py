"""Stage 4: check recorded traces, or a log that is still being written, against specs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from mopsus.events.feeding import BareRun, BlockSource, MonitoredRun, Progress, feed_alone
from mopsus.events.trace.batches import TraceBatch
from mopsus.events.trace.columns import ColumnType
from mopsus.events.trace.follow import POLL_S, Whole
from mopsus.events.trace.keeping import Keeper
from mopsus.events.trace.needs import TIME, ColumnTypes, needs_of
from mopsus.events.trace.read import TraceReader
from mopsus.events.trace.session import BadRows, OnVerdict, OpenMonitor, Session, TraceMonitor
from mopsus.events.trace.sources import Format, Source, expand
from mopsus.events.trace.tail import LogReader
from mopsus.model import LENIENT, Diagnostic, RunResult, Silence, Spec
from mopsus.model.limits import HISTORY
from mopsus.spec.component import about_components


def check(
    specs: Sequence[Spec],
    traces: Sequence[str | Source],
    *,
    on_verdict: OnVerdict,
    history: int = HISTORY,
    bad_rows: BadRows = "stop",
    max_violations: int | None = None,
    format: Format | None = None,
    allow_code: bool = True,
    progress: Callable[[Progress], None] | None = None,
    open_monitor: OpenMonitor | None = None,
) -> RunResult:
    """Check the traces, as one sequence in the order given, against all the specs at once.

    `on_verdict` hears every verdict, in this thread, in the order of the rows; only where a block of rows gives more
    than a thousand verdicts, the further ones come spec by spec. What it raises ends the run and is raised here. A bad
    row or an unreadable file ends the run too: the result then has the `error`, and everything before it was
    processed. So does Ctrl-C.
    """
    traced = Traces(traces, format=format, bad_rows=bad_rows)
    run = BareRun(specs, open_monitor or monitors_for(history, allow_code), on_verdict)
    return feed_alone(BlockSource(traced, max_violations=max_violations, progress=progress), run)


def watch(
    specs: Sequence[Spec],
    log: Path,
    *,
    on_verdict: OnVerdict,
    history: int = HISTORY,
    bad_rows: BadRows = "stop",
    max_violations: int | None = None,
    format: Format | None = None,
    allow_code: bool = True,
    stop: threading.Event | None = None,
    poll_s: float = POLL_S,
    open_monitor: OpenMonitor | None = None,
    keeper: Keeper | None = None,
    silence: Silence = LENIENT,
) -> RunResult:
    """Follow a CSV or JSON-lines file as it grows, until `stop` is set, Ctrl-C, or an error.

    The file is read from its beginning and need not be there yet. With a `keeper` it is read from where an earlier run
    ended, however that did. The rest is as in `check`, except that a Ctrl-C leaves nothing incomplete, and
    that it ends at once if an event cannot occur in the log and that is refused.
    """
    followed = FollowedTrace(
        log, format=format, bad_rows=bad_rows, stop=stop, poll_s=poll_s, keeper=keeper, silence=silence
    )
    run = BareRun(specs, open_monitor or monitors_for(history, allow_code), on_verdict)
    return feed_alone(BlockSource(followed, max_violations=max_violations), run)


def monitors_for(history: int, allow_code: bool) -> OpenMonitor:
    """How to open a monitor, if nothing else is said."""
    from mopsus.monitor import Monitor  # the core is loaded only when something is to be monitored

    def open_monitor(spec: Spec, on_verdict: OnVerdict) -> TraceMonitor:
        return Monitor(spec, on_verdict=on_verdict, history=history, allow_code=allow_code)

    return open_monitor


class Traces:
    """Recorded traces, read as one sequence."""

    endless = obedient = False

    def __init__(
        self, traces: Sequence[str | Source], *, format: Format | None = None, bad_rows: BadRows = "stop"
    ) -> None:
        self._traces, self._format, self._bad_rows = traces, format, bad_rows
        self._sources: list[Source] = []
        self._ends = ExitStack()
        self._session: Session
        self._reader: TraceReader

    def gives(self, spec: Spec) -> bool:
        """Return whether events of this spec can be rows."""
        return not about_components(spec)

    def open(self, specs: Sequence[Spec], run: MonitoredRun, on_verdict: OnVerdict) -> None:
        """Find the traces, open the monitors of these specs, and begin to read."""
        for trace in self._traces:
            self._sources += expand([trace]) if isinstance(trace, str) else [trace]
        self._session = Session(specs, run.open_monitor, on_verdict, self._bad_rows)
        self._ends.callback(self._session.close)
        skip = self._bad_rows == "skip"
        self._reader = TraceReader(self._sources, needs_of(specs), format=self._format, skip=skip)
        self._ends.callback(self._reader.close)

    def blocks(self) -> Iterator[TraceBatch]:
        """Give the batches in order."""
        return iter(self._reader)

    def feed(self, batch: TraceBatch) -> None:
        """Let the monitors see a batch."""
        self._session.feed(batch)

    def finish(self, result: RunResult, *, interrupted: bool) -> None:
        """Nothing is left to do when all was read."""

    def tell(self, result: RunResult) -> None:
        """Add what was counted, and what was not seen, to the result."""
        _tell(result, self._session, self._reader, [source.name for source in self._sources])

    def empty(self, result: RunResult) -> Iterable[Diagnostic]:
        """Name the traces without a single byte."""
        return [Diagnostic("TRACE-007", f"{name} is empty", warning=True) for name in self._reader.empty]

    @property
    def rows(self) -> int:
        """Rows so far."""
        return self._session.rows

    @property
    def progress(self) -> tuple[int, int | None]:
        """Bytes read, and bytes in all."""
        return self._reader.bytes_done, self._reader.bytes_total

    def close(self) -> None:
        """Stop reading, and close the monitors."""
        self._ends.close()


class FollowedTrace:
    """A CSV or JSON-lines file, followed as it grows."""

    endless = obedient = True

    def __init__(
        self,
        log: Path,
        *,
        format: Format | None = None,
        bad_rows: BadRows = "stop",
        stop: threading.Event | None = None,
        poll_s: float = POLL_S,
        keeper: Keeper | None = None,
        silence: Silence = LENIENT,
        heard: Callable[[Whole, Format | None], object] = lambda whole, format: None,
    ) -> None:
        self._log, self._format, self._bad_rows = log, format, bad_rows
        self._stop, self._poll_s = stop, poll_s
        self._keeper, self._silence = keeper, silence
        self._heard = heard
        self._ends = ExitStack()
        self._specs: Sequence[Spec] = ()
        self._unread = 0
        self._went_on: list[Diagnostic] = []
        self._session: Session
        self._reader: LogReader

    def gives(self, spec: Spec) -> bool:
        """Return whether events of this spec can be rows."""
        return not about_components(spec)

    def open(self, specs: Sequence[Spec], run: MonitoredRun, on_verdict: OnVerdict) -> None:
        """Open the monitors of these specs, as they stood when an earlier run ended if their state was kept."""
        self._specs = specs
        self._session = Session(specs, run.open_monitor, on_verdict, self._bad_rows)
        self._ends.callback(self._session.close)
        self._reader = LogReader(
            self._log,
            needs_of(specs),
            format=self._format,
            skip=self._bad_rows == "skip",
            stop=self._stop,
            poll_s=self._poll_s,
        )
        self._reader.heard = self._heard
        if self._keeper is not None:
            self._ends.callback(self._keeper.close)
            self._reader.settled = self._keeper.consider
            self._went_on += self._keeper.begin(self._reader, self._session)

    def blocks(self) -> Iterator[TraceBatch]:
        """Give the batches, unless the first shows that there is nothing to wait for."""
        known = False
        for batch in self._reader:
            if not known and any(map(self._silence.refuses, self._reader.survey.impossible(self._specs))):
                return
            known = True
            yield batch

    def feed(self, batch: TraceBatch) -> None:
        """Let the monitors see a batch."""
        self._session.feed(batch)

    def finish(self, result: RunResult, *, interrupted: bool) -> None:
        """Keep the state."""
        self._unread = self._reader.unread if interrupted else 0
        if self._keeper is not None and self._reader.is_settled:
            self._keeper.keep()

    def tell(self, result: RunResult) -> None:
        """Add what was counted, and what was not seen, to the result."""
        result.warnings += self._went_on
        warnings = _left(self._unread, str(self._log))
        if self._reader.lost:
            message = f"the place where the last run stopped reading {self._log} was not found: rows may be missing"
            warnings.append(Diagnostic("TRACE-013", message, hint="keep rotated files for longer", warning=True))
        _tell(result, self._session, self._reader, [str(self._log)], warnings)

    def empty(self, result: RunResult) -> Iterable[Diagnostic]:
        """A log may still have everything before it."""
        return ()

    @property
    def rows(self) -> int:
        """Rows so far."""
        return self._session.rows

    @property
    def progress(self) -> tuple[int, int | None]:
        """Nobody knows how long it will get."""
        return 0, None

    def close(self) -> None:
        """Let others have the state, and close the monitors."""
        self._ends.close()


def _tell(
    result: RunResult,
    session: Session,
    reader: TraceReader | LogReader,
    names: Sequence[str],
    warnings: Iterable[Diagnostic] = (),
) -> None:
    result.sources += names
    result.rows += session.rows
    result.ignored += session.ignored
    result.bad_rows += reader.builder.bad_rows + session.bad_rows
    result.bad += reader.builder.bad
    result.stats.update(session.stats)
    result.warnings += [*_untimed(reader.types), *warnings]
    if not result.broken_off:
        result.unseen += session.unseen(reader.survey, reader.builder.left_out)


def _untimed(types: ColumnTypes) -> list[Diagnostic]:
    if types.decided(TIME) in (None, ColumnType.INT, ColumnType.FLOAT):
        return []
    message = f"column `{TIME}` holds no numbers, so verdicts have no time"
    return [Diagnostic("TRACE-008", message, hint="write times as numbers, say seconds", warning=True)]


def _left(size: int, log: str) -> list[Diagnostic]:
    if not size:
        return []
    message = f"{log} was not read to its end: {size:,} bytes are left"
    return [Diagnostic("TRACE-012", message, hint="a later run can go on there with `--state`", warning=True)]
