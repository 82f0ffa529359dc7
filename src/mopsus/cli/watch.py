"""`mopsus watch`: a growing log against specs."""

from __future__ import annotations

import sys
from contextlib import closing, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mopsus.cli.logs import (
    Groups,
    LoggingFormat,
    LogOptions,
    NoForks,
    Replay,
    Roots,
    Verbose,
    are_about_components,
    dispatching_for,
    heard_of,
    line_is_row,
    log_format_of,
    trace_format_of,
)
from mopsus.cli.messages import CommandError
from mopsus.cli.options import (
    AllowSilent,
    AllowUnmonitorable,
    BadRowPolicy,
    BadRows,
    ExtraSpecs,
    FirstMatch,
    History,
    Html,
    Json,
    Junit,
    MaxLive,
    MaxViolations,
    NoCode,
    OnFault,
    OnFaultOption,
    Quiet,
    Sarif,
    Strict,
    TraceFormat,
    silence_of,
)
from mopsus.cli.reporting import Reporting
from mopsus.cli.specs import load_specs, sort_out
from mopsus.model.limits import MAX_LIVE
from mopsus.model.text import printable
from mopsus.stopping import STOPPING

if TYPE_CHECKING:
    from mopsus.events.trace import CheckResult
    from mopsus.model import Verdict
    from mopsus.report.journal import Journal


def watch(
    files: Annotated[list[str], typer.Argument(help="Spec files and one log.", metavar="SPEC… LOG")],
    spec: ExtraSpecs = None,
    format: Annotated[
        TraceFormat | None,
        typer.Option(
            "--format",
            "-f",
            help="`csv`, `jsonl`, or of components `text`, `jsonl`, `terms`, if the detection by content errs.",
            metavar="FORMAT",
        ),
    ] = None,
    history: History = 32,
    max_live: MaxLive = MAX_LIVE,
    bad_rows: BadRowPolicy = BadRows.STOP,
    max_violations: MaxViolations = None,
    strict: Strict = False,
    allow_silent: AllowSilent = False,
    on_fault: OnFaultOption = OnFault.REPORT,
    json: Json = False,
    junit: Junit = None,
    sarif: Sarif = None,
    html: Html = None,
    quiet: Quiet = False,
    no_code: NoCode = False,
    allow_unmonitorable: AllowUnmonitorable = False,
    first_match: FirstMatch = False,
    root: Roots = None,
    groups: Groups = False,
    no_forks: NoForks = False,
    log_format: LoggingFormat = None,
    replay: Replay = False,
    verbose: Verbose = False,
    state: Annotated[
        Path | None,
        typer.Option("--state", help="Keep the state there, and go on where it was kept last.", metavar="FILE"),
    ] = None,
    state_every: Annotated[
        float, typer.Option("--state-every", help="How often the state is kept.", min=0, metavar="SECONDS")
    ] = 10.0,
    verdicts: Annotated[
        Path | None,
        typer.Option("--verdicts", help="Append each verdict to a file, as a line of JSON.", metavar="FILE"),
    ] = None,
) -> int:
    """Follow a growing log, and report verdicts as they happen.

    The log is a CSV or JSON-lines file or, if the specs are about components, a log of what they do. It is read from
    its beginning, through rotation (it is renamed and a new one begun) and truncation, and need not be there yet.
    Ctrl-C ends it, as does SIGTERM; the reports are complete then.

    With `--state` a run that is started again goes on where the last one ended, even if that was killed, through any
    number of rotations meanwhile. In the file that `--verdicts` names, every verdict is once.

    Status 0: nothing violated. 1: violations found. 2: the specs or the log could not be used, or a spec
    can see nothing in it.
    """
    from mopsus.events.trace import watch as watch_trace
    from mopsus.events.trace.keeping import Keeper
    from mopsus.report import Options
    from mopsus.report.journal import Journal

    spec_files, logs = sort_out(files, spec or ())
    if len(logs) != 1 or logs[0] == "-":
        hint = "start a `mopsus watch` for each; for standard input use `mopsus check SPEC -`"
        raise CommandError(f"one log can be watched, not {', '.join(logs) or 'none'}", hint=hint, code="CLI-005")
    log = Path(logs[0])
    log_options = LogOptions(root or (), groups, no_forks, log_format, replay, verbose)
    reports = {"junit": junit, "sarif": sarif, "html": html}
    compiled = load_specs(spec_files, allow_unmonitorable=allow_unmonitorable, first_match=first_match)
    components = are_about_components([each.spec for each in compiled[0].values()], log_options)
    if groups and not root:
        hint = "name the components that are there from the beginning; without them all must wait for the log's end"
        raise CommandError("--groups needs --root to follow a log", hint=hint, code="CLI-005")
    options = Options(
        history=history, max_live=max_live, quiet=quiet, live=True, find_lines=line_is_row if components else None
    )
    silence = silence_of(strict, allow_silent)
    run = Reporting(compiled, reports, options, json=json, allow_code=not no_code, silence=silence, on_fault=on_fault)
    if components and state is not None:
        hint = "follow it without, from its beginning"
        raise CommandError("--state is for CSV and JSON lines, not for logs of components", hint=hint, code="CLI-005")
    if state is not None and max_violations is not None:
        hint = "what a run that is started again comes upon once more would count, too"
        raise CommandError("--state and --max-violations exclude each other", hint=hint, code="CLI-005")
    journal = None if verdicts is None else Journal(verdicts)
    report = run.report if journal is None else partial(_report_new, run, journal)
    if sys.stderr.isatty() and not quiet:
        there = "" if log.exists() else ", which is not there yet"
        print(f"Watching {printable(str(log))}{there}. Ctrl-C ends it.", file=sys.stderr)
    STOPPING.expected = True
    with nullcontext() if journal is None else closing(journal), STOPPING.deferred():
        if components:
            from mopsus.events.component.log.checking import watch_log

            result: CheckResult = watch_log(
                tuple(run.specs.values()),
                log,
                on_verdict=report,
                open_monitor=run.open_monitor,
                dispatching=dispatching_for(log_options, json=json),
                format=log_format_of(format),
                log_format=log_format,
                bad_rows=bad_rows.value,
                max_violations=max_violations,
            )
        else:
            about = {
                "log": str(log.absolute()),
                "specs": sorted(run.specs),
                "format": None if format is None else format.value,
                "bad_rows": bad_rows.value,
                "history": history,
                "verdicts": None if verdicts is None else str(verdicts.absolute()),
            }
            keeper = None if state is None else Keeper(state, about, journal=journal, interval_s=state_every)
            result = watch_trace(
                tuple(run.specs.values()),
                log,
                on_verdict=report,
                bad_rows=bad_rows.value,
                max_violations=max_violations,
                format=trace_format_of(format),
                open_monitor=run.open_monitor,
                keeper=keeper,
                silence=silence,
            )
        return run.finish(result, heard_of(result) if components else None)


def _report_new(run: Reporting, journal: Journal, verdict: Verdict) -> None:
    """Report a verdict that an earlier run has not written. What is in the file has been reported elsewhere, too."""
    if journal.is_new(verdict):
        run.report(verdict)
        journal.add(verdict)
