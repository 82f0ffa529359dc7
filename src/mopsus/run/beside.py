"""A Python program with a monitor process beside it, for which it does not wait: a source of events."""

from __future__ import annotations

import subprocess
import time
from typing import TYPE_CHECKING

from mopsus.events.component.outline.program import command_of, environment_of
from mopsus.events.component.outline.session import Session
from mopsus.report.summary import INTERRUPTED
from mopsus.run.outline import include_endings, passing_signals, relay, result_of
from mopsus.run.sidecar import Sidecar, Terms, start_sidecars
from mopsus.run.source import SourceKind
from mopsus.stopping import SIGNALS

if TYPE_CHECKING:
    from mopsus.events.weave.launch import Program
    from mopsus.model import RunResult, Spec
    from mopsus.run.run import Run


class ProgramBeside:
    """A program that is run to its end, with one or several monitor processes beside it."""

    endless = False

    def __init__(self, program: Program, terms: Terms) -> None:
        self._program, self._terms = program, terms
        self._session: Session | None = None
        self._sidecars: list[Sidecar] = []
        self._status = 0
        self._elapsed_s = 0.0
        self._run: Run

    def why_not(self, spec: Spec) -> str:
        """Specs that are about no components are refused when the monitor processes are started."""
        return ""

    def open(self, run: Run) -> None:
        """Start the monitor processes."""
        self._run = run
        self._session = Session.create(envelopes=self._terms.envelopes)
        self._started = time.perf_counter()
        self._sidecars = start_sidecars(self._session, run, self._terms)

    def feed(self) -> None:
        """Run the program."""
        assert self._session is not None  # as this is open
        process = subprocess.Popen(command_of(self._program), env=environment_of(self._session))
        with passing_signals(process):
            relay(self._sidecars, self._run, self._session, process)
            self._status = process.wait()

    def end(self) -> RunResult:
        """Return what the monitor processes have found."""
        include_endings(self._run, self._sidecars)
        result = result_of(self._program.name, self._sidecars, self._run)
        status = self._status
        result.program = status if status >= 0 else 128 - status
        result.interrupted = status == INTERRUPTED or -status in SIGNALS
        result.elapsed_s = time.perf_counter() - self._started
        return result

    def close(self) -> None:
        """Remove the session."""
        session, self._session = self._session, None
        if session is not None:
            session.remove()


SOURCE = SourceKind("beside", "the components of a Python program, watched from beside it", ProgramBeside)
