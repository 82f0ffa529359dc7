"""`mopsus watch`: a growing log against specs."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from mopsus.cli.messages import CommandError
from mopsus.cli.options import (
    AllowUnmonitorable,
    BadRowPolicy,
    BadRows,
    ExtraSpecs,
    FirstMatch,
    History,
    Html,
    Json,
    Junit,
    MaxViolations,
    NoCode,
    Quiet,
    Sarif,
    TraceFormat,
)
from mopsus.cli.reporting import VIOLATED, Reporting
from mopsus.cli.specs import load_specs, sort_out


def watch(
    files: Annotated[list[str], typer.Argument(help="Spec files (`*.mop`) and one log.", metavar="SPEC… LOG")],
    spec: ExtraSpecs = None,
    format: Annotated[
        TraceFormat | None,
        typer.Option("--format", "-f", help="`csv` or `jsonl`, if the detection by content errs.", metavar="FORMAT"),
    ] = None,
    history: History = 32,
    bad_rows: BadRowPolicy = BadRows.STOP,
    max_violations: MaxViolations = None,
    json: Json = False,
    junit: Junit = None,
    sarif: Sarif = None,
    html: Html = None,
    quiet: Quiet = False,
    no_code: NoCode = False,
    allow_unmonitorable: AllowUnmonitorable = False,
    first_match: FirstMatch = False,
) -> int:
    """Follow a growing log, and report verdicts as they happen.

    The log is a CSV or JSON-lines file. It is read from its beginning, through rotation (it is renamed and a new one
    begun) and truncation, and need not be there yet. Ctrl-C ends it, as does SIGTERM; the reports are complete then.

    Status 0: nothing violated. 1: violations found. 2: the specs or the log could not be used.
    """
    from mopsus.events.trace import Format
    from mopsus.events.trace import watch as watch_log
    from mopsus.report import Options

    spec_files, logs = sort_out(files, spec or ())
    if len(logs) != 1 or logs[0] == "-":
        hint = "start a `mopsus watch` for each; for standard input use `mopsus check SPEC -`"
        raise CommandError(f"one log can be watched, not {', '.join(logs) or 'none'}", hint=hint, code="CLI-005")
    reports = {"junit": junit, "sarif": sarif, "html": html}
    options = Options(history=history, quiet=quiet, live=True)
    compiled = load_specs(spec_files, allow_unmonitorable=allow_unmonitorable, first_match=first_match)
    run = Reporting(compiled, reports, options, json=json, allow_code=not no_code)
    if sys.stderr.isatty() and not quiet:
        there = "" if Path(logs[0]).exists() else ", which is not there yet"
        print(f"Watching {logs[0]}{there}. Ctrl-C ends it.", file=sys.stderr)
    with stopped_by_signal() as stop:
        result = watch_log(
            run.specs,
            Path(logs[0]),
            on_verdict=run.report,
            bad_rows=bad_rows.value,
            max_violations=max_violations,
            format=Format(format.value) if format else None,
            open_monitor=run.open_monitor,
            stop=stop,
        )
    run.finish(result)
    return VIOLATED if result.violations else 0


@contextmanager
def stopped_by_signal() -> Iterator[threading.Event]:
    """An event that is set when a service manager asks the program to end."""
    stop = threading.Event()
    before = signal.signal(signal.SIGTERM, lambda number, frame: stop.set())
    try:
        yield stop
    finally:
        signal.signal(signal.SIGTERM, before)
