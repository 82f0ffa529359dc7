"""Where every `mopsus` command starts, and where every error of one ends.

Start-up time matters, so a command's module is imported only when that command is called: a
module `mopsus.cli.<name>` has a function `<name>` whose signature typer reads. It returns its exit
status: 0 nothing violated, 1 violations found, 2 the command or its input was wrong. What it raises
becomes a message here and nowhere else.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, TypeAlias, cast

import typer
from typer.core import TyperCommand, TyperGroup

from mopsus.model import MopsusError

COMMANDS = ("check", "watch", "fmt", "graph", "demo")
"""In the order in which the help lists them."""

MISUSED, BROKEN, INTERRUPTED, PIPE_CLOSED = 2, 3, 130, 141

Command: TypeAlias = "Callable[..., int | None]"


def load_command(name: str) -> Command:
    """The function that does a command's work, from the command's own module."""
    return cast(Command, getattr(importlib.import_module(f"mopsus.cli.{name}"), name))


class LazyGroup(TyperGroup):
    """The commands by name, imported when asked for."""

    def list_commands(self, ctx: object) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: object, cmd_name: str) -> TyperCommand:
        if cmd_name not in COMMANDS:
            from mopsus.cli.messages import unknown

            raise unknown("command", cmd_name, COMMANDS)
        command = load_command(cmd_name)
        one = typer.Typer(add_completion=False, rich_markup_mode="markdown")
        one.command(cmd_name, no_args_is_help=cmd_name != "demo")(with_status(command))
        return cast(TyperCommand, typer.main.get_command(one))


def with_status(command: Command) -> Callable[..., None]:
    """The command as typer wants it: a status other than 0 is raised, not returned."""

    @functools.wraps(command)
    def run(*args: object, **kwargs: object) -> None:
        try:
            status = command(*args, **kwargs)
            sys.stdout.flush()
        except BrokenPipeError:
            # The reader has seen enough; neither this nor Python's last flush is worth a message.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            status = PIPE_CLOSED
        if status:
            raise typer.Exit(status)

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
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; always ends in `SystemExit`."""
    try:
        app(arguments, prog_name="mopsus")
    except MopsusError as error:
        from mopsus.cli.failure import render_error

        print(render_error(error), file=sys.stderr)
        sys.exit(MISUSED)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except Exception as error:
        if os.environ.get("MOPSUS_DEBUG"):
            raise
        from mopsus.cli.failure import render_bug

        print(render_bug(error), file=sys.stderr)
        sys.exit(BROKEN)
