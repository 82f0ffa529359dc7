"""Where results are shown: all verdicts of a test run, without the accepted ones, as a summary and as files."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from mopsus.bus.codec import unpack
from mopsus.model import Diagnostic, Faults, MopsusError, Silence, Spec, Unseen, Verdict
from mopsus.model.text import short_path
from mopsus.model.unseen import by_spec
from mopsus.report import Options, RunStats, Summary
from mopsus.report.baseline import Accepted, Fingerprint, Fingerprints, write_baseline
from mopsus.report.output import Output
from mopsus.report.summary import count
from mopsus.report.terminal import TerminalReporter
from mopsus.run.children import unwatched_processes
from mopsus.testing.owners import NOBODY
from mopsus.testing.watch import KEY, Watch
from mopsus.testing.wire import Caused, Finished, Seen
from mopsus.verdict import Group, GroupKey, Groups

TESTS_SHOWN = 3
AFTERWARDS = ", told later"
"""Follows the name of a test to which something belongs that came when it was not running."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """The accepted violations: which, in which file, and whether the file is to be written anew from this run."""

    root: Path
    path: Path | None = None
    accepted: Sequence[Accepted] = ()
    write: bool = False
    _known: frozenset[Fingerprint] = field(init=False)
    key: Fingerprints = field(init=False)
    """What a verdict is known by."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "_known", frozenset(entry.fingerprint for entry in self.accepted))
        object.__setattr__(self, "key", Fingerprints(self.root))

    def accepts(self, verdict: Verdict) -> bool:
        """Is the violation a known one?"""
        return self.key(verdict) in self._known

    def fails(self, verdict: Verdict) -> bool:
        """Should a test fail that causes this?"""
        return verdict.violation and not self.write and not self.accepts(verdict)


Render = Callable[[Groups, Summary, Options], str]


class Findings:
    """The plugin of the process that shows results, which may also run the tests."""

    def __init__(
        self,
        watch: Watch,
        baseline: Baseline,
        files: Sequence[tuple[Output, Render]],
        *,
        runs_tests: bool,
        fail: bool,
        silence: Silence,
    ) -> None:
        self._options = replace(watch.known.options, notes=self._notes)
        self._watch = watch
        self._baseline = baseline
        self._files = files
        self._runs_tests = runs_tests
        self._fail = fail
        self._silence = silence
        self.groups = Groups()
        """What was found and not accepted; other plugins may look at it when the session has finished."""
        self.causes: dict[GroupKey, Counter[str]] = {}
        """How often each test has caused a finding; with AFTERWARDS if that was found out when it was not running."""
        self._accepted: Counter[Fingerprint] = Counter()
        self._violations: set[Fingerprint] = set()
        self._owed: Counter[str] = Counter()
        """By test, how many violations it should have failed for; under no name those that came when no test could."""
        self._failed: set[str] = set()
        """Tests that have failed, or were expected to."""
        self._interrupted = False
        self._counts: dict[str, Counter[str]] = {}
        self._fallen: dict[str, Counter[str]] = {}
        self._faults = Faults()
        self._unseen: dict[tuple[str, str | None], Unseen] | None = None
        """The events that occurred in no process that ran tests."""
        self._unwatched = 0
        self._suppressed = 0
        self._warnings: dict[Diagnostic, None] = {}
        """About comments and settings; every worker says the same."""
        self._started = datetime.now().astimezone()
        self._failures: list[MopsusError] = []

    # ---- hooks of pytest ----

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if hasattr(report, KEY):
            self._add(report.nodeid, unpack(Caused, getattr(report, KEY)).seen)
        if report.failed or hasattr(report, "wasxfail"):
            self._failed.add(report.nodeid)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object) -> None:
        output: Mapping[str, Any] = getattr(node, "workeroutput", None) or {}  # none: the worker crashed
        if KEY in output:
            self._add_session(unpack(Finished, output[KEY]))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._runs_tests:
            self._add_session(self._watch.end())
        self._interrupted = session.exitstatus == pytest.ExitCode.INTERRUPTED
        summary = self.summary()
        self._write_files(summary)
        if session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            if self._failures or summary.refused:
                session.exitstatus = pytest.ExitCode.USAGE_ERROR
            elif self._fail and (self._unpunished or self._faults):
                session.exitstatus = pytest.ExitCode.TESTS_FAILED  # no test has failed for it

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        summary, quiet = self.summary(), terminalreporter.verbosity < 0
        overlooked = self._unwatched or any(map(self._silence.shows, summary.unseen))
        if quiet and not (len(self.groups) or self._failures or self._faults or overlooked):
            return
        stream = io.StringIO()
        options = replace(
            self._options, colour=terminalreporter.hasmarkup, width=terminalreporter._tw.fullwidth, quiet=False
        )
        TerminalReporter(stream, options, self.groups).finish(summary)
        terminalreporter.write_sep("=", "mopsus")
        failures = [f"error[{failure.code}]: {failure.message}" for failure in self._failures]
        terminalreporter.write(stream.getvalue() + "".join(f"{line}\n" for line in (*self._remarks(), *failures)))

    # ---- verdicts ----

    @property
    def _unpunished(self) -> int:
        """How many violations there were that no test has failed for."""
        return sum(count for test, count in self._owed.items() if test not in self._failed)

    def _add(self, test: str, seen: Sequence[Seen]) -> None:
        for each in seen:
            first = each.examples[0]
            cause = test if each.late is None else f"{each.late}{AFTERWARDS}" if each.late else NOBODY
            self._watch.known.learn(first.spec)
            if first.violation:
                known = self._baseline.key(first)
                self._violations.add(known)
                if self._baseline.accepts(first):
                    self._accepted[known] += each.count
                    continue
            if self._baseline.fails(first):
                self._owed[test if each.late is None else NOBODY] += each.count
            for number, verdict in enumerate(each.examples):
                rest = each.count - len(each.examples) if number == len(each.examples) - 1 else 0
                group = self.groups.add(verdict, 1 + rest)
            self.causes.setdefault(group.key, Counter())[cause] += each.count

    def _add_session(self, told: Finished) -> None:
        self._add(NOBODY, told.seen)
        for name, counts in told.counts.items():
            self._counts.setdefault(name, Counter()).update(counts)
        for name, counts in told.fallen.items():
            self._fallen.setdefault(name, Counter()).update(counts)
        for fault in told.faults:
            self._faults.add(fault)
        unseen = {(each.spec, each.event): each for each in told.unseen}
        if self._unseen is not None:  # what one worker could have seen is possible
            before = self._unseen
            unseen = {key: unseen[key] if unseen[key].possible else old for key, old in before.items() if key in unseen}
        self._unseen = unseen
        self._unwatched += told.unwatched
        self._suppressed += told.suppressed
        self._warnings.update(dict.fromkeys(told.warnings))

    def _notes(self, group: Group) -> list[str]:
        """Which tests caused a finding, those that did so most often first."""
        causes = self.causes.get(group.key, Counter()).copy()
        outside = causes.pop(NOBODY, 0)
        shown = [
            f"in {name}" + (f" ({count(times, 'time')})" if times > 1 else "")
            for name, times in causes.most_common(TESTS_SHOWN)
        ]
        if len(causes) > TESTS_SHOWN:
            shown.append(f"in {count(len(causes) - TESTS_SHOWN, 'more test')}")
        if outside:
            shown.append("outside of all tests")
        return shown

    # ---- reports ----

    def summary(self) -> Summary:
        """What was counted, once the session has finished."""
        known = self._options.specs
        fallen = {name: (self._counts[name]["created"], self._fallen[name]) for name in sorted(self._fallen)}
        unknown = [Spec(name) for name in self._counts if name and name not in known]
        return Summary(
            specs=(*known.values(), *unknown),
            stats=RunStats(
                events=sum(counts["events"] for counts in self._counts.values()),
                specs={name: dict(counts) for name, counts in self._counts.items() if name},
            ),
            warnings=(
                *self._watch.warnings,
                *self._warnings,
                *self._watch.known.stopped(fallen),
                *unwatched_processes(self._unwatched),
            ),
            unseen=tuple(by_spec((self._unseen or {}).values(), known.values())),
            silence=self._silence,
            suppressed=self._suppressed,
            faults=tuple(self._faults),
            forgiving=not self._fail,
            started=self._started,
            interrupted=self._interrupted,
        )

    def _write_files(self, summary: Summary) -> None:
        for output, render in self._files:
            try:
                output.write(render(self.groups, summary, self._options))
                output.commit()
            except MopsusError as error:  # the other reports are wanted all the same
                self._failures.append(error)
        baseline = self._baseline
        if baseline.write and baseline.path is not None:
            try:
                write_baseline(baseline.path, self._violations, baseline.accepted)
            except MopsusError as error:
                self._failures.append(error)

    def _remarks(self) -> list[str]:
        """What the baseline did, and errors in specs, a line each."""
        baseline = self._baseline
        name = short_path(str(baseline.path))
        remarks = []
        if self._fail and (unpunished := self._unpunished):
            remarks.append(f"{count(unpunished, 'violation')} that no test has failed for: the run fails")
        if baseline.write:
            remarks.append(f"{count(len(self._violations), 'known violation')} written to {name}")
        elif baseline.path is not None:
            stale = len({entry.fingerprint for entry in baseline.accepted} - self._accepted.keys())
            found = f"{count(self._accepted.total(), 'violation')} accepted by {name}"
            remarks.append(found + (f"; {stale:,} of its entries did not occur" if stale else ""))
        return remarks
