"""Where tests run: verdicts as they come, which test caused them, and its failure.

What came while a test was set up or run goes with the report of its call, what came at its teardown with the report of
that; anything else belongs to the session.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import Any, Protocol

import msgspec
import pytest

from mopsus.contracts import Switches
from mopsus.model import Diagnostic, Fault, Verdict
from mopsus.testing.known import Known
from mopsus.testing.wire import Seen, pack
from mopsus.verdict import Groups, plain_text
from mopsus.verdict.wire import pack_fault

KEY = "mopsus"
"""Under which verdicts travel: an attribute of test reports, an entry of what a worker sends at its end."""

Counts = Mapping[str, Mapping[str, int]]
"""By spec, what was counted."""


class Weaver(Protocol):
    """What sends the events of the program."""

    def elsewhere(self) -> Iterable[Verdict]:
        """Verdicts that came since this was asked last in other processes, which tests have started."""

    @property
    def faults(self) -> Iterable[Fault]:
        """Errors in the code of specs so far."""

    def stop(self) -> Counts:
        """Take everything back that was woven; gives what was counted."""


class Watch:
    """The plugin of a process that runs tests."""

    def __init__(self, known: Known, switches: Switches, warnings: Sequence[Diagnostic] = ()) -> None:
        self.known = known
        self.warnings = tuple(warnings)
        """What there is to say about the specs."""
        self._switches = switches
        self._lock = threading.RLock()  # a verdict may come in the middle of another, when an object dies
        self._groups = Groups()
        self._session: list[Seen] = []
        self._weaver: Weaver | None = None
        self._fails: Callable[[Verdict], bool] | None = None

    def begin(self, weave: Callable[[Callable[[Verdict], object]], Weaver]) -> None:
        """Weave. From now on verdicts are taken."""
        self._weaver = weave(self._add)

    def fail_if(self, fails: Callable[[Verdict], bool]) -> None:
        """Let a test fail if a verdict that it causes is one of those."""
        self._fails = fails

    def end(self) -> dict[str, Any]:
        """Stop, if that has not been done, and give what the session has caused, as plain data."""
        self._session += self._take()
        counts: Counts = {}
        faults: list[dict[str, Any]] = []
        if self._weaver is not None:
            weaver, self._weaver = self._weaver, None
            counts = weaver.stop()
            faults = [pack_fault(fault) for fault in weaver.faults]
        self._session += self._take()
        seen, self._session = self._session, []
        return {
            "seen": pack(seen),
            "counts": {name: dict(each) for name, each in counts.items()},
            "faults": faults,
            "suppressed": self._switches.suppressed.total(),
            "warnings": [msgspec.to_builtins(each) for each in self._switches.warnings()],
        }

    def close(self) -> None:
        """Stop, if that has not been done."""
        self.end()

    # ---- hooks of pytest ----

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self) -> Generator[None, object, object]:
        self._session += self._take()
        result = yield
        self._session += self._take()
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self) -> Generator[None, None, None]:
        yield
        self._fail()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self) -> Generator[None, None, None]:
        yield
        self._fail()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if call.when == "setup" and report.passed:
            return report  # the call is still to come, and may be what fails
        if seen := self._take():
            setattr(report, KEY, pack(seen))
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        output = getattr(session.config, "workeroutput", None)
        if output is not None:  # a worker of pytest-xdist
            output[KEY] = self.end()

    # ---- verdicts ----

    def _add(self, verdict: Verdict) -> None:
        kept = self._switches(verdict)
        if kept is not None:
            with self._lock:
                self._groups.add(kept)

    def _gather(self) -> None:
        for verdict in self._weaver.elsewhere() if self._weaver is not None else ():
            self._add(verdict)

    def _take(self) -> list[Seen]:
        self._gather()
        with self._lock:
            groups, self._groups = self._groups, Groups()
        return [Seen(tuple(group.examples), group.count) for group in groups]

    def _fail(self) -> None:
        if self._fails is None:
            return
        self._gather()
        with self._lock:
            found = [group.examples[0] for group in self._groups]
        failing = [verdict for verdict in found if self._fails(verdict)]
        for verdict in failing:
            self.known.learn(verdict.spec)
        told = [plain_text(self.known.options.explain(verdict)) for verdict in failing]
        if told:
            pytest.fail("\n\n".join(told), pytrace=False)
