"""`mopsus debug`: a program under a debugger that properties drive."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mopsus.cli.messages import CommandError
from mopsus.cli.options import MonitorOptions
from mopsus.interactive.follow import Follow
from mopsus.run.policy import OnFault

if TYPE_CHECKING:
    from mopsus.interactive.setup import Setup, Watched

CONTEXT = {"allow_interspersed_args": False}
"""What stands after the program is the program's own."""


@dataclass(frozen=True, slots=True)
class DebugOptions:
    """What is debugged with what, and how the developer is shown it."""

    prop: Annotated[
        list[str] | None,
        typer.Option(
            "--prop",
            "-p",
            help="A file of properties (`*.prop`, `*.mop`). `,scenario=FILE`, `,functions=FILE` and `,quiet` after its "
            "name are for this one alone.",
            metavar="FILE",
        ),
    ] = None
    scenario: Annotated[
        Path | None,
        typer.Option("--scenario", "-s", help="What to do when a state is entered or left.", metavar="FILE"),
    ] = None
    functions: Annotated[
        Path | None, typer.Option("--functions", help="Python functions that properties call.", metavar="FILE")
    ] = None
    batch: Annotated[
        bool, typer.Option("--batch", help="No prompt: run to the end or the first stop, and print the report.")
    ] = False
    process: Annotated[
        int | None, typer.Option("--attach", help="Debug a process that runs already.", metavar="PID")
    ] = None
    debugger: Annotated[
        str | None, typer.Option("--debugger", help="`gdb` or `python`, if detection errs.", metavar="NAME")
    ] = None
    hooks: Annotated[
        bool,
        typer.Option(
            help="Step quiet properties inside of the program, where that can be done, instead of stopping it at "
            "each event."
        ),
    ] = True
    follow: Annotated[
        Follow,
        typer.Option(
            "--follow-fork",
            help="Which process is watched when a compiled program makes another one of itself; `both` needs --batch.",
        ),
    ] = Follow.PARENT
    graph: Annotated[
        bool,
        typer.Option(
            "--graph",
            help="Show the properties in the browser: states, transitions, slices and events, as the program runs.",
        ),
    ] = False
    text_graph: Annotated[
        bool, typer.Option("--text-graph", help="Draw the properties in the terminal, at every stop.")
    ] = False
    record: Annotated[
        Path | None,
        typer.Option(
            "--record", help="Write the events to a CSV or JSON-lines file, for `mopsus check`.", metavar="FILE"
        ),
    ] = None

    def setup(self, program: Sequence[str], monitoring: MonitorOptions) -> Setup:
        """All that the debugger is told."""
        from mopsus.interactive.setup import Setup

        if not self.prop:
            hint = "write --prop FILE before the program"
            raise CommandError("no property given", hint=hint, code="CLI-005")
        if not program and self.process is None:
            hint = "write it after everything else: mopsus debug --prop queue.prop ./program"
            raise CommandError("no program given", hint=hint, code="CLI-005")
        if program and self.process is not None:
            hint = "give one of the two"
            raise CommandError("a program and --attach exclude each other", hint=hint, code="CLI-005")
        return Setup(
            tuple(_watched(text, self.scenario, self.functions) for text in self.prop),
            tuple(program),
            process=self.process,
            batch=self.batch,
            history=monitoring.history,
            record=None if self.record is None else str(self.record.absolute()),
            allow_code=not monitoring.no_code,
            hooks=self.hooks,
            follow=self.follow,
            allow_silent=monitoring.allow_silent,
            stop_at_fault=monitoring.on_fault is OnFault.STOP,
            graph=self.graph,
            text_graph=self.text_graph,
            python=sys.executable,
        )


def debug(
    debugging: DebugOptions,
    monitoring: MonitorOptions,
    program: Annotated[
        list[str] | None,
        typer.Argument(
            help="The program and its arguments; `-- -m module` for a module.", metavar="PROGRAM [ARGUMENT…]"
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the report there, not to standard error.", metavar="FILE"),
    ] = None,
) -> int:
    """Debug a program with properties that watch it, and stop where one breaks.

    C, C++ and whatever else GDB reads runs under GDB, a Python program under a debugger like `pdb`. The debugger's own
    commands work as ever; `verde help` at its prompt lists those for monitors, checkpoints and scenarios.

    Without a scenario the program stops as soon as a property is violated. With one, the scenario decides.

    With `--batch` there is no prompt: `mopsus debug --batch --prop queue.prop ./program`. The program's output is its
    own; the report goes to standard error, or to a file by `--output`.

    Status 0: nothing violated. 1: violations found, or the program died of a signal. 2: the properties or the program
    could not be used, or an event cannot happen in this program. The status of the program itself is in the report.
    """
    from mopsus.interactive.backends import choose
    from mopsus.interactive.source import DebuggedProgram
    from mopsus.run import Run, load_specs

    setup = debugging.setup(program or (), monitoring)
    loaded = load_specs([Path(each.file) for each in setup.properties], functions=_functions(setup))
    _check_scenarios(setup)
    backend = choose(setup, debugging.debugger)
    _check_following(setup, backend.name)
    sinks = monitoring.sinks(sys.stderr if output is None else output, quiet=not debugging.batch)
    return Run(loaded, monitoring.run_options(), sinks).go(DebuggedProgram(backend, setup))


def _check_following(setup: Setup, debugger: str) -> None:
    if setup.follow is Follow.BOTH and not setup.batch:
        hint = "watch both with --batch, or follow the child"
        raise CommandError("one prompt cannot be in two processes", hint=hint, code="CLI-005")
    if setup.follow is not Follow.PARENT and debugger == "python":
        hint = "leave --follow-fork out"
        raise CommandError("copies that a Python program makes of itself are not followed", hint=hint, code="CLI-005")


def _watched(text: str, scenario: Path | None, functions: Path | None) -> Watched:
    """What `--prop` was given: a file, and after commas what is for it alone."""
    from mopsus.interactive.setup import Watched

    name, *parts = text.split(",")
    given = {"scenario": _text(scenario), "functions": _text(functions)}
    quiet = False
    for part in parts:
        key, sign, value = part.partition("=")
        if part == "quiet":
            quiet = True
        elif key in given and sign:
            given[key] = value or None
        else:
            hint = "write --prop FILE,scenario=FILE,functions=FILE,quiet"
            raise CommandError(f"--prop does not understand '{part}'", hint=hint, code="CLI-005")
    files = [_existing(each) for each in (name, given["scenario"], given["functions"])]
    return Watched(files[0] or "", files[1], files[2], quiet)


def _functions(setup: Setup) -> Callable[[Path], Collection[str]] | None:
    """The names of functions that properties will find; None if the developer can load more of them at the prompt."""
    if not setup.batch:
        return None
    from mopsus.spec.names import names_made_by
    from mopsus.spec.parser import read_text

    known = {Path(each.file): each.functions for each in setup.properties}

    def names(file: Path) -> Collection[str]:
        functions = known[file]
        return {"print"} if functions is None else names_made_by(read_text(functions))

    return names


def _check_scenarios(setup: Setup) -> None:
    """What is wrong with them is better said here, with its place, than from within a debugger."""
    from mopsus.interactive.scenario.syntax import load_scenario

    for file in {each.scenario for each in setup.properties if each.scenario is not None}:
        load_scenario(file)


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _existing(name: str | None) -> str | None:
    if name is not None and not Path(name).is_file():
        raise CommandError(f"there is no file {name}", hint="check its name and folder")
    return name and str(Path(name).absolute())
