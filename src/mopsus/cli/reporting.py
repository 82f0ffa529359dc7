"""From verdicts to reports: the same for every command that monitors."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakSet

from mopsus.cli.options import OnFault
from mopsus.model import LENIENT, Fault, Faults, MopsusError
from mopsus.report.summary import HELD, VIOLATED, Summary, exit_status, fault_details, fault_line

if TYPE_CHECKING:
    from mopsus.logics import CompiledSpec
    from mopsus.model import Diagnostic, Machine, Silence, Spec, Unseen, Verdict
    from mopsus.monitor import Monitor
    from mopsus.monitor.listener import OnVerdict
    from mopsus.report import Options, Reporter
    from mopsus.report.reporter import Destination
    from mopsus.report.summary import Debugged, Heard
    from mopsus.verdict import Endings


class Result(Protocol):
    """What is known of a run when it is over."""

    @property
    def rows(self) -> int:
        """Events that came."""

    @property
    def ignored(self) -> int:
        """Events that no spec mentions."""

    @property
    def bad_rows(self) -> int:
        """Events that could not be used."""

    @property
    def stats(self) -> Mapping[str, Any]:
        """The statistics of each spec's monitor."""

    @property
    def sources(self) -> Sequence[str]:
        """Where the events came from."""

    @property
    def warnings(self) -> Sequence[Diagnostic]:
        """What there is to say about the run."""

    @property
    def unseen(self) -> Sequence[Unseen]:
        """What it could not see, or never saw."""

    @property
    def error(self) -> MopsusError | Diagnostic | None:
        """What stopped it, or how monitoring broke down."""

    @property
    def interrupted(self) -> bool:
        """Did the user stop it?"""

    @property
    def full(self) -> bool:
        """Did it stop because enough was found?"""

    @property
    def elapsed_s(self) -> float:
        """How long it took."""


class Reporting:
    """What all commands that monitor have in common: specs, monitors, reports.

    The report for people, or with `json` that as JSON, goes to `output`; by default to standard output.
    """

    def __init__(
        self,
        loaded: tuple[dict[str, CompiledSpec], list[Diagnostic]],
        reports: Mapping[str, Path | None],
        options: Options,
        *,
        json: bool,
        allow_code: bool,
        at_end: bool = False,
        output: Destination | None = None,
        silence: Silence = LENIENT,
        on_fault: OnFault = OnFault.REPORT,
    ) -> None:
        compiled, self._warnings = loaded
        self._silence = silence
        self._policy = on_fault
        self.faults = Faults()
        """Errors in the code of specs, of all processes."""
        self.send_fault: Callable[[Fault], object] | None = None
        """Where they go instead, in a process that another one reports for."""
        self._live = options.live
        self._monitors: WeakSet[Monitor] = WeakSet()
        self._ended = False  # by a fault in this process
        self.violations = 0
        """How many were reported."""
        self.specs: dict[str, Spec] = {}
        self._compiled: dict[str, CompiledSpec] = {}
        self._machines: dict[tuple[str, str], Machine] = {}
        for each in compiled.values():
            self.take(each)
        self._asked = tuple(compiled)
        self._limits = {"history": options.history, "max_live": options.max_live}
        self._allow_code = allow_code
        self._endings: Endings | None = None
        if at_end:
            from mopsus.verdict import Endings

            self._endings = Endings()
        self._started = datetime.now().astimezone()
        self._turn = RLock()  # a handler that raises may be that of a verdict that is being reported
        self._reporters = self._open_reports(reports, options, json, sys.stdout if output is None else output)

    def _open_reports(
        self, files: Mapping[str, Path | None], options: Options, json: bool, output: Destination
    ) -> list[Reporter]:
        from mopsus.report import open_report

        draw = draw_svg if can_draw() else None
        options = replace(options, specs=self.specs, machines=self._machines, draw=draw)
        reporters = [open_report("json" if json else "terminal", output, options)]
        return reporters + [open_report(name, path, options) for name, path in files.items() if path is not None]

    def take(self, compiled: CompiledSpec) -> None:
        """Report about a spec, too."""
        spec = compiled.spec
        self.specs[spec.name] = spec
        self._compiled[spec.name] = compiled
        for prop, machine in zip(spec.properties, compiled.machines, strict=True):
            self._machines[spec.name, prop.name] = machine

    def open_monitor(self, spec: Spec, on_verdict: OnVerdict, *, trusted: bool = False) -> Monitor:
        """A monitor of one of the specs. If it is `trusted`, it may contain code in any case."""
        from mopsus.monitor import Monitor

        compiled, allow_code = self._compiled[spec.name], self._allow_code or trusted
        if self._policy is OnFault.STOP:
            on_verdict = partial(self._pass_on, on_verdict)
        if self._endings is not None:
            from mopsus.cli.ending import EndingMonitor

            monitor: Monitor = EndingMonitor(compiled, on_verdict, self._endings, allow_code=allow_code, **self._limits)
        else:
            monitor = Monitor(compiled, on_verdict, allow_code=allow_code, **self._limits)
        monitor.on_fault = self._take_own_fault
        self._monitors.add(monitor)
        return monitor

    def _take_own_fault(self, error: BaseException | None, fault: Fault) -> None:
        """Code of a spec has raised an error in this process. Rows that came in one block with it may be done already:
        if that ends the monitoring, what their handlers would say is not wanted."""
        if not self._ended:
            self.take_fault(error, fault)
            self._ended = self._policy is OnFault.STOP

    def _pass_on(self, on_verdict: OnVerdict, verdict: Verdict) -> None:
        if not self._ended:
            on_verdict(verdict)

    def take_fault(self, error: BaseException | None, fault: Fault) -> None:
        """Code of a spec has raised an error."""
        with self._turn:
            new = self.faults.add(fault)
            if self.send_fault is not None:
                self.send_fault(fault)
        if self._live and new:
            told = "\n".join([f"fault in {fault.spec}: {fault_line(fault)}", *fault_details(fault)])
            logging.getLogger("mopsus").error(told)
        if self._policy is OnFault.STOP:
            for monitor in tuple(self._monitors):
                monitor.close()

    def unseen_in_components(self, seen: Mapping[str, Mapping[str, int]]) -> list[Unseen]:
        """What of the specs about components was not seen in a program. `seen` counts events by spec."""
        from mopsus.events.component.unseen import find_unseen
        from mopsus.spec.component import about_components

        hint = "a property is about components that run the function which it names"
        return [
            unseen
            for spec in self.specs.values()
            if about_components(spec) and spec.name in seen
            for unseen in find_unseen(spec, self._compiled[spec.name].machines, seen[spec.name], hint)
        ]

    @property
    def endings(self) -> Endings | None:
        """What is presumed of the undecided when their monitors are closed, if that is wanted."""
        return self._endings

    def report(self, verdict: Verdict) -> None:
        """Tell every report. Verdicts of components that are judged where they run come from many threads."""
        with self._turn:
            self.violations += verdict.violation
            for reporter in self._reporters:
                reporter.add(verdict)

    def _stopped(self, result: Result) -> Iterator[Diagnostic]:
        """What there is to say of patterns that have mostly stopped before they could match."""
        from mopsus.verdict.stopped import stopped_early

        for name in self._asked:
            if (stats := result.stats.get(name)) is not None:
                compiled = self._compiled[name]
                if (found := stopped_early(compiled.spec, compiled.machines, stats.created, stats.fallen)) is not None:
                    yield found

    def finish(
        self,
        result: Result,
        heard: Heard | None = None,
        debugged: Debugged | None = None,
        suppressed: int = 0,
        *,
        program: int | None = None,
        gate: bool = True,
    ) -> int:
        """Complete the reports, and give the exit status; raises what stopped the run, if something did.

        If a `program` was run and ended with a status of its own, that is passed on. Without a `gate`, violations are
        reported and no more.
        """
        from mopsus.report import RunStats

        abandoned = self._policy is OnFault.STOP and bool(self.faults)
        stopped = result.error is not None or result.interrupted or result.full or abandoned
        summary = Summary(
            specs=tuple(self.specs.values()),
            stats=RunStats(
                events=result.rows,
                ignored=result.ignored,
                bad_rows=result.bad_rows,
                specs={name: asdict(counts) for name, counts in result.stats.items()},
            ),
            sources=tuple(result.sources),
            warnings=(*self._warnings, *result.warnings, *self._stopped(result)),
            error=result.error,
            elapsed_s=result.elapsed_s,
            started=self._started,
            interrupted=result.interrupted,
            unseen=() if abandoned else tuple(result.unseen),
            silence=self._silence,
            faults=tuple(self.faults),
            forgiving=self._policy is OnFault.IGNORE,
            abandoned=abandoned,
            endings=None if self._endings is None or stopped else tuple(self._endings),
            suppressed=suppressed,
            heard=heard,
            debugged=debugged,
        )
        failures: list[MopsusError] = []
        for reporter in self._reporters:
            try:
                reporter.finish(summary)
            except MopsusError as error:  # the other reports are wanted all the same
                failures.append(error)
        for failure in (result.error, *failures):
            if isinstance(failure, MopsusError):
                raise failure
        status = exit_status(summary, self.violations)
        return program or (HELD if status == VIOLATED and not gate else status)


def can_draw() -> bool:
    """Is Graphviz there?"""
    import shutil

    return shutil.which("dot") is not None


def draw_svg(machine: Machine) -> str:
    """The machine as an SVG element."""
    from mopsus.cli.picture import draw_picture

    text = draw_picture(machine, "svg").decode()
    return text[text.index("<svg") :]
