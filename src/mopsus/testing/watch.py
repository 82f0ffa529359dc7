"""Where tests run: verdicts as they come, the test that each belongs to, and its failure.

What came while a test was set up or run goes with the report of its call, what came at its teardown with the report of
that; anything else goes with whatever report comes next, or with the end of the session.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType
from typing import Protocol, TypeAlias

import pytest

from mopsus import _core
from mopsus.bus.codec import pack
from mopsus.contracts import Switches
from mopsus.model import Diagnostic, Fault, Severity, Unseen, Verdict
from mopsus.run.known import KnownSpecs
from mopsus.testing.expected import Expectations, Point, points_of, running_point
from mopsus.testing.owners import Owner, Owners, without_numbers
from mopsus.testing.wire import Caused, Finished, Seen
from mopsus.verdict import Groups, plain_text

KEY = "mopsus"
"""Under which verdicts travel, as a text: an attribute of test reports, an entry of what a worker sends at its end."""
EXPECTED = "The test expects the exception."
"""The remark on a finding that is therefore a note."""
MOST_RAISED = 1000
"""So many are kept back until it is known what a test has expected; of more, it is not."""

Counts = Mapping[str, Mapping[str, int]]
"""By spec, what was counted."""


class Weaver(Protocol):
    """What sends the events of the program."""

    def elsewhere(self) -> Iterable[Verdict]:
        """Verdicts that came since this was asked last in other processes, which tests have started."""

    @property
    def faults(self) -> Iterable[Fault]:
        """Errors in the code of specs so far."""

    @property
    def fallen(self) -> Counts:
        """By spec, how many slices each event took to where nothing can be reported; once it is stopped."""

    @property
    def unwatched(self) -> int:
        """How many Python processes were started that nobody watches; once it is stopped."""

    def stop(self) -> Counts:
        """Take everything back that was woven; gives what was counted."""

    def unseen(self) -> list[Unseen]:
        """The events that never occurred."""


Weave: TypeAlias = "Callable[[_core.Part, Callable[[Verdict], object]], Weaver]"
"""Begins to send events: where their numbers come from, and where verdicts go."""


class Watch:
    """The plugin of a process that runs tests."""

    def __init__(self, known: KnownSpecs, switches: Switches, warnings: Sequence[Diagnostic] = ()) -> None:
        self.known = known
        self.warnings = tuple(warnings)
        """What there is to say about the specs."""
        self._switches = switches
        self._lock = threading.RLock()  # a verdict may come in the middle of another, when an object dies
        self._owners = Owners()
        self._groups = Groups()
        """Of the test that is running."""
        self._due = Groups()
        """Those of them that it has not been failed for."""
        self._late: dict[str, Groups] = {}
        """By test, what came when it was not running."""
        self._raised: list[tuple[Point | None, Verdict, Owner]] = []
        """What came while a test waits for an exception: maybe about that."""
        self._expectations = Expectations(self._met, self._settle)
        self._weaver: Weaver | None = None
        self._fails: Callable[[Verdict], bool] | None = None

    def begin(self, weave: Weave, *, notes_expected: bool) -> None:
        """Weave. From now on verdicts are taken. `notes_expected`: what a test expects is a note, whatever it was."""
        self._weaver = weave(self._owners.part, self._switches.before(self._add))
        if notes_expected:
            self._expectations.start()

    def fail_if(self, fails: Callable[[Verdict], bool]) -> None:
        """Let a test fail if a verdict that it causes is one of those."""
        self._fails = fails

    def end(self) -> Finished:
        """Stop, if that has not been done, and give what belongs to no report."""
        counts: Counts = {}
        fallen: Counts = {}
        faults: tuple[Fault, ...] = ()
        unseen: tuple[Unseen, ...] = ()
        unwatched = 0
        if self._weaver is not None:
            # What nobody can reach any more has come to its end, whether or not the collector has seen it.
            gc.collect()
            self._gather()
            weaver, self._weaver = self._weaver, None
            counts, fallen = weaver.stop(), weaver.fallen
            faults = tuple(replace(fault, row=None) for fault in weaver.faults)  # a number of a test is no row
            unseen, unwatched = tuple(weaver.unseen()), weaver.unwatched
            self._expectations.stop()
            self._settle()
        return Finished(
            self._take(),
            counts,
            fallen,
            faults,
            unseen,
            unwatched,
            suppressed=self._switches.suppressed.total(),
            warnings=tuple(self._switches.warnings()),
        )

    def close(self) -> None:
        """Stop, if that has not been done."""
        self.end()

    # ---- hooks of pytest ----

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._gather()
        self._owners.begin(item.nodeid)
        try:
            return (yield)
        finally:
            self._gather()
            self._settle()
            self._owners.end()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self) -> Generator[None, None, None]:
        with self._forgiving():
            yield

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self) -> Generator[None, None, None]:
        with self._forgiving():
            yield
        self._fail()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self) -> Generator[None, None, None]:
        with self._forgiving():
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
            setattr(report, KEY, pack(Caused(seen)).decode())
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        output = getattr(session.config, "workeroutput", None)
        if output is not None:  # a worker of pytest-xdist
            output[KEY] = pack(self.end()).decode()

    # ---- verdicts ----

    def _add(self, verdict: Verdict) -> None:
        with self._lock:
            owner = self._owners.of(verdict)
            kept = without_numbers(verdict)
            if self._expectations.open <= 0 or kept.severity is Severity.NOTE:
                self._keep(kept, owner)
                return
            self._raised.append((running_point(), kept, owner))
            if len(self._raised) > MOST_RAISED:
                self._settle()

    def _keep(self, verdict: Verdict, owner: Owner) -> None:
        if owner.late:
            self._late.setdefault(owner.test, Groups()).add(verdict)
            return
        self._groups.add(verdict)
        if self._fails is not None and self._fails(verdict):
            self._due.add(verdict)

    def _met(self, error: BaseException, trace: TracebackType | None) -> None:
        """A test has expected an exception, and got it."""
        with self._lock:
            if not self._raised:
                return
            points = set(points_of(error, trace))
            raised, self._raised = self._raised, []
            for point, verdict, owner in raised:
                if point in points:
                    remarks = (*verdict.remarks, EXPECTED)
                    self._keep(replace(verdict, severity=Severity.NOTE, remarks=remarks), owner)
                else:
                    self._raised.append((point, verdict, owner))

    def _settle(self) -> None:
        """Nothing more will be known of exceptions."""
        with self._lock:
            raised, self._raised = self._raised, []
            for _, verdict, owner in raised:
                self._keep(verdict, owner)

    def _gather(self) -> None:
        report = self._switches.before(self._add_of_process)
        for verdict in self._weaver.elsewhere() if self._weaver is not None else ():
            report(verdict)

    def _add_of_process(self, verdict: Verdict) -> None:
        with self._lock:
            self._keep(without_numbers(verdict), self._owners.of_process(verdict))

    def _take(self) -> tuple[Seen, ...]:
        self._gather()
        with self._lock:
            groups, self._groups = self._groups, Groups()
            late, self._late = self._late, {}
        return (
            *(Seen(tuple(group.examples), group.count) for group in groups),
            *(Seen(tuple(group.examples), group.count, test) for test, each in late.items() for group in each),
        )

    # ---- failures ----

    @contextmanager
    def _forgiving(self) -> Iterator[None]:
        """A test that ends this part of it by itself, be it with a failure, is not failed for what it has caused."""
        try:
            yield
        except BaseException:
            self._settle()
            with self._lock:
                self._due = Groups()
            raise

    def _fail(self) -> None:
        self._gather()
        self._settle()
        with self._lock:
            due, self._due = self._due, Groups()
        failing = [group.examples[0] for group in due]
        for verdict in failing:
            self.known.learn(verdict.spec)
        told = [plain_text(self.known.options.explain(verdict)) for verdict in failing]
        if told:
            pytest.fail("\n\n".join(told), pytrace=False)
