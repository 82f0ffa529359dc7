"""Stage 4: a whole program as a component: its main thread begins and ends like any other."""

from __future__ import annotations

import os

from mopsus.events.component import hooks, reasons
from mopsus.events.component.identity import OUTSIDE, current
from mopsus.events.component.occurrence import Function, Kind
from mopsus.events.weave.launch import Ended, Program

MAIN = "__main__"
"""The name of the function that a program's main thread runs."""


def begin_program(program: Program) -> None:
    """The program begins, in this thread."""
    component = current()
    if component is not None:
        component.name = program.name
        hooks.emit(Kind.INIT, component.pid, OUTSIDE, program_function(program))


def end_program(ended: Ended) -> None:
    """The program has ended."""
    component = current()
    if component is not None:
        hooks.emit(Kind.EXIT, component.pid, None, reasons.of_code(ended.status))


def program_function(program: Program) -> Function:
    """What the main thread of a program runs; the arguments are those of the command line."""
    name = (
        program.name.removesuffix(".__main__") if program.is_module else os.path.basename(os.path.abspath(program.name))
    )
    return Function(name if program.is_module else os.path.splitext(name)[0], MAIN, program.arguments)
