"""`mopsus component start`: a program that can be watched later."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer


def start(
    arguments: Annotated[
        list[str], typer.Argument(help="The program and its arguments.", metavar="-- PROGRAM [ARGUMENT…]")
    ],
    module: Annotated[
        str | None, typer.Option("--module", "-m", help="Run a module, as `python -m` does.", metavar="MODULE")
    ] = None,
) -> int:
    """Run a Python program that `mopsus component attach` can watch while it runs.

    Until then nothing is told and nobody listens, which costs a look at one word of memory for each event. The program
    takes the place of this process, so its process number is known: it is said on standard error.

    `mopsus component start -- server.py --port 8000`
    """
    from mopsus.cli.arguments import program_of
    from mopsus.events.component.outline.program import command_of, environment_of
    from mopsus.events.component.outline.session import Session

    program = program_of(arguments, module)
    session = Session.create()
    print(f"mopsus: process {os.getpid()} can be attached to", file=sys.stderr, flush=True)
    command = command_of(program)
    os.execve(command[0], command, environment_of(session))
