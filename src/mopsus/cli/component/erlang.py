"""`mopsus component erlang`: the processes of an Erlang or Elixir system against specs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mopsus.cli.logs import Groups, LogOptions, Verbose, dispatching_for, require_components
from mopsus.cli.messages import CommandError
from mopsus.cli.options import FirstMatch, MaxViolations, MonitorOptions
from mopsus.stopping import STOPPING


def erlang(
    specs: Annotated[list[Path], typer.Argument(help="Spec files about components.", metavar="SPEC…")],
    monitoring: MonitorOptions,
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
    max_violations: MaxViolations = None,
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
    from mopsus.run import Run, load_specs
    from mopsus.run.recorded import line_is_row
    from mopsus.run.told import Told

    if (node is None) == (start is None):
        hint = "give --node name@host for a running node, or --start 'module:function(arguments)'"
        raise CommandError("it takes either a node or a start", hint=hint, code="CLI-005")
    loaded = load_specs(specs, first_match=first_match)
    require_components(each.spec for each in loaded[0].values())
    dispatching = dispatching_for(LogOptions(groups=groups, verbose=verbose), json=monitoring.json)
    run = Run(loaded, monitoring.run_options(), monitoring.sinks(live=True, find_lines=line_is_row))
    target = Target(node=node, cookie=cookie, roots=tuple(process or ()), entry=start, path=tuple(path or ()))
    STOPPING.expected = True
    with ErlangNode(target) as observed:
        result = run.watch(Told(node or str(start), observed.chunks(), dispatching, max_violations=max_violations))
    return run.finish(result)
