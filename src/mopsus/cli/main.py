"""Where every `mopsus` command starts, and where every error of one ends.

Start-up time matters, so a command's module is imported only when that command is called: a module
`mopsus.cli.<name>` has a function `<name>` whose signature typer reads, and maybe settings for its parser in `CONTEXT`.
The function returns its exit status: 0 nothing violated, 1 violations found, 2 the command or its input was wrong.
What it raises becomes a message here and nowhere else.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import inspect
import io
import os
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, TypeAlias, cast

import typer
from typer.core import TyperCommand, TyperGroup

from mopsus.model import MopsusError

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

MISUSED, BROKEN, INTERRUPTED, PIPE_CLOSED = 2, 3, 130, 141

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
    parameters = inspect.signature(command).parameters.values()
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
    def run(*args: object, **kwargs: object) -> None:
        try:
            status = command(*args, **kwargs)
            sys.stdout.flush()
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

    return run


def discard_output() -> None:
    """Let nothing more go to standard output, where Python's last flush would fail once more."""
    with contextlib.suppress(io.UnsupportedOperation):  # it may be no file at all
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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
    # Most objects of a short command live to its end; looking for garbage among them is a tenth of its start.
    gc.set_threshold(50_000)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # the caller has closed it
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))
    try:
        app(arguments, prog_name="mopsus")
    except MopsusError as error:
        from mopsus.cli.failure import render_error

        print(render_error(error), file=sys.stderr)
        sys.exit(MISUSED)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except OSError as error:
        if os.environ.get("MOPSUS_DEBUG"):
            raise
        from mopsus.cli.failure import render_error
        from mopsus.cli.messages import CommandError

        what = error.filename or "standard output"
        print(render_error(CommandError(f"{what}: {error.strerror or error}")), file=sys.stderr)
        discard_output()
        sys.exit(MISUSED)
    except Exception as error:
        if os.environ.get("MOPSUS_DEBUG"):
            raise
        from mopsus.cli.failure import render_bug

        print(render_bug(error), file=sys.stderr)
        sys.exit(BROKEN)
