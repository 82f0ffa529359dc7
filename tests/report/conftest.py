"""A small run that the tests of every report format share, as the fixture `sample`."""

from __future__ import annotations

import io
import linecache
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import pytest

from mopsus.model import (
    Diagnostic,
    Event,
    ObjectRef,
    Parameter,
    Property,
    Severity,
    Span,
    Spec,
    TableMachine,
    Verdict,
    WitnessEvent,
)
from mopsus.report import Options, RunStats, Summary, open_report

HASNEXT = Spec(
    "HasNext",
    parameters=(Parameter("i"),),
    events=(Event("hasnext", ("i",)), Event("next", ("i",))),
    properties=(Property("safe", "ere", "(hasnext next)* next"),),
    doc="Ask hasnext before each next: https://example.org/hasnext.",
)
LOCKS = Spec(
    "Locks",
    parameters=(Parameter("l"), Parameter("t")),
    properties=(Property("order", "fsm", "start [acquire -> held]"), Property("released", "ere", "acquire")),
    severity=Severity.WARNING,
)
QUIET = Spec("Sockets", properties=(Property("closed", "ere", "open send* close send"),))

# unknown --hasnext--> more; more --next--> unknown; unknown --next--> match (a sink)
HASNEXT_MACHINE = TableMachine(
    alphabet=("hasnext", "next"),
    initial=0,
    table=((1, 2), (1, 0), (2, 2)),
    categories=(frozenset(), frozenset(), frozenset({"match"})),
    names=("unknown", "more", "match"),
    goal=frozenset({"match"}),
    final=(frozenset(), frozenset(), frozenset({"match"})),
    creation=frozenset({"hasnext", "next"}),
    enable={},
    coenable={},
    alive=(frozenset(), frozenset(), frozenset()),
)


def find_lines(source: str, rows: Collection[int]) -> dict[int, int]:
    """The lines of a CSV file whose rows are a line each."""
    return {row: row + 1 for row in rows} if source == "trace.csv" else {}


OPTIONS = Options(
    specs={HASNEXT.name: HASNEXT}, machines={("HasNext", "safe"): HASNEXT_MACHINE}, find_lines=find_lines, width=100
)


def hasnext_verdict(instance: int, row: int) -> Verdict:
    """`hasnext next next` on one iterator, its last event in `row`."""
    names = ("hasnext", "next", "next")
    witness = tuple(
        WitnessEvent(name, {"i": instance}, f"trace.csv:{at}", None, at) for at, name in enumerate(names, row - 2)
    )
    return Verdict("HasNext", "safe", "match", None, True, {"i": instance}, f"trace.csv:{row}", None, witness, row=row)


def lock_verdict() -> Verdict:
    """A warning of an online run: objects, program locations and times."""
    lock, thread = ObjectRef("threading.Lock", 3, "<locked lock>"), "worker-1"
    witness = (
        WitnessEvent("acquire", {"l": lock, "t": thread}, "app/jobs.py:33", 1.5),
        WitnessEvent("acquire", {"l": lock, "t": thread}, "app/jobs.py:41", 2.25),
    )
    binding = {"l": lock, "t": thread}
    return Verdict(
        "Locks", "order", "fail", False, True, binding, "app/jobs.py:41", 2.25, witness, severity=Severity.WARNING
    )


VERDICTS = (*(hasnext_verdict(17 + at, 12 + 10 * at) for at in range(5)), lock_verdict())

SUMMARY = Summary(
    specs=(HASNEXT, LOCKS, QUIET),
    stats=RunStats(
        events=12_000,
        ignored=7,
        bad_rows=2,
        specs={"HasNext": {"events": 11_000, "created": 900, "verdicts": {"match": 5}}},
    ),
    sources=("trace.csv",),
    warnings=(
        Diagnostic(
            "CHECK-001",
            "no event of spec 'Sockets' ever occurred",
            Span("specs/net.mop", 4, 1, 4, 8),
            hint="does the trace name its events differently?",
            warning=True,
        ),
    ),
    elapsed_s=1.5,
    started=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
)

EVIL = "[red]x[/red]\x1b[31m\x1b]0;t\x07 <script>alert(1)</script> ]]> & \"' \u202e \ud800 \x00\r\n|end"


def evil_verdict() -> Verdict:
    """Every text that a trace controls is hostile."""
    value = EVIL + "y" * 100_000
    binding = {"i": value, EVIL: (EVIL, b"\x1b\xff", float("nan"), 10**5000)}
    witness = (WitnessEvent(EVIL, binding, EVIL, float("inf"), 3),)
    return Verdict(EVIL, EVIL, EVIL, None, False, binding, EVIL, float("-inf"), witness, row=3)


@dataclass(frozen=True)
class Sample:
    """The run: feed `verdicts`, finish with `summary`."""

    verdicts: tuple[Verdict, ...] = VERDICTS
    summary: Summary = SUMMARY
    options: Options = OPTIONS
    evil_text: str = EVIL
    evil: Verdict = field(default_factory=evil_verdict)

    def report(self, name: str, verdicts: tuple[Verdict, ...] | None = None, **changes: object) -> str:
        """The whole report of a format as text; `changes` are made to the summary."""
        stream = io.StringIO()
        reporter = open_report(name, stream, self.options)
        for verdict in self.verdicts if verdicts is None else verdicts:
            reporter.add(verdict)
        reporter.finish(replace(self.summary, **changes))
        return stream.getvalue()


@pytest.fixture(scope="session")
def sample() -> Sample:
    # The program of the online run is never on disk; an entry without a time of change stays as it is.
    lines = ["\n"] * 41
    lines[32], lines[40] = "        job.lock.acquire()\n", "            with job.lock:\n"
    linecache.cache["app/jobs.py"] = (sum(map(len, lines)), None, lines, "app/jobs.py")
    return Sample()
