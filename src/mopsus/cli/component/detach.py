"""`mopsus component detach`: stop to watch a program that goes on."""

from __future__ import annotations

from typing import Annotated

import typer


def detach(
    pid: Annotated[int, typer.Argument(help="The number of the program's process.", metavar="PID")],
) -> int:
    """Let the monitor of a program report what it has found, and end.

    The program goes on, and can be attached to again.
    """
    from mopsus import _core
    from mopsus.events.component.outline.messages import OutlineError
    from mopsus.events.component.outline.session import Session

    board = _core.Board.open(Session.find(pid).board)
    if not board.attended():
        hint = "`mopsus component attach` watches one"
        raise OutlineError(f"nobody watches process {pid}", hint=hint, code="OUTLINE-002")
    board.dismiss()
    return 0
