"""From files to monitors: properties, the functions that they call, and scenarios."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mopsus.interactive.debugger import DebuggerError
from mopsus.interactive.scenario.model import Scenario
from mopsus.interactive.scenario.syntax import load_scenario
from mopsus.interactive.setup import Setup
from mopsus.spec import load_file, render

if TYPE_CHECKING:
    from mopsus.interactive.session import Session
    from mopsus.interactive.watch import Watch


def prepare(session: Session, setup: Setup) -> None:
    """Make the monitors that a set-up asks for. Errors in files are raised, each with its place."""
    session.silent, session.stops_at_faults = setup.batch, setup.stop_at_fault
    # The parent of a child that is followed may have become another program.
    session.sight.allow_silent = setup.allow_silent or setup.legacy is not None
    for each in setup.properties:
        load_property(session, each.file, each.functions, each.scenario, quiet=each.quiet or setup.batch)
    live = session.live
    live.title, live.python, live.in_terminal = shlex.join(setup.program), setup.python, setup.text_graph
    if setup.graph:
        show_view(session)


def show_view(session: Session) -> None:
    """Open the live view, and tell where it is."""
    address = session.live.open()
    session.debugger.write(f"The live view is at {address}")


def load_property(
    session: Session,
    file: str,
    functions: str | None = None,
    scenario: str | None = None,
    *,
    quiet: bool = False,
    number: int | None = None,
) -> list[Watch]:
    """A monitor for each property in a file; the first one gets the number."""
    read = load_file(file)
    for warning in () if session.silent else read.warnings:  # whoever reads the report without a prompt has them there
        session.warn(render(warning))
    names = load_functions(session, functions) if functions is not None else None
    reactions = None
    if scenario is not None:
        reactions = read_scenario(session, scenario)
    watches = []
    for spec in read.specs.values():
        watches.append(session.add(spec, reactions, names, quiet, number=number))
        number = None
    return watches


def load_functions(session: Session, file: str) -> dict[str, Any]:
    """The names that a file of functions defines."""
    _refuse_code(session, file)
    path = Path(file)
    names: dict[str, Any] = {"__name__": path.stem, "__file__": str(path), "print": session.print}
    try:
        exec(compile(path.read_bytes(), str(path), "exec"), names)
    except OSError as error:
        raise DebuggerError(f"cannot read {file}: {error.strerror}", hint="check its name and folder") from error
    except Exception as error:  # whatever it does wrong
        raise DebuggerError(f"{file} cannot be run: {type(error).__name__}: {error}") from error
    return names


def read_scenario(session: Session, file: str) -> Scenario:
    """The scenario in a file."""

    _refuse_code(session, file)
    return load_scenario(file)


def _refuse_code(session: Session, file: str) -> None:
    """Functions and scenarios are code, whatever is in them."""
    if not session.allow_code:
        raise DebuggerError(f"{file} contains Python code", hint="allow code only in files that you trust")
