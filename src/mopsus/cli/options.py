"""Options that several commands have, one by one and as families."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mopsus.cli.messages import CommandError
from mopsus.model.limits import MAX_LIVE
from mopsus.run.policy import OnFault

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mopsus.model import Silence
    from mopsus.report.reporter import Destination, FindLines
    from mopsus.run import RunOptions, Sink, Sinks
    from mopsus.run.specs import Loaded


class TraceFormat(StrEnum):
    """The formats of a trace; the last two are of logs of components only."""

    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"
    ARROW = "arrow"
    TEXT = "text"
    TERMS = "terms"


class BadRows(StrEnum):
    """What to do about a row that cannot be used."""

    STOP = "stop"
    SKIP = "skip"


class WhenFull(StrEnum):
    """What a program does when its monitor cannot follow."""

    BLOCK = "block"
    DROP = "drop"
    GROW = "grow"


ExtraSpecs = Annotated[
    list[Path] | None, typer.Option("--spec", "-s", help="A spec file, whatever its name ends in.", metavar="FILE")
]
History = Annotated[
    int, typer.Option(help="How many events a witness has at the most; 0 turns witnesses off.", min=0, metavar="N")
]
MaxLive = Annotated[
    int,
    typer.Option(
        "--max-live",
        help="Give a spec up, and say so, if it has more live monitors at a time; 0: no limit.",
        min=0,
        metavar="N",
    ),
]
BadRowPolicy = Annotated[
    BadRows, typer.Option("--bad-rows", help="Stop at a row that cannot be used, or leave it out.")
]
MaxViolations = Annotated[
    int | None, typer.Option("--max-violations", help="Stop after this many violations.", min=1, metavar="N")
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict", help="Fail with status 2 if any event of any spec never occurred, not only if it could not."
    ),
]
AllowSilent = Annotated[
    bool,
    typer.Option(
        "--allow-silent",
        help="Accept what would otherwise be status 2: events that cannot occur here, and specs that saw nothing.",
    ),
]
OnFaultOption = Annotated[
    OnFault,
    typer.Option(
        "--on-fault",
        help="When code of a spec raises an error: leave the status as it is, go on and end with status 2, or end "
        "monitoring at once.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the report as JSON.")]
Junit = Annotated[Path | None, typer.Option(help="Also write a JUnit XML report.", metavar="FILE")]
Sarif = Annotated[Path | None, typer.Option(help="Also write a SARIF 2.1.0 report.", metavar="FILE")]
Html = Annotated[Path | None, typer.Option(help="Also write a self-contained HTML page.", metavar="FILE")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print one line, and only if there is something to say.")]
NoCode = Annotated[bool, typer.Option("--no-code", help="Refuse specs that contain Python code.")]
AllowUnmonitorable = Annotated[
    bool, typer.Option("--allow-unmonitorable", help="Accept formulas that no trace can ever decide.")
]
AtEnd = Annotated[
    bool,
    typer.Option("--at-end", help="Also say of each undecided instance whether it presumably holds at the end."),
]
FirstMatch = Annotated[
    bool,
    typer.Option(
        "--first-match",
        help="Of the clauses of an shml conjunction that an event fits, take only the first, as detectEr does.",
    ),
]
Contracts = Annotated[
    str | None,
    typer.Option(
        help="Watch for violations of ready-made contracts: libraries, groups or names, such as `stdlib,-UnsafeIter`.",
        metavar="NAMES",
    ),
]
Envelopes = Annotated[
    bool,
    typer.Option("--envelopes", help="Of components: the send of a message is heard of before its recv."),
]
WhenFullOption = Annotated[
    WhenFull,
    typer.Option(
        "--when-full",
        help="With --outline, if the monitor cannot follow: let the program wait, drop events and say so, or keep them "
        "in a file.",
    ),
]
Monitors = Annotated[
    int,
    typer.Option("--monitors", help="With --outline: how many processes share the work.", min=1, max=64, metavar="N"),
]


@dataclass(frozen=True, slots=True)
class SpecOptions:
    """Which specs there are, beside those among the arguments, and what they may be like."""

    spec: ExtraSpecs = None
    max_live: MaxLive = MAX_LIVE
    allow_unmonitorable: AllowUnmonitorable = False
    first_match: FirstMatch = False

    def load(self, files: Sequence[Path], *, at_end: bool = False) -> Loaded:
        """Read and compile the specs of these files."""
        from mopsus.run import load_specs

        return load_specs(
            files, at_end=at_end, allow_unmonitorable=self.allow_unmonitorable, first_match=self.first_match
        )


@dataclass(frozen=True, slots=True)
class MonitorOptions:
    """What all commands that monitor have: how what they find is judged, and where it goes."""

    history: History = 32
    strict: Strict = False
    allow_silent: AllowSilent = False
    on_fault: OnFaultOption = OnFault.REPORT
    json: Json = False
    junit: Junit = None
    sarif: Sarif = None
    html: Html = None
    quiet: Quiet = False
    no_code: NoCode = False

    def run_options(
        self,
        *,
        max_live: int = MAX_LIVE,
        at_end: bool = False,
        recorded: bool = False,
        gate: bool = True,
        switches: bool = False,
    ) -> RunOptions:
        """The options of a run. `recorded` says that its inputs are complete."""
        from mopsus.run import RunOptions

        return RunOptions(
            history=self.history,
            max_live=max_live,
            allow_code=not self.no_code,
            at_end=at_end,
            silence=self._silence(recorded),
            on_fault=self.on_fault,
            gate=gate,
            switches=switches,
        )

    def _silence(self, recorded: bool) -> Silence:
        from mopsus.model import Silence

        if self.strict and self.allow_silent:
            hint = "--strict fails for what --allow-silent accepts"
            raise CommandError("--strict and --allow-silent exclude each other", hint=hint, code="CLI-005")
        return Silence(recorded=recorded, strict=self.strict, allowed=self.allow_silent)

    def sinks(
        self,
        output: Destination | None = None,
        *,
        max_live: int = MAX_LIVE,
        live: bool = False,
        quiet: bool = False,
        find_lines: FindLines | None = None,
        others: Sequence[Sink] = (),
    ) -> Sinks:
        """The sinks: the report for people, or as JSON, that goes to `output`, and those in files."""
        from mopsus.report import Options
        from mopsus.run import Sinks
        from mopsus.run.sink import wanted_reports

        files = {"junit": self.junit, "sarif": self.sarif, "html": self.html}
        options = Options(
            history=self.history, max_live=max_live, quiet=self.quiet or quiet, live=live, find_lines=find_lines
        )
        main = "json" if self.json else "terminal"
        return Sinks(wanted_reports(main, sys.stdout if output is None else output, files), options, others)
