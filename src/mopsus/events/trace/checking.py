"""Stage 4: check recorded traces, or a log that is still being written, against specs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from mopsus.events.trace.batches import TraceBatch
from mopsus.events.trace.columns import ColumnType
from mopsus.events.trace.follow import POLL_S
from mopsus.events.trace.keeping import Keeper
from mopsus.events.trace.needs import TIME, ColumnTypes, needs_of
from mopsus.events.trace.read import TraceReader
from mopsus.events.trace.session import BadRows, Counts, OnVerdict, OpenMonitor, Session, TraceMonitor
from mopsus.events.trace.sources import Format, Source, expand
from mopsus.events.trace.tail import LogReader
from mopsus.model import LENIENT, Diagnostic, Silence, Spec, TraceError, Unseen, Verdict
from mopsus.model.limits import HISTORY
from mopsus.monitor.errors import ClosedError
from mopsus.stopping import STOPPING


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a check is. `bytes_total` is None when a trace has no known size."""

    rows: int
    bytes_done: int
    bytes_total: int | None


@dataclass(slots=True)
class CheckResult:
    """What a run found beside its verdicts."""

    sources: list[str] = field(default_factory=list)
    """The traces, as verdicts call them."""
    stats: dict[str, Counts] = field(default_factory=dict)
    """Each spec's own counts, as its monitor gives them."""
    rows: int = 0
    ignored: int = 0
    """Rows that are no event of any spec."""
    violations: int = 0
    bad_rows: int = 0
    """Rows that were left out; one that several specs could not use counts once for each."""
    bad: list[TraceError] = field(default_factory=list)
    """The first few of them."""
    warnings: list[Diagnostic] = field(default_factory=list)
    unseen: list[Unseen] = field(default_factory=list)
    """What it could not see, or never saw."""
    error: TraceError | None = None
    """What stopped the run early; everything before it was processed."""
    interrupted: bool = False
    torn: bool = False
    """It was interrupted, or left, in the midst of a block, so that the monitors may stand at different rows."""
    full: bool = False
    """The run ended because it had found as many violations as were asked for."""
    elapsed_s: float = 0.0


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
) -> CheckResult:
    """Check the traces, as one sequence in the order given, against all the specs at once.

    `on_verdict` hears every verdict, in this thread, in the order of the rows; only where a block of rows gives more
    than a thousand verdicts, the further ones come spec by spec. What it raises ends the run and is raised here. A bad
    row or an unreadable file ends the run too: the result then has the `error`, and everything before it was
    processed. So does Ctrl-C.
    """
    sources = [source for trace in traces for source in (expand([trace]) if isinstance(trace, str) else [trace])]
    run = _TraceRun(specs, open_monitor or monitors_for(history, allow_code), on_verdict, bad_rows, max_violations)
    with closing(run), TraceReader(sources, needs_of(specs), format=format, skip=bad_rows == "skip") as reader:
        run.go(reader, lambda rows: progress and progress(Progress(rows, reader.bytes_done, reader.bytes_total)))
        result = run.end(reader)
    result.sources = [source.name for source in sources]
    result.warnings += [Diagnostic("TRACE-007", f"{name} is empty", warning=True) for name in reader.empty]
    return result


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
) -> CheckResult:
    """Follow a CSV or JSON-lines file as it grows, until `stop` is set, Ctrl-C, or an error.

    The file is read from its beginning and need not be there yet. With a `keeper` it is read from where an earlier run
    ended, however that did. The rest is as in `check`, except that a Ctrl-C leaves nothing incomplete, and
    that it ends at once if an event cannot occur in the log and that is refused.
    """
    run = _TraceRun(specs, open_monitor or monitors_for(history, allow_code), on_verdict, bad_rows, max_violations)
    with closing(run), ExitStack() as ends:
        reader = LogReader(log, needs_of(specs), format=format, skip=bad_rows == "skip", stop=stop, poll_s=poll_s)
        if keeper is not None:
            ends.callback(keeper.close)
            reader.settled = keeper.consider
            run.outcome.warnings += keeper.begin(reader, run.session)
        run.go(_while_seeing(reader, specs, silence), obedient=True)
        if keeper is not None and reader.is_settled:
            run.conclude(keeper.keep)
        warnings = [*(_unread(reader.unread, str(log)) if run.outcome.interrupted else ())]
        if reader.lost:
            message = f"the place where the last run stopped reading {log} was not found: rows may be missing"
            warnings.append(Diagnostic("TRACE-013", message, hint="keep rotated files for longer", warning=True))
        run.outcome.interrupted = False  # it is the way to end
        result = run.end(reader, warnings)
    result.sources = [str(log)]
    return result


def _while_seeing(reader: LogReader, specs: Sequence[Spec], silence: Silence) -> Iterator[TraceBatch]:
    """The batches, unless the first shows that there is nothing to wait for."""
    known = False
    for batch in reader:
        if not known and any(map(silence.refuses, reader.survey.impossible(specs))):
            return
        known = True
        yield batch


def monitors_for(history: int, allow_code: bool) -> OpenMonitor:
    """How to open a monitor, if nothing else is said."""
    from mopsus.monitor import Monitor  # the core is loaded only when something is to be monitored

    def open_monitor(spec: Spec, on_verdict: OnVerdict) -> TraceMonitor:
        return Monitor(spec, on_verdict=on_verdict, history=history, allow_code=allow_code)

    return open_monitor


Block = TypeVar("Block", contravariant=True)
Item = TypeVar("Item")


class FedSession(Protocol[Block]):
    """What a run feeds: the monitors of its specs."""

    @property
    def rows(self) -> int: ...

    @property
    def ignored(self) -> int: ...

    @property
    def bad_rows(self) -> int: ...

    @property
    def stats(self) -> Mapping[str, Counts]: ...

    def feed(self, block: Block, /) -> None: ...

    def close(self) -> None: ...


class Run(Generic[Block]):
    """What all checks have in common: counting verdicts, and every way to end early."""

    def __init__(
        self,
        on_verdict: OnVerdict,
        max_violations: int | None,
        open_session: Callable[[OnVerdict], FedSession[Block]],
        outcome: CheckResult | None = None,
    ) -> None:
        self._on_verdict = on_verdict
        self._max_violations = max_violations
        self._started = time.perf_counter()
        self._failure: BaseException | None = None
        self.outcome = outcome or CheckResult()
        self.session = open_session(self._take)

    def close(self) -> None:
        """Close the monitors."""
        self.session.close()

    def _take(self, verdict: Verdict) -> None:
        if self.outcome.full or self.outcome.torn or self._failure is not None:
            return  # the monitor goes on to the end of its batch
        if STOPPING.is_overdue():
            self.outcome.torn = True
            return
        try:
            self._on_verdict(verdict)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            # A monitor only logs what its callback raises, but whoever called us wants to know.
            self._failure = error
            return
        self.outcome.violations += verdict.violation
        self.outcome.full = self.outcome.violations == self._max_violations

    def go(
        self,
        blocks: Iterable[Block],
        report: Callable[[int], object] = lambda rows: None,
        *,
        obedient: bool = False,
    ) -> None:
        """Feed the blocks until they end, or something ends them. Those that are `obedient` end by themselves when a
        signal has come, with what was there before it; others are interrupted while they are waited for."""
        try:
            with STOPPING.taking_interrupts():
                try:
                    self._go(blocks if obedient else _interruptible(blocks), report, obedient=obedient)
                finally:
                    if STOPPING.is_set():
                        self.outcome.interrupted = True
                        STOPPING.heed()
        except TraceError as error:
            self.outcome.error = None if self.outcome.interrupted else error
        except ClosedError:  # by whoever has opened the monitors, and knows why
            self.outcome.full = True
        except KeyboardInterrupt:
            self.outcome.interrupted = True
        except BaseException as wish:
            self._heed(wish)

    def _heed(self, wish: BaseException) -> None:
        """Only a program can be left; a run that the code of a spec leaves has not seen everything."""
        if isinstance(wish, Exception) or wish is self._failure:
            raise wish
        told = f"SystemExit({wish.code!r})" if isinstance(wish, SystemExit) else type(wish).__name__
        hint = "let the verdict speak for itself, or stop after the first by --max-violations 1"
        self.outcome.error = TraceError(f"code of a spec has left the run: {told}", hint=hint, code="TRACE-015")

    def _go(self, blocks: Iterable[Block], report: Callable[[int], object], *, obedient: bool) -> None:
        with STOPPING.deferred():
            for block in blocks:
                try:
                    self._feed(block)
                except BaseException as error:
                    self.outcome.torn = self.outcome.torn or not isinstance(error, Exception)
                    raise
                report(self.session.rows)
                if self.outcome.full or self.outcome.torn or (STOPPING.is_overdue() and not obedient):
                    break

    def conclude(self, action: Callable[[], None]) -> None:
        """Do what is left when all blocks have been fed."""
        try:
            action()
        except TraceError as error:
            self.outcome.error = error
        except ClosedError:
            self.outcome.full = True
        except KeyboardInterrupt:
            raise
        except BaseException as wish:
            self._heed(wish)
        if self._failure is not None:
            raise self._failure

    def _feed(self, block: Block) -> None:
        self.session.feed(block)
        if self._failure is not None:
            raise self._failure

    @property
    def broken_off(self) -> bool:
        """Did it end before its time? It then says why; that an event might still have come is no news."""
        return self.outcome.error is not None or self.outcome.interrupted or self.outcome.full

    def finish(self, bad_rows: int, bad: list[TraceError], warnings: Iterable[Diagnostic] = ()) -> CheckResult:
        """What has come of it all. `bad_rows` are those that no monitor has seen, `bad` the first of them."""
        outcome, session = self.outcome, self.session
        outcome.elapsed_s = time.perf_counter() - self._started
        outcome.rows, outcome.ignored = session.rows, session.ignored
        if outcome.torn:  # some rows of the last block were taken
            outcome.rows = max(outcome.rows, *(sum(counts.seen.values()) for counts in session.stats.values()))
        outcome.bad_rows = bad_rows + session.bad_rows
        outcome.bad = bad
        outcome.stats = dict(session.stats)
        outcome.warnings += warnings
        if outcome.bad_rows:
            outcome.warnings.append(_skipped(outcome))
        if outcome.violations == self._max_violations:
            found = "the first violation" if outcome.violations == 1 else f"{outcome.violations:,} violations"
            message = f"stopped after {found}; there may be more"
            outcome.warnings.append(Diagnostic("TRACE-010", message, warning=True))
        return outcome


def _interruptible(blocks: Iterable[Item]) -> Iterator[Item]:
    stream = iter(blocks)
    while True:
        with STOPPING.interruptible():
            block = next(stream, None)
        if block is None:
            return
        yield block


class _TraceRun(Run[TraceBatch]):
    """A run over traces."""

    session: Session

    def __init__(
        self,
        specs: Sequence[Spec],
        open_monitor: OpenMonitor,
        on_verdict: OnVerdict,
        bad_rows: BadRows,
        max_violations: int | None,
    ) -> None:
        super().__init__(on_verdict, max_violations, lambda take: Session(specs, open_monitor, take, bad_rows))

    def end(self, reader: TraceReader | LogReader, warnings: Iterable[Diagnostic] = ()) -> CheckResult:
        """What has come of it, and of what was read."""
        result = self.finish(reader.builder.bad_rows, reader.builder.bad, [*_untimed(reader.types), *warnings])
        if not self.broken_off:
            result.unseen = self.session.unseen(reader.survey, reader.builder.left_out)
        return result


def _untimed(types: ColumnTypes) -> list[Diagnostic]:
    if types.decided(TIME) in (None, ColumnType.INT, ColumnType.FLOAT):
        return []
    message = f"column `{TIME}` holds no numbers, so verdicts have no time"
    return [Diagnostic("TRACE-008", message, hint="write times as numbers, say seconds", warning=True)]


def _unread(size: int, log: str) -> list[Diagnostic]:
    if not size:
        return []
    message = f"{log} was not read to its end: {size:,} bytes are left"
    return [Diagnostic("TRACE-012", message, hint="a later run can go on there with `--state`", warning=True)]


def _skipped(outcome: CheckResult) -> Diagnostic:
    rows = "1 bad row was" if outcome.bad_rows == 1 else f"{outcome.bad_rows:,} bad rows were"
    which = ": " if outcome.bad_rows == 1 else ", for example "
    example = f"{which}{outcome.bad[0].message}" if outcome.bad else ""
    return Diagnostic("TRACE-009", f"{rows} left out{example}", warning=True)
