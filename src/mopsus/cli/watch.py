"""`mopsus watch`: a growing log against specs."""

from __future__ import annotations

import sys
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Annotated

import typer

from mopsus.cli.arguments import sort_out
from mopsus.cli.logs import LogOptions
from mopsus.cli.messages import CommandError
from mopsus.cli.options import MonitorOptions, SpecOptions
from mopsus.model.text import printable
from mopsus.stopping import STOPPING


def watch(
    files: Annotated[list[str], typer.Argument(help="Spec files and one log.", metavar="SPEC… LOG")],
    choice: SpecOptions,
    logs: LogOptions,
    monitoring: MonitorOptions,
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
    from mopsus.events.trace.keeping import Keeper
    from mopsus.report.journal import Journal
    from mopsus.run import Run
    from mopsus.run.followed import Followed
    from mopsus.run.recorded import line_is_row
    from mopsus.spec.component import about_components

    spec_files, named = sort_out(files, choice.spec or ())
    if len(named) != 1 or named[0] == "-":
        hint = "start a `mopsus watch` for each; for standard input use `mopsus check SPEC -`"
        raise CommandError(f"one log can be watched, not {', '.join(named) or 'none'}", hint=hint, code="CLI-005")
    log = Path(named[0])
    loaded = choice.load(spec_files)
    specs = [each.spec for each in loaded[0].values()]
    reading = logs.reading(specs, json=monitoring.json)
    components = reading.dispatching is not None
    if logs.groups and not logs.root:
        hint = "name the components that are there from the beginning; without them all must wait for the log's end"
        raise CommandError("--groups needs --root to follow a log", hint=hint, code="CLI-005")
    if components and state is not None:
        hint = "follow it without, from its beginning"
        raise CommandError("--state is for CSV and JSON lines, not for logs of components", hint=hint, code="CLI-005")
    if state is not None and logs.max_violations is not None:
        hint = "what a run that is started again comes upon once more would count, too"
        raise CommandError("--state and --max-violations exclude each other", hint=hint, code="CLI-005")
    journal = None if verdicts is None else Journal(verdicts)
    keeper = None
    if state is not None:
        about = {
            "log": str(log.absolute()),
            "specs": sorted(loaded[0]),
            "format": reading.format,
            "bad_rows": reading.bad_rows,
            "history": monitoring.history,
            "verdicts": None if verdicts is None else str(verdicts.absolute()),
        }
        keeper = Keeper(state, about, journal=journal, interval_s=state_every)
    options = monitoring.run_options(max_live=choice.max_live)
    sinks = monitoring.sinks(
        max_live=choice.max_live,
        live=True,
        find_lines=line_is_row if components and all(map(about_components, specs)) else None,
        others=() if journal is None else [journal],
    )
    source = Followed(specs, log, reading, max_violations=logs.max_violations, keeper=keeper, silence=options.silence)
    run = Run(loaded, options, sinks, is_new=None if journal is None else journal.is_new)
    if sys.stderr.isatty() and not monitoring.quiet:
        there = "" if log.exists() else ", which is not there yet"
        print(f"Watching {printable(str(log))}{there}. Ctrl-C ends it.", file=sys.stderr)
    STOPPING.expected = True
    with nullcontext() if journal is None else closing(journal), STOPPING.deferred():
        return run.go(source)
