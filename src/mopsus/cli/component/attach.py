"""`mopsus component attach`: watch a program that runs already."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mopsus.cli.messages import CommandError
from mopsus.cli.options import (
    AllowSilent,
    AllowUnmonitorable,
    ExtraSpecs,
    FirstMatch,
    History,
    Html,
    Json,
    Junit,
    Monitors,
    NoCode,
    OnFault,
    OnFaultOption,
    Quiet,
    Sarif,
    Strict,
    WhenFull,
    WhenFullOption,
    silence_of,
)
from mopsus.cli.reporting import Reporting
from mopsus.cli.specs import load_specs, sort_out
from mopsus.stopping import STOPPING


def attach(
    arguments: Annotated[
        list[str], typer.Argument(help="Spec files, then the number of the program's process.", metavar="SPEC… PID")
    ],
    spec: ExtraSpecs = None,
    when_full: WhenFullOption = WhenFull.BLOCK,
    monitors: Monitors = 1,
    strict: Strict = False,
    allow_silent: AllowSilent = False,
    on_fault: OnFaultOption = OnFault.REPORT,
    history: History = 32,
    json: Json = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the report there, not to standard output.", metavar="FILE"),
    ] = None,
    junit: Junit = None,
    sarif: Sarif = None,
    html: Html = None,
    quiet: Quiet = False,
    no_code: NoCode = False,
    allow_unmonitorable: AllowUnmonitorable = False,
    first_match: FirstMatch = False,
) -> int:
    """Watch the components of a program that was started by `mopsus component start`.

    It goes on until the program ends, until `mopsus component detach` or until it is interrupted; none of that disturbs
    the program. Components that live already are watched from now on, and their verdicts say so.

    `mopsus component attach server.hml 4711`
    """
    from mopsus.cli.outline import watch_session
    from mopsus.cli.run import Verdicts
    from mopsus.cli.sidecar import Terms
    from mopsus.events.component.outline.session import Session
    from mopsus.report import Options

    spec_files, rest = sort_out(arguments, spec or ())
    if len(rest) != 1 or not rest[0].isdecimal():
        hint = "write `mopsus component attach SPEC… PID`"
        raise CommandError("the number of one process is needed", hint=hint, code="CLI-005")
    session = Session.find(int(rest[0]))
    STOPPING.expected = True
    reporting = Reporting(
        load_specs(spec_files, allow_unmonitorable=allow_unmonitorable, first_match=first_match),
        {"junit": junit, "sarif": sarif, "html": html},
        Options(history=history, quiet=quiet, live=True),
        json=json,
        allow_code=not no_code,
        output=output,
        silence=silence_of(strict, allow_silent),
        on_fault=on_fault,
    )
    terms = Terms(when_full.value, monitors=monitors)
    return reporting.finish(watch_session(session, reporting, terms, Verdicts(reporting).add))
