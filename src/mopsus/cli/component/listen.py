"""`mopsus component listen`: components of any system, which tell over a local socket what they do."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from mopsus.cli.logs import Groups, LogOptions, NoForks, Verbose, dispatching_for, require_components
from mopsus.cli.messages import CommandError
from mopsus.cli.options import FirstMatch, MaxViolations, MonitorOptions
from mopsus.stopping import STOPPING


def listen(
    specs: Annotated[list[Path], typer.Argument(help="Spec files about components.", metavar="SPEC…")],
    monitoring: MonitorOptions,
    socket: Annotated[Path | None, typer.Option("--socket", help="The socket is this file.", metavar="FILE")] = None,
    port: Annotated[
        int, typer.Option(help="Without --socket: this port of the loopback interface; 0 is any.", min=0, max=65535)
    ] = 0,
    groups: Groups = False,
    no_forks: NoForks = False,
    verbose: Verbose = False,
    max_violations: MaxViolations = None,
    first_match: FirstMatch = False,
) -> int:
    """Check what components tell over a local socket, as it comes.

    A producer connects and sends lines: first the token, then a line for each event, as detectEr's logs have them. The
    token is that in the environment variable MOPSUS_TOKEN, or a new one; it is said on standard error with the address.
    It ends when every producer that had the token is gone, or by Ctrl-C.

    `mopsus component listen server.hml --socket events.sock`
    """
    from mopsus.events.component.outline.listen import Listener
    from mopsus.model import Diagnostic
    from mopsus.run import Run, load_specs
    from mopsus.run.told import Told

    loaded = load_specs(specs, first_match=first_match)
    require_components(each.spec for each in loaded[0].values())
    dispatching = dispatching_for(LogOptions(groups=groups, no_forks=no_forks, verbose=verbose), json=monitoring.json)
    run = Run(loaded, monitoring.run_options(), monitoring.sinks(live=True))
    try:
        listener = Listener(None if socket is None else str(socket), port, os.environ.get("MOPSUS_TOKEN"))
    except OSError as error:
        raise CommandError(f"cannot listen: {error.strerror or error}", hint="choose another socket") from None
    STOPPING.expected = True
    with STOPPING.deferred(), listener:
        print(f"mopsus: listening at {listener.address}, token {listener.token}", file=sys.stderr, flush=True)
        told = Told(listener.address, listener.pieces(), dispatching, max_violations=max_violations)
        result = run.watch(told)
        if listener.cut:
            who = "a producer was" if listener.cut == 1 else f"{listener.cut:,} producers were"
            message = f"{who} gone in the midst of a line, which is left out"
            result.warnings.append(Diagnostic("LOG-008", message, hint="what else it did is not known", warning=True))
        return run.finish(result)
