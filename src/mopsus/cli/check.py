"""`mopsus check`: recorded traces against specs."""

from __future__ import annotations

import sys
from functools import partial
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
    AtEnd,
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
from mopsus.cli.progress import ProgressBar
from mopsus.cli.reporting import Reporting
from mopsus.cli.specs import load_specs, sort_out
from mopsus.model.limits import MAX_LIVE
from mopsus.stopping import STOPPING

if TYPE_CHECKING:
    from mopsus.events.trace import CheckResult

Files = Annotated[
    list[str],
    typer.Argument(help="Spec files (`*.mop`, `*.hml`, `*.prop`) and traces, in any order.", metavar="SPEC… TRACE…"),
]


def check(
    files: Files,
    spec: ExtraSpecs = None,
    format: Annotated[
        TraceFormat | None,
        typer.Option(
            "--format",
            "-f",
            help="`csv`, `jsonl`, `parquet` or `arrow`, of components `text`, `jsonl` or `terms`; if detection errs.",
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
    at_end: AtEnd = False,
    root: Roots = None,
    groups: Groups = False,
    no_forks: NoForks = False,
    log_format: LoggingFormat = None,
    replay: Replay = False,
    verbose: Verbose = False,
    no_progress: Annotated[bool, typer.Option("--no-progress", help="No progress bar, even on a terminal.")] = False,
) -> int:
    """Check recorded traces against specs.

    A trace is a CSV, JSON-lines, Parquet or Arrow file, also compressed by gzip or zstd; a folder of them; a quoted
    pattern such as `'logs/*.csv.gz'`; or `-` for standard input. Several are read one after the other as one sequence
    of events, and all specs are checked in one pass.

    Column `event` names the event and a column named like a parameter has its value, unless the spec says otherwise
    (`row(…)`, `bind(…)`). Rows that no spec mentions are ignored and counted.

    If the specs are about components (`.hml` files, or pointcuts such as `recv(p, m)`), the traces are logs of what
    components do: in detectEr's text format, as JSON lines, or written by `logging`. Those of several processes of one
    run may come in any order.

    With `--at-end`, a property that is still undecided when the traces end is presumably true or presumably false:
    what it would be if nothing more happened. That is no verdict and does not change the status.

    Status 0: nothing violated. 1: violations found. 2: the specs or traces could not be used to the end, or a spec saw
    nothing in them; what was found is reported all the same.
    """
    from mopsus.events.trace import check as check_traces
    from mopsus.events.trace import find_lines
    from mopsus.report import Options

    spec_files, traces = sort_out(files, spec or ())
    if not traces:
        raise CommandError("no trace given", hint="name a file, a folder, or `-` for standard input", code="CLI-005")
    logs = LogOptions(root or (), groups, no_forks, log_format, replay, verbose)
    compiled = load_specs(spec_files, at_end=at_end, allow_unmonitorable=allow_unmonitorable, first_match=first_match)
    components = are_about_components([each.spec for each in compiled[0].values()], logs)
    forced = None if components else trace_format_of(format)
    reports = {"junit": junit, "sarif": sarif, "html": html}
    finder = line_is_row if components else partial(find_lines, format=forced)
    options = Options(history=history, max_live=max_live, quiet=quiet, find_lines=finder)
    silence = silence_of(strict, allow_silent, recorded=True)
    run = Reporting(
        compiled, reports, options, json=json, allow_code=not no_code, at_end=at_end, silence=silence, on_fault=on_fault
    )
    show_progress = sys.stderr.isatty() and not no_progress and not quiet
    with STOPPING.deferred(), ProgressBar(show_progress) as bar:
        if components:
            from mopsus.events.component.log.checking import check_logs

            result: CheckResult = check_logs(
                tuple(run.specs.values()),
                traces,
                on_verdict=run.report,
                open_monitor=run.open_monitor,
                dispatching=dispatching_for(logs, json=json, at_end=at_end),
                format=log_format_of(format),
                log_format=log_format,
                bad_rows=bad_rows.value,
                max_violations=max_violations,
                progress=bar.update,
            )
        else:
            result = check_traces(
                tuple(run.specs.values()),
                traces,
                on_verdict=run.report,
                bad_rows=bad_rows.value,
                max_violations=max_violations,
                format=forced,
                progress=bar.update,
                open_monitor=run.open_monitor,
            )
        bar.close()
        return run.finish(result, heard_of(result) if components else None)
