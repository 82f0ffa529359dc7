"""A program that runs already, and can be watched from outside: a source of events."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from mopsus.events.component.outline.session import Session, is_running
from mopsus.run.outline import dismiss, relay, result_of
from mopsus.run.sidecar import Sidecar, Terms, start_sidecars
from mopsus.run.source import SourceKind
from mopsus.stopping import STOPPING

if TYPE_CHECKING:
    from mopsus.model import RunResult, Spec
    from mopsus.run.run import Run


class AttachedProgram:
    """A program of a session, watched from now on until it ends or somebody says that it is enough."""

    endless = True

    def __init__(self, session: Session, terms: Terms) -> None:
        self._session, self._terms = session, terms
        self._sidecars: list[Sidecar] = []
        self._run: Run

    def why_not(self, spec: Spec) -> str:
        """Specs that are about no components are refused when the monitor processes are started."""
        return ""

    def open(self, run: Run) -> None:
        """Start the monitor processes."""
        self._run = run
        self._started = time.perf_counter()
        self._sidecars = start_sidecars(self._session, run, self._terms)

    def feed(self) -> None:
        """Pass on what the monitor processes find."""
        with STOPPING.deferred():
            try:
                with STOPPING.interruptible():
                    relay(self._sidecars, self._run, self._session)
            except KeyboardInterrupt:  # which is how this is meant to end
                STOPPING.heed()
                dismiss(self._session)
                relay(self._sidecars, self._run, self._session)

    def end(self) -> RunResult:
        """Return what the monitor processes have found."""
        main = self._session.main
        if main is not None and not is_running(main):
            self._session.remove()
        result = result_of(f"process {main}", self._sidecars, self._run)
        result.elapsed_s = time.perf_counter() - self._started
        return result

    def close(self) -> None:
        """The program goes on, and so does its session."""


SOURCE = SourceKind("attached", "the components of a program that runs already", AttachedProgram)
