"""`mopsus component listen`: components of any system, which tell over a local socket what they do."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from mopsus.cli.logs import Groups, LogOptions, NoForks, Verbose, are_about_components, dispatching_for, heard_of
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


def listen(
    specs: Annotated[list[Path], typer.Argument(help="Spec files about components.", metavar="SPEC…")],
    socket: Annotated[Path | None, typer.Option("--socket", help="The socket is this file.", metavar="FILE")] = None,
    port: Annotated[
        int, typer.Option(help="Without --socket: this port of the loopback interface; 0 is any.", min=0, max=65535)
    ] = 0,
    groups: Groups = False,
    no_forks: NoForks = False,
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
    """Check what components tell over a local socket, as it comes.

    A producer connects and sends lines: first the token, then a line for each event, as detectEr's logs have them. The
    token is that in the environment variable MOPSUS_TOKEN, or a new one; it is said on standard error with the address.
    It ends when every producer that had the token is gone, or by Ctrl-C.

    `mopsus component listen server.hml --socket events.sock`
    """
    from mopsus.events.component.log.checking import hear_lines
    from mopsus.events.component.outline.listen import Listener
    from mopsus.model import Diagnostic
    from mopsus.report import Options

    compiled = load_specs(specs, first_match=first_match)
    log_options = LogOptions(groups=groups, no_forks=no_forks, verbose=verbose)
    if not are_about_components([each.spec for each in compiled[0].values()], log_options):
        raise CommandError("no spec is about components", hint="give an `.hml` file", code="CLI-005")
    run = Reporting(
        compiled,
        {"junit": junit, "sarif": sarif, "html": html},
        Options(history=history, quiet=quiet, live=True),
        json=json,
        allow_code=not no_code,
        silence=silence_of(strict, allow_silent),
        on_fault=on_fault,
    )
    try:
        listener = Listener(None if socket is None else str(socket), port, os.environ.get("MOPSUS_TOKEN"))
    except OSError as error:
        raise CommandError(f"cannot listen: {error.strerror or error}", hint="choose another socket") from None
    STOPPING.expected = True
    with STOPPING.deferred(), listener:
        print(f"mopsus: listening at {listener.address}, token {listener.token}", file=sys.stderr, flush=True)
        result = hear_lines(
            tuple(run.specs.values()),
            listener.address,
            listener.pieces(),
            on_verdict=run.report,
            open_monitor=run.open_monitor,
            dispatching=dispatching_for(log_options, json=json),
            max_violations=max_violations,
        )
        if listener.cut:
            who = "a producer was" if listener.cut == 1 else f"{listener.cut:,} producers were"
            message = f"{who} gone in the midst of a line, which is left out"
            result.warnings.append(Diagnostic("LOG-008", message, hint="what else it did is not known", warning=True))
        return run.finish(result, heard_of(result))
