"""Stage 4: give what is recorded, or comes in, to monitors: one loop for traces and logs, with every way to end early.

A `BlockInput` reads one kind of input and knows the monitors that it feeds. `BlockSource` is the source of a run over
one or several of them: verdicts are counted in one place, and a signal, a limit or a bad row ends all at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar

from mopsus.model import Diagnostic, RunResult, Spec, TraceError, Verdict
from mopsus.monitor.errors import ClosedError
from mopsus.stopping import STOPPING

Item = TypeVar("Item")
OnVerdict: TypeAlias = "Callable[[Verdict], None]"


class MonitoredRun(Protocol):
    """What a source is given: the specs of the run, what opens their monitors, and where verdicts go."""

    @property
    def specs(self) -> Mapping[str, Spec]:
        """By name."""

    # The monitor is of the kind that the source feeds; `mopsus.monitor.Monitor` is all of them.
    def open_monitor(self, spec: Spec, on_verdict: OnVerdict) -> Any:  # noqa: ANN401
        """Return a monitor of one of the specs."""

    def take(self, verdict: Verdict) -> None:
        """Take a verdict."""


@dataclass(frozen=True, slots=True)
class BareRun:
    """A run without reports: some specs, and a function for their verdicts."""

    listed: Sequence[Spec]
    open: Callable[[Spec, OnVerdict], Any]
    on_verdict: OnVerdict

    @property
    def specs(self) -> Mapping[str, Spec]:
        return {spec.name: spec for spec in self.listed}

    def open_monitor(self, spec: Spec, on_verdict: OnVerdict) -> Any:  # noqa: ANN401 - as above
        return self.open(spec, on_verdict)

    def take(self, verdict: Verdict) -> None:
        self.on_verdict(verdict)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a check is. `bytes_total` is None when a trace has no known size."""

    rows: int
    bytes_done: int
    bytes_total: int | None


class BlockInput(Protocol):
    """Input of one kind, in blocks, and the monitors that are fed with it.

    `open` comes first and `close` last, whatever happens between; `close` may come without `open`.
    """

    endless: bool
    """Is a signal the way to end it? Such a run is not interrupted by one."""
    obedient: bool
    """Does it end by itself when a signal has come, with what was there before it?"""

    def gives(self, spec: Spec) -> bool:
        """Return whether events of this spec can be in such input."""

    def open(self, specs: Sequence[Spec], run: MonitoredRun, on_verdict: OnVerdict) -> None:
        """Open the monitors of these specs, and the input."""

    def blocks(self) -> Iterator[Any]:
        """Give the blocks in order; `TraceError` where the input cannot be read on."""

    def feed(self, block: Any) -> None:  # noqa: ANN401 - each kind has its own blocks
        """Let the monitors see a block."""

    def finish(self, result: RunResult, *, interrupted: bool) -> None:
        """Do what is left when no more blocks come; the result says whether that was the end of the input."""

    def tell(self, result: RunResult) -> None:
        """Add what was counted, and what was not seen, to the result."""

    def empty(self, result: RunResult) -> Iterable[Diagnostic]:
        """Say what had nothing in it."""

    @property
    def rows(self) -> int:
        """Events so far."""

    @property
    def progress(self) -> tuple[int, int | None]:
        """Bytes read, and bytes in all."""

    def close(self) -> None:
        """Close the input and the monitors. Safe to call twice."""


class BlockSource:
    """The source of a run over inputs. Their blocks are taken in turn, so verdicts come nearly in order."""

    def __init__(
        self,
        *inputs: BlockInput,
        max_violations: int | None = None,
        progress: Callable[[Progress], object] | None = None,
        lacking: str = "what is read has no such events",
    ) -> None:
        self.inputs: Sequence[BlockInput] = inputs
        self.result = RunResult()
        self._max_violations = max_violations
        self._progress = progress
        self._lacking = lacking
        self._started = time.perf_counter()
        self._failure: BaseException | None = None
        self._run: MonitoredRun

    @property
    def endless(self) -> bool:
        """Is a signal the way to end it?"""
        return any(one.endless for one in self.inputs)

    def why_not(self, spec: Spec) -> str:
        """Return why events of this spec cannot come from here; nothing if they can."""
        if any(one.gives(spec) for one in self.inputs):
            return ""
        return self._lacking

    def open(self, run: MonitoredRun) -> None:
        """Open the monitors, and what is read."""
        self._started = time.perf_counter()
        self._run = run
        for one in self.inputs:
            specs = [spec for spec in run.specs.values() if one.gives(spec)]
            one.open(specs, run, self._take)

    def close(self) -> None:
        """Close the input and the monitors."""
        with ExitStack() as stack:
            for one in self.inputs:
                stack.callback(one.close)

    def _take(self, verdict: Verdict) -> None:
        result = self.result
        if result.full or result.torn or self._failure is not None:
            return  # the monitor goes on to the end of its batch
        if STOPPING.is_overdue():
            result.torn = True
            return
        try:
            self._run.take(verdict)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            # A monitor only logs what its callback raises, but whoever called us wants to know.
            self._failure = error
            return
        result.violations += verdict.violation
        result.full = result.violations == self._max_violations

    def feed(self) -> None:
        """Feed the blocks until they end, or something ends them."""
        obedient = all(one.obedient for one in self.inputs)
        blocks = _taking_turns([(each, each.blocks()) for each in self.inputs])
        # Those that are obedient end by themselves when a signal has come; others are interrupted while waited for.
        self._guarded(lambda: self._go(blocks if obedient else _interruptible(blocks), obedient=obedient))
        interrupted = self.result.interrupted
        self.result.interrupted = interrupted and not self.endless
        for one in self.inputs:
            self._conclude(one, interrupted)
        if self._failure is not None:
            raise self._failure

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            with STOPPING.taking_interrupts():
                try:
                    work()
                finally:
                    if STOPPING.is_set():
                        self.result.interrupted = True
                        STOPPING.heed()
        except TraceError as error:
            self.result.error = None if self.result.interrupted else error
        except ClosedError:  # by whoever has opened the monitors, and knows why
            self.result.full = True
        except KeyboardInterrupt:
            self.result.interrupted = True
        except BaseException as wish:
            self._heed(wish)

    def _heed(self, wish: BaseException) -> None:
        """Only a program can be left; a run that the code of a spec leaves has not seen everything."""
        if isinstance(wish, Exception) or wish is self._failure:
            raise wish
        told = f"SystemExit({wish.code!r})" if isinstance(wish, SystemExit) else type(wish).__name__
        hint = "let the verdict speak for itself, or stop after the first by --max-violations 1"
        self.result.error = TraceError(f"code of a spec has left the run: {told}", hint=hint, code="TRACE-015")

    def _go(self, blocks: Iterable[tuple[BlockInput, Any]], *, obedient: bool) -> None:
        result = self.result
        with STOPPING.deferred():
            for one, block in blocks:
                try:
                    one.feed(block)
                    if self._failure is not None:
                        raise self._failure
                except BaseException as error:
                    result.torn = result.torn or not isinstance(error, Exception)
                    raise
                if self._progress is not None:
                    self._progress(self._so_far())
                if result.full or result.torn or (STOPPING.is_overdue() and not obedient):
                    break

    def _so_far(self) -> Progress:
        done = [one.progress for one in self.inputs]
        sizes = [total for _, total in done]
        total = None if None in sizes else sum(size or 0 for size in sizes)
        return Progress(sum(one.rows for one in self.inputs), sum(each for each, _ in done), total)

    def _conclude(self, one: BlockInput, interrupted: bool) -> None:
        try:
            one.finish(self.result, interrupted=interrupted)
        except TraceError as error:
            self.result.error = error
        except ClosedError:
            self.result.full = True
        except KeyboardInterrupt:
            raise
        except BaseException as wish:
            self._heed(wish)

    def end(self) -> RunResult:
        """Return what has come of it all."""
        result = self.result
        result.elapsed_s = time.perf_counter() - self._started
        for one in self.inputs:
            one.tell(result)
        result.sources = list(dict.fromkeys(result.sources))
        if result.torn:  # some rows of the last block were taken
            result.rows = max(result.rows, *(sum(counts.seen.values()) for counts in result.stats.values()))
        if result.bad_rows:
            result.warnings.append(_skipped(result))
        if result.violations == self._max_violations:
            found = "the first violation" if result.violations == 1 else f"{result.violations:,} violations"
            message = f"stopped after {found}; there may be more"
            result.warnings.append(Diagnostic("TRACE-010", message, warning=True))
        for one in self.inputs:
            result.warnings += one.empty(result)
        return result


def feed_alone(source: BlockSource, run: MonitoredRun) -> RunResult:
    """Run a source to its end, for whoever needs neither reports nor an exit status."""
    try:
        source.open(run)
        source.feed()
        return source.end()
    finally:
        source.close()


def _taking_turns(streams: Sequence[tuple[BlockInput, Iterator[Any]]]) -> Iterator[tuple[BlockInput, Any]]:
    waiting = list(streams)
    while waiting:
        left = []
        for one, blocks in waiting:
            for block in blocks:
                yield one, block
                left.append((one, blocks))
                break
        waiting = left


def _interruptible(blocks: Iterable[Item]) -> Iterator[Item]:
    stream = iter(blocks)
    while True:
        with STOPPING.interruptible():
            block = next(stream, None)
        if block is None:
            return
        yield block


def _skipped(result: RunResult) -> Diagnostic:
    rows = "1 bad row was" if result.bad_rows == 1 else f"{result.bad_rows:,} bad rows were"
    which = ": " if result.bad_rows == 1 else ", for example "
    example = f"{which}{result.bad[0].message}" if result.bad else ""
    return Diagnostic("TRACE-009", f"{rows} left out{example}", warning=True)
