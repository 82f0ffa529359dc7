"""`mopsus component attach`: watch a program that runs already."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mopsus.cli.arguments import sort_out
from mopsus.cli.messages import CommandError
from mopsus.cli.options import (
    AllowUnmonitorable,
    ExtraSpecs,
    FirstMatch,
    MonitorOptions,
    Monitors,
    WhenFull,
    WhenFullOption,
)
from mopsus.stopping import STOPPING


def attach(
    arguments: Annotated[
        list[str], typer.Argument(help="Spec files, then the number of the program's process.", metavar="SPEC… PID")
    ],
    monitoring: MonitorOptions,
    spec: ExtraSpecs = None,
    when_full: WhenFullOption = WhenFull.BLOCK,
    monitors: Monitors = 1,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the report there, not to standard output.", metavar="FILE"),
    ] = None,
    allow_unmonitorable: AllowUnmonitorable = False,
    first_match: FirstMatch = False,
) -> int:
    """Watch the components of a program that was started by `mopsus component start`.

    It goes on until the program ends, until `mopsus component detach` or until it is interrupted; none of that disturbs
    the program. Components that live already are watched from now on, and their verdicts say so.

    `mopsus component attach server.hml 4711`
    """
    from mopsus.events.component.outline.session import Session
    from mopsus.run import Run, load_specs
    from mopsus.run.attached import AttachedProgram
    from mopsus.run.sidecar import Terms

    spec_files, rest = sort_out(arguments, spec or ())
    if len(rest) != 1 or not rest[0].isdecimal():
        hint = "write `mopsus component attach SPEC… PID`"
        raise CommandError("the number of one process is needed", hint=hint, code="CLI-005")
    session = Session.find(int(rest[0]))
    STOPPING.expected = True
    loaded = load_specs(spec_files, allow_unmonitorable=allow_unmonitorable, first_match=first_match)
    run = Run(loaded, monitoring.run_options(switches=True), monitoring.sinks(output, live=True))
    return run.go(AttachedProgram(session, Terms(when_full.value, monitors=monitors)))
