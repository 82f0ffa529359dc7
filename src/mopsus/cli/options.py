"""Options that several commands have."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from mopsus.cli.messages import CommandError
from mopsus.model import Silence


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


class OnFault(StrEnum):
    """What to do when code of a spec raises an error."""

    IGNORE = "ignore"
    REPORT = "report"
    STOP = "stop"


def silence_of(strict: bool, allow_silent: bool, *, recorded: bool = False) -> Silence:
    """What `--strict` and `--allow-silent` ask for together."""
    if strict and allow_silent:
        hint = "--strict fails for what --allow-silent accepts"
        raise CommandError("--strict and --allow-silent exclude each other", hint=hint, code="CLI-005")
    return Silence(recorded=recorded, strict=strict, allowed=allow_silent)


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
