"""What an editor's `launch` or `attach` asks for, as the set-up of a session."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

from mopsus.interactive.dap.arguments import Arguments, RequestError
from mopsus.interactive.follow import Follow
from mopsus.interactive.setup import Setup, Watched

_INTERNAL = "internalConsole"
_CONSOLES = {_INTERNAL: None, "integratedTerminal": "integrated", "externalTerminal": "external"}
"""The kind of terminal that each value of `console` stands for."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A session to be: the set-up, and what the process needs in which it runs."""

    setup: Setup
    folder: str
    environment: Mapping[str, str | None] = field(default_factory=dict)
    """None: the variable is not to be there."""
    debugger: str | None = None
    input: str | None = None
    """The file that the program reads as its standard input; None: there is none."""
    terminal: str | None = None
    """The kind of terminal, in the words of the protocol, that the program has for its standard streams; None: what it
    writes is told to the editor."""

    @property
    def name(self) -> str:
        """What the program or module is called."""
        words = self.setup.program
        return words[1] if words[0] == "-m" else words[0]

    @property
    def attaches(self) -> bool:
        return self.setup.process is not None


def read_launch(arguments: Arguments, *, attach: bool) -> Launch:
    """Everything is checked, as far as that is possible before anything runs."""
    folder = os.path.abspath(arguments.maybe_text("cwd") or os.getcwd())
    if not os.path.isdir(folder):
        raise RequestError(f"`cwd`: there is no folder {folder}")
    setup = Setup(
        tuple(_watched(each, folder, arguments, at) for at, each in enumerate(arguments.items("properties"))),
        () if attach else _program(arguments, folder),
        process=_process(arguments) if attach else None,
        history=_history(arguments),
        allow_code=arguments.flag("allowCode", True),
        hooks=arguments.flag("hooks", True),
        follow=_follow(arguments),
        stop_on_entry=arguments.flag("stopOnEntry"),
        graph=arguments.flag("graph"),
        python=sys.executable,
    )
    environment, debugger = _environment(arguments), arguments.maybe_text("debugger")
    if attach:
        return Launch(setup, folder, environment, debugger)
    given, terminal = _file(arguments.maybe_text("stdin"), folder, "stdin"), _terminal(arguments)
    if given is not None and terminal is not None:
        hint = "leave one of them out"
        raise RequestError("a program cannot read a file, by `stdin`, and what is typed at a terminal", hint=hint)
    return Launch(setup, folder, environment, debugger, given, terminal)


def _follow(arguments: Arguments) -> Follow:
    wanted = arguments.maybe_text("followFork") or Follow.PARENT
    if wanted == Follow.BOTH:
        raise RequestError("`followFork`: an editor cannot be in two processes at a time", hint="follow the child")
    if wanted not in list(Follow):
        raise RequestError(f"`followFork` must be one of {Follow.PARENT}, {Follow.CHILD}")
    return Follow(wanted)


def _history(arguments: Arguments) -> int:
    count = arguments.maybe_number("history")
    if count is not None and count < 0:
        raise RequestError("`history` is how many events a witness has at the most", hint="0 turns witnesses off")
    return 32 if count is None else count


def _program(arguments: Arguments, folder: str) -> tuple[str, ...]:
    module, program = arguments.maybe_text("module"), arguments.maybe_text("program")
    given = tuple(arguments.texts("args"))
    if (module is None) == (program is None):
        raise RequestError("one of `program` and `module` must be given", hint="see the page on editors")
    if module is not None:
        return ("-m", module, *given)
    path = os.path.join(folder, os.path.expanduser(program or ""))
    return (path if os.path.exists(path) else program or "", *given)


def _process(arguments: Arguments) -> int:
    """Editors that let people choose a process give its number as a text."""
    given = arguments.anything("pid")
    if isinstance(given, str) and given.isdecimal():
        return int(given)
    return arguments.number("pid")


def _terminal(arguments: Arguments) -> str | None:
    console = arguments.maybe_text("console") or _INTERNAL
    if console not in _CONSOLES:
        raise RequestError(f"`console` must be one of {', '.join(_CONSOLES)}")
    return _CONSOLES[console]


def _watched(given: object, folder: str, arguments: Arguments, at: int) -> Watched:
    """A file, or an object that says more of it; what is given for all holds where it says nothing."""
    place = f"properties[{at}]"
    own = Arguments({"file": given} if isinstance(given, str) else given, place)

    def file(name: str, text: str | None) -> str | None:
        return _file(text, folder, f"{place}.{name}")

    return Watched(
        file("file", own.text("file")) or "",
        file("scenario", own.maybe_text("scenario") or arguments.maybe_text("scenario")),
        file("functions", own.maybe_text("functions") or arguments.maybe_text("functions")),
        own.flag("quiet", arguments.flag("quiet")),
    )


def _file(text: str | None, folder: str, place: str) -> str | None:
    if text is None:
        return None
    path = os.path.join(folder, os.path.expanduser(text))
    if not os.path.isfile(path):  # a `Path` would raise an error over names that no file can have
        raise RequestError(f"`{place}`: there is no file {path}")
    return path


def _environment(arguments: Arguments) -> dict[str, str | None]:
    found = arguments.table("env")
    for name, value in found.items():
        if not name or "=" in name:
            raise RequestError(f"`env`: `{name}` cannot be the name of a variable")
        if value is not None and not isinstance(value, str):
            raise RequestError(f"`env.{name}` must be a text, or null to leave it out")
    return dict(found)
