"""`mopsus dap`: the debugger of an editor, with monitors in it."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from mopsus.stopping import STOPPING


def dap(
    log: Annotated[
        Path | None,
        typer.Option("--log", help="Write down every message, to see what an editor asks for.", metavar="FILE"),
    ] = None,
) -> int:
    """Let an editor debug with monitors, by the Debug Adapter Protocol on standard input and output.

    This is a command for editors: VS Code, Neovim, Emacs, Helix and others that speak the protocol start it, and what
    is debugged, with which properties, is in the editor's own configuration: `program`, `args`, `properties` and more.
    C, C++ and whatever else GDB reads runs under GDB, a Python program under a debugger like `pdb`.

    The program stops where a property breaks, as it does at a breakpoint; monitors are among the variables, and `verde`
    commands work where an editor takes commands. Status 0 when the editor is done.
    """
    from mopsus.interactive.dap.front import Front
    from mopsus.interactive.dap.wire import Wire

    with ExitStack() as files:
        file = None if log is None else files.enter_context(log.open("w", encoding="utf-8"))
        wire = Wire(sys.stdin.buffer, sys.stdout.buffer, file)
        sys.stdout = sys.stderr  # whoever prints must not speak to the editor
        STOPPING.expected = True  # an editor that ends it so leaves nothing behind
        Front(wire).run()
    return 0
