"""A program under a debugger, as a source of events: the session judges, and a run reports what it found."""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mopsus.interactive.debugger import DebuggerError, GoneError
from mopsus.interactive.outcome import Outcome
from mopsus.model import Debugged, Diagnostic, RunResult
from mopsus.monitor.stats import Stats
from mopsus.run.source import SourceKind

if TYPE_CHECKING:
    from mopsus.interactive.backends import Backend
    from mopsus.interactive.setup import Setup
    from mopsus.model import Spec
    from mopsus.run.run import Run


class DebuggedProgram:
    """A session of a debugger, whose monitors live in the debugger's process: their verdicts come when it is over."""

    endless = False

    def __init__(self, backend: Backend, setup: Setup) -> None:
        self._backend, self._setup = backend, setup
        self._outcome = Outcome()
        self._broken: Diagnostic | None = None
        self._run: Run

    def why_not(self, spec: Spec) -> str:
        """The session finds out which events cannot happen."""
        return ""

    def open(self, run: Run) -> None:
        """The debugger opens the monitors."""
        self._run = run
        self._started = time.perf_counter()

    def feed(self) -> None:
        """Debug the program, and take what was found."""
        with tempfile.TemporaryDirectory(prefix="mopsus-debug-") as folder:
            try:
                self._outcome = self._backend.run(replace(self._setup, outcome=str(Path(folder) / "outcome.json")))
            except GoneError as error:
                self._broken = Diagnostic(error.code, error.message, hint=error.hint)
        for verdict in self._outcome.verdicts:
            self._run.take(verdict)
        for fault in self._outcome.faults:
            self._run.take_fault(None, fault)

    def end(self) -> RunResult:
        """Return what became of the program, and what was counted."""
        outcome, setup = self._outcome, self._setup
        stats = {spec: Stats(**counts) for spec, counts in outcome.stats.items()}
        return RunResult(
            sources=[setup.program[0] if setup.program else f"process {setup.process}"],
            stats=dict(stats),
            rows=sum(each.events for each in stats.values()),
            warnings=[Diagnostic("DEBUG-006", " ".join(text.split()), warning=True) for text in outcome.said],
            unseen=[*outcome.unseen],
            error=self._broken if outcome.error is None else DebuggerError(outcome.error),
            interrupted=outcome.was_interrupted,
            elapsed_s=time.perf_counter() - self._started,
            debugged=_debugged(outcome),
        )

    def close(self) -> None:
        """The debugger is gone."""


def _debugged(outcome: Outcome) -> Debugged:
    children = tuple((each.process, each.status, each.reason) for each in outcome.children)
    stop = outcome.stop
    if stop is None or outcome.error is not None:
        return Debugged(outcome.status, children=children)
    return Debugged(outcome.status, stop.reason, stop.location, stop.backtrace, children)


SOURCE = SourceKind("debugged", "a program under a debugger", DebuggedProgram)
