"""A run: specs, monitors, switches, limits, sinks and an end, joined in one place for every source of events."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING
from weakref import WeakSet

from mopsus.model import LENIENT, Fault, Faults, MopsusError, RunResult, Unseen
from mopsus.model.limits import HISTORY, MAX_LIVE
from mopsus.report.summary import RunStats, Summary, fault_details, fault_line
from mopsus.run.known import KnownSpecs
from mopsus.run.policy import OnFault
from mopsus.run.sink import Sinks
from mopsus.run.status import exit_status

if TYPE_CHECKING:
    from mopsus.contracts import Switches
    from mopsus.logics import CompiledSpec
    from mopsus.model import Silence, Spec, Verdict
    from mopsus.monitor import Monitor
    from mopsus.monitor.listener import OnVerdict
    from mopsus.run.sink import Forwarder
    from mopsus.run.source import Source
    from mopsus.run.specs import Loaded
    from mopsus.verdict import Endings


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The limits of a run, and what it makes of what goes wrong."""

    history: int = HISTORY
    """How many events a witness has at the most."""
    max_live: int = MAX_LIVE
    """How many live monitors a spec may have at a time; 0: any number."""
    allow_code: bool = True
    """May specs contain Python?"""
    at_end: bool = False
    """Is the run to say what it presumes of the undecided at its end?"""
    silence: Silence = LENIENT
    """How it is taken that something was not seen."""
    on_fault: OnFault = OnFault.REPORT
    gate: bool = True
    """Do violations make the run fail?"""
    switches: bool = False
    """Do comments in the program and settings of the project decide about each verdict first?"""


class Run:
    """Joins specs, monitors, switches and sinks; `go` takes a source to its end and gives the exit status.

    `loaded` is what `load_specs` gives. `is_new` says of a verdict whether no earlier run has reported it; it is asked
    once for each.
    """

    def __init__(
        self,
        loaded: Loaded,
        options: RunOptions,
        sinks: Sinks,
        *,
        is_new: Callable[[Verdict], bool] | None = None,
    ) -> None:
        compiled, self._warnings = loaded
        self.options = options
        self.faults = Faults()
        """Errors in the code of specs, of all processes."""
        self.violations = 0
        """How many were reported."""
        self._known = KnownSpecs(compiled.values())
        self._post: Forwarder | None = None
        self._switches = self._read_switches() if options.switches else None
        self._is_new = is_new
        self._live = sinks.options is not None and sinks.options.live
        self._monitors: WeakSet[Monitor] = WeakSet()
        self._ended = False  # by a fault in this process
        self.endings: Endings | None = None
        """What is presumed of the undecided when their monitors are closed, if that is wanted."""
        if options.at_end:
            from mopsus.verdict import Endings

            self.endings = Endings()
        self._started = datetime.now().astimezone()
        self._turn = RLock()  # a handler that raises may be that of a verdict that is being reported
        self._report = self.report if self._switches is None else self._switches.before(self.report)
        self._sinks = sinks.open(self._known.options)

    def _read_switches(self) -> Switches:
        from mopsus.contracts import Switches, catalogue, read_settings

        return Switches(read_settings(Path.cwd()), lambda: {*catalogue(), *self.specs})

    # ---- specs and their monitors

    @property
    def specs(self) -> Mapping[str, Spec]:
        """By name. They may become more as the run goes on."""
        return self._known.specs

    def add_spec(self, compiled: CompiledSpec) -> None:
        """Watch a spec, too, and report about it."""
        self._known.take(compiled)

    def open_monitor(self, spec: Spec, on_verdict: OnVerdict, *, trusted: bool = False) -> Monitor:
        """Open a monitor of one of the specs. If it is `trusted`, it may contain code in any case."""
        from mopsus.monitor import Monitor

        options, compiled = self.options, self._known.compiled[spec.name]
        allow_code = options.allow_code or trusted
        if options.on_fault is OnFault.STOP:
            on_verdict = partial(self._pass_on, on_verdict)
        limits = {"history": options.history, "max_live": options.max_live}
        if self.endings is not None:
            from mopsus.run.ending import EndingMonitor

            monitor: Monitor = EndingMonitor(compiled, on_verdict, self.endings, allow_code=allow_code, **limits)
        else:
            monitor = Monitor(compiled, on_verdict, allow_code=allow_code, **limits)
        monitor.on_fault = self._take_own_fault
        self._monitors.add(monitor)
        return monitor

    # ---- verdicts and faults

    def take(self, verdict: Verdict) -> None:
        """Take a verdict from a source: send it on, or decide about it and report it."""
        if self._post is not None:
            self._post.add(verdict)
        else:
            self._report(verdict)

    def report(self, verdict: Verdict) -> None:
        """Give a verdict to every sink. Verdicts of components that are judged where they run come from any thread."""
        with self._turn:
            if self._is_new is None or self._is_new(verdict):
                self.violations += verdict.violation
                for sink in self._sinks:
                    sink.add(verdict)

    def _take_own_fault(self, error: BaseException | None, fault: Fault) -> None:
        """Take an error that code of a spec has raised in this process.

        Rows that came in one block with it may be done already: if it ends the monitoring, what their handlers would
        say is not wanted.
        """
        if not self._ended:
            self.take_fault(error, fault)
            self._ended = self.options.on_fault is OnFault.STOP

    def _pass_on(self, on_verdict: OnVerdict, verdict: Verdict) -> None:
        if not self._ended:
            on_verdict(verdict)

    def take_fault(self, error: BaseException | None, fault: Fault) -> None:
        """Take an error that code of a spec has raised."""
        with self._turn:
            new = self.faults.add(fault)
            if self._post is not None:
                self._post.add_fault(fault)
        if self._live and new:
            told = "\n".join([f"fault in {fault.spec}: {fault_line(fault)}", *fault_details(fault)])
            logging.getLogger("mopsus").error(told)
        if self.options.on_fault is OnFault.STOP:
            for monitor in tuple(self._monitors):
                monitor.close()

    def hand_over(self, post: Forwarder) -> None:
        """From now on verdicts and faults go to another process, which reports them."""
        self._post = post

    # ---- the end

    def unseen_in_components(self, seen: Mapping[str, Mapping[str, int]]) -> list[Unseen]:
        """What of the specs about components was not seen in a program. `seen` counts events by spec."""
        from mopsus.events.component.unseen import find_unseen
        from mopsus.spec.component import about_components

        hint = "a property is about components that run the function which it names"
        return [
            unseen
            for spec in self.specs.values()
            if about_components(spec) and spec.name in seen
            for unseen in find_unseen(spec, self._known.compiled[spec.name].machines, seen[spec.name], hint)
        ]

    def go(self, source: Source) -> int:
        """Take a source to its end, complete the reports, and return the exit status.

        Raises what stopped the run, if something did, when the reports are complete.
        """
        return self.finish(self.watch(source))

    def watch(self, source: Source) -> RunResult:
        """Take a source to its end. Specs whose events it cannot give are not watched, which is in the result."""
        unseen = [
            Unseen(spec.name, possible=False, reason=why, span=spec.span)
            for spec in self.specs.values()
            if (why := source.why_not(spec))
        ]
        if source.endless and any(map(self.options.silence.refuses, unseen)):
            return RunResult(unseen=unseen)
        try:
            source.open(self)
            source.feed()
            result = source.end()
        finally:
            source.close()
        result.unseen += unseen
        return result

    def finish(self, result: RunResult) -> int:
        """Complete the reports, and return the exit status; raises what stopped the run, if something did."""
        summary = self.summary(result)
        failures: list[MopsusError] = []
        for sink in self._sinks:
            try:
                sink.finish(summary)
            except MopsusError as error:  # the other reports are wanted all the same
                failures.append(error)
        for failure in (result.error, *failures):
            if isinstance(failure, MopsusError):
                raise failure
        return exit_status(summary, self.violations, program=result.program, gate=self.options.gate)

    def summary(self, result: RunResult) -> Summary:
        """What the sinks are told at the end."""
        options, switches = self.options, self._switches
        abandoned = options.on_fault is OnFault.STOP and bool(self.faults)
        stopped = result.broken_off or abandoned
        counts = {name: (stats.created, stats.fallen) for name, stats in result.stats.items()}
        switched = [*switches.warnings()] if switches is not None else []
        return Summary(
            specs=tuple(self.specs.values()),
            stats=RunStats(
                events=result.rows,
                ignored=result.ignored,
                bad_rows=result.bad_rows,
                specs={name: asdict(counts) for name, counts in result.stats.items()},
            ),
            sources=tuple(result.sources),
            warnings=(*self._warnings, *switched, *result.warnings, *self._known.stopped(counts)),
            error=result.error,
            elapsed_s=result.elapsed_s,
            started=self._started,
            interrupted=result.interrupted,
            unseen=() if abandoned else tuple(result.unseen),
            silence=options.silence,
            faults=tuple(self.faults),
            forgiving=options.on_fault is OnFault.IGNORE,
            abandoned=abandoned,
            endings=None if self.endings is None or stopped else tuple(self.endings),
            suppressed=switches.suppressed.total() if switches is not None else 0,
            heard=result.heard,
            debugged=result.debugged,
        )
