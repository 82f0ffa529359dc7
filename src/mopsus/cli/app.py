"""The commands: how one is found, read from the command line, and run.

Start-up time matters, so a command's module is imported only when that command is called: a module
`mopsus.cli.<name>` has a function `<name>` whose signature typer reads, where families of options (`options.py`) stand
for their fields, and maybe settings for its parser in `CONTEXT`.
The function returns its exit status: 0 nothing violated, 1 violations found, 2 the command or its input was wrong.
What it raises becomes a message in `main` and nowhere else.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
from collections.abc import Callable
from typing import Annotated, TypeAlias, cast

import typer
from typer.core import TyperCommand, TyperGroup

from mopsus.cli.families import flat_signature, gather
from mopsus.cli.main import discard_output, interrupted_status
from mopsus.model import MopsusError
from mopsus.stopping import STOPPING, flush_output

COMMANDS = (
    "run",
    "check",
    "watch",
    "debug",
    "dap",
    "component",
    "simulate",
    "fmt",
    "graph",
    "compile",
    "equiv",
    "contracts",
    "demo",
)
"""In the order in which the help lists them."""
GROUPS = ("component", "contracts", "simulate", "simulate.generate")
"""Those that have commands of their own: a package `mopsus.cli.<name>` says in `COMMANDS` which, and its docstring what
they are for."""

PIPE_CLOSED = 141

Command: TypeAlias = "Callable[..., int | None]"


def load_command(name: str) -> Command:
    """The function that does a command's work, from the command's own module."""
    module = importlib.import_module(f"mopsus.cli.{name}")
    return cast(Command, getattr(module, name.rpartition(".")[2]))


class LazyGroup(TyperGroup):
    """The commands by name, imported when asked for."""

    home = ""
    """The group, with a dot at its end; empty for the commands of `mopsus` itself."""
    names: tuple[str, ...] = COMMANDS

    def list_commands(self, ctx: object) -> list[str]:
        return list(self.names)

    def get_command(self, ctx: object, cmd_name: str) -> TyperCommand | TyperGroup:
        if cmd_name not in self.names:
            from mopsus.cli.messages import unknown

            raise unknown("command", cmd_name, self.names)
        if self.home + cmd_name in GROUPS:
            return _group(self.home + cmd_name)
        command = load_command(self.home + cmd_name)
        context = getattr(sys.modules[command.__module__], "CONTEXT", None)
        one = typer.Typer(add_completion=False, rich_markup_mode="markdown")
        one.command(cmd_name, no_args_is_help=_needs_words(command), context_settings=context)(with_status(command))
        return cast(TyperCommand, typer.main.get_command(one))


def _needs_words(command: Command) -> bool:
    """Is there nothing that it could do without a further word?"""
    parameters = flat_signature(command).parameters.values()
    return any(each.default is inspect.Parameter.empty for each in parameters)


def _group(name: str) -> TyperGroup:
    """A command that has commands of its own."""
    package = importlib.import_module(f"mopsus.cli.{name}")
    kind = type("Group", (LazyGroup,), {"home": f"{name}.", "names": package.COMMANDS})
    group = typer.Typer(cls=kind, add_completion=False, no_args_is_help=True, rich_markup_mode="markdown")

    def callback() -> None:
        pass

    callback.__doc__ = package.__doc__
    group.callback()(callback)
    made = cast(TyperGroup, typer.main.get_command(group))
    made.name = name.rpartition(".")[2]  # for the list of commands
    return made


def with_status(command: Command) -> Callable[..., None]:
    """The command as typer wants it: a status other than 0 is raised, not returned."""

    @functools.wraps(command)
    def run(**values: object) -> None:
        STOPPING.begin_work()
        try:
            status = command(**gather(command, values))
            flush_output()
        except KeyboardInterrupt:
            status = interrupted_status()
        except BrokenPipeError:
            status = PIPE_CLOSED
        except MopsusError as error:
            if not isinstance(error.__cause__, BrokenPipeError):
                raise
            status = PIPE_CLOSED
        if status == PIPE_CLOSED:
            discard_output()  # the reader has seen enough, which is not worth a message
        if status:
            raise typer.Exit(status)

    signature = flat_signature(command)
    run.__signature__ = signature  # type: ignore[attr-defined]
    run.__annotations__ = {name: each.annotation for name, each in signature.parameters.items()}
    return run


def show_version(wanted: bool) -> None:
    """Print the version and stop, when `--version` was given."""
    if wanted:
        from importlib.metadata import version

        print(f"mopsus {version('mopsus')} (Python {sys.version.split()[0]})")
        raise typer.Exit


app = typer.Typer(
    cls=LazyGroup,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def mopsus(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Runtime verification: specifications in, verdicts out, with an explanation.

    Exit status: 0 nothing violated, 1 violations found, 2 the command or its input was wrong, 3 an internal error.
    Ended by a signal: 128 and its number.
    """
