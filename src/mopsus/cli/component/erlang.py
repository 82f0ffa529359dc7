"""`mopsus component erlang`: the processes of an Erlang or Elixir system against specs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mopsus.cli.logs import Groups, LogOptions, Verbose, are_about_components, dispatching_for, heard_of, line_is_row
from mopsus.cli.messages import CommandError
from mopsus.cli.options import (
    AllowSilent,
    FirstMatch,
    History,
    Html,
    Json,
    Junit,
    MaxViolations,
    NoCode,
    OnFault,
    OnFaultOption,
    Quiet,
    Sarif,
    Strict,
    silence_of,
)
from mopsus.cli.reporting import Reporting
from mopsus.cli.specs import load_specs
from mopsus.stopping import STOPPING


def erlang(
    specs: Annotated[list[Path], typer.Argument(help="Spec files about components.", metavar="SPEC…")],
    node: Annotated[
        str | None, typer.Option("--node", "-n", help="Observe this running node.", metavar="NAME@HOST")
    ] = None,
    cookie: Annotated[
        str | None,
        typer.Option(
            "--cookie",
            envvar="MOPSUS_COOKIE",
            help="The secret of that node; by default the one in the home folder. Better given in the environment.",
            metavar="COOKIE",
        ),
    ] = None,
    process: Annotated[
        list[str] | None,
        typer.Option(
            "--process",
            help="Begin with the process of this registered name, not with all. Repeatable.",
            metavar="NAME",
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option("--start", help="Start a node that calls this, and observe it.", metavar="MODULE:FUNCTION(…)"),
    ] = None,
    path: Annotated[
        list[Path] | None,
        typer.Option("--path", "-p", help="A folder of compiled modules for --start. Repeatable.", metavar="FOLDER"),
    ] = None,
    groups: Groups = False,
    verbose: Verbose = False,
    history: History = 32,
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
    first_match: FirstMatch = False,
) -> int:
    """Observe the processes of an Erlang or Elixir node from outside, and check them.

    The virtual machine's own tracing tells of spawns, messages and exits; the system is not changed. A running node is
    joined by a hidden one, which loads a small tracer into it and takes it out again at the end. A receive is told when
    a message arrives, because the virtual machine does not say when it is taken. What the processes of a running node
    were started with is not known any more: their arguments are the atom `unknown`.

    `mopsus component erlang calculator.hml --start 'calculator:demo(wrong)' --path ebin`

    It ends with the system, or by Ctrl-C. Status 0: nothing violated. 1: violations found. 2: the specs or the node
    could not be used.
    """
    from mopsus.events.component.erlang.node import ErlangNode, Target
    from mopsus.events.component.log.checking import hear_lines
    from mopsus.report import Options

    if (node is None) == (start is None):
        hint = "give --node name@host for a running node, or --start 'module:function(arguments)'"
        raise CommandError("it takes either a node or a start", hint=hint, code="CLI-005")
    compiled = load_specs(specs, first_match=first_match)
    log_options = LogOptions(groups=groups, verbose=verbose)
    if not are_about_components([each.spec for each in compiled[0].values()], log_options):
        raise CommandError("no spec is about components", hint="give an `.hml` file", code="CLI-005")
    options = Options(history=history, quiet=quiet, live=True, find_lines=line_is_row)
    run = Reporting(
        compiled,
        {"junit": junit, "sarif": sarif, "html": html},
        options,
        json=json,
        allow_code=not no_code,
        silence=silence_of(strict, allow_silent),
        on_fault=on_fault,
    )
    target = Target(node=node, cookie=cookie, roots=tuple(process or ()), entry=start, path=tuple(path or ()))
    STOPPING.expected = True
    with ErlangNode(target) as observed:
        result = hear_lines(
            tuple(run.specs.values()),
            node or str(start),
            observed.chunks(),
            on_verdict=run.report,
            open_monitor=run.open_monitor,
            dispatching=dispatching_for(log_options, json=json),
            max_violations=max_violations,
        )
    return run.finish(result, heard_of(result))
