"""`mopsus check`: recorded traces against specs."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from mopsus.cli.arguments import sort_out
from mopsus.cli.logs import LogOptions
from mopsus.cli.messages import CommandError
from mopsus.cli.options import AtEnd, MonitorOptions, SpecOptions
from mopsus.cli.progress import ProgressBar
from mopsus.stopping import STOPPING

Files = Annotated[
    list[str],
    typer.Argument(help="Spec files (`*.mop`, `*.hml`, `*.prop`) and traces, in any order.", metavar="SPEC… TRACE…"),
]


def check(
    files: Files,
    choice: SpecOptions,
    logs: LogOptions,
    monitoring: MonitorOptions,
    at_end: AtEnd = False,
    no_progress: Annotated[bool, typer.Option("--no-progress", help="No progress bar, even on a terminal.")] = False,
) -> int:
    """Check recorded traces against specs.

    A trace is a CSV, JSON-lines, Parquet or Arrow file, also compressed by gzip or zstd; a folder of them; a quoted
    pattern such as `'logs/*.csv.gz'`; or `-` for standard input. Several are read one after the other as one sequence
    of events, and all specs are checked in one pass.

    Column `event` names the event and a column named like a parameter has its value, unless the spec says otherwise
    (`row(…)`, `bind(…)`). Rows that no spec mentions are ignored and counted.

    For specs about components (`.hml` files, or pointcuts such as `recv(p, m)`), the traces are logs of what components
    do: in detectEr's text format, as JSON lines, or written by `logging`. Those of several processes of one run may
    come in any order. With specs of both kinds, each file is given to the readers that can read it.

    With `--at-end`, a property that is still undecided when the traces end is presumably true or presumably false:
    what it would be if nothing more happened. That is no verdict and does not change the status.

    Status 0: nothing violated. 1: violations found. 2: the specs or traces could not be used to the end, or a spec saw
    nothing in them; what was found is reported all the same.
    """
    from mopsus.run import Run
    from mopsus.run.recorded import RecordedFiles

    spec_files, traces = sort_out(files, choice.spec or ())
    if not traces:
        raise CommandError("no trace given", hint="name a file, a folder, or `-` for standard input", code="CLI-005")
    loaded = choice.load(spec_files, at_end=at_end)
    specs = [each.spec for each in loaded[0].values()]
    show_progress = sys.stderr.isatty() and not no_progress and not monitoring.quiet
    with STOPPING.deferred():
        with ProgressBar(show_progress) as bar:
            source = RecordedFiles(
                specs,
                traces,
                logs.reading(specs, json=monitoring.json, at_end=at_end),
                max_violations=logs.max_violations,
                progress=bar.update,
            )
            options = monitoring.run_options(max_live=choice.max_live, at_end=at_end, recorded=True)
            run = Run(loaded, options, monitoring.sinks(max_live=choice.max_live, find_lines=source.find_lines))
            result = run.watch(source)
        return run.finish(result)
