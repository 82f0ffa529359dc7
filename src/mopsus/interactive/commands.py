"""The commands of the `verde` family, whatever the debugger: a table, and what each does to a session.

A debugger registers them under `verde` and `mopsus` and passes on what stands after that word.
"""

from __future__ import annotations

import ast
import difflib
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mopsus.interactive import telling
from mopsus.interactive.messages import CommandError, MonitorError
from mopsus.interactive.prepare import load_functions, load_property, read_scenario, show_view

if TYPE_CHECKING:
    from mopsus.interactive.session import Session
    from mopsus.interactive.watch import Watch


@dataclass(slots=True)
class Draft:
    """A monitor that has no property yet."""

    functions: str | None = None
    scenario: str | None = None


@dataclass(slots=True)
class Desk:
    """What the commands of a session remember from one to the next."""

    current: int | None = None
    drafts: dict[int, Draft] = field(default_factory=dict)
    group: list[str] | None = None
    """The commands of a group that is not yet at its end."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command: how it is written, what it does, for help and completion."""

    name: str
    usage: str
    help: str
    run: Callable[[Session, list[str]], None]
    most: int = 0
    least: int = 0


def run_command(session: Session, line: str) -> None:
    """What stands after `verde`. Errors are raised; the debugger shows them as it shows its own."""
    desk = session.desk
    words = _split(line)
    if not words:
        words = ["help"]
    if desk.group is not None and words[0] != "cmd-group-end":
        _find(words[0])
        desk.group.append(line)
        return
    command = _find(words[0])
    given = words[1:]
    if not command.least <= len(given) <= command.most:
        raise CommandError(f"`verde {command.name}` does not take that", hint=f"write `verde {command.usage}`")
    command.run(session, given)


def completions(line: str) -> list[str]:
    """The commands that what was typed so far may become."""
    return [name for name in COMMANDS if name.startswith(line.strip())]


# ---- monitors


def _activate(session: Session, _: list[str]) -> None:
    session.tell("The commands for monitors are there: `verde help` lists them.")


def _new(session: Session, _: list[str]) -> None:
    number = session.next_number()
    session.desk.drafts[number] = Draft()
    session.desk.current = number
    session.tell(f"Monitor #{number} is current; load a property into it.")


def _delete(session: Session, words: list[str]) -> None:
    number = _number(words[0]) if words else _current(session)
    if session.desk.drafts.pop(number, None) is None:
        session.remove(_watch(session, number))
    if session.desk.current == number:
        rest = [watch.number for watch in session.watches]
        session.desk.current = rest[-1] if rest else None


def _set_current(session: Session, words: list[str]) -> None:
    number = _number(words[0])
    if number not in session.desk.drafts:
        _watch(session, number)
    session.desk.current = number


def _get_current(session: Session, _: list[str]) -> None:
    number = _current(session)
    if number in session.desk.drafts:
        session.tell(f"monitor #{number}, without a property yet")
    else:
        session.tell(f"monitor #{number} {telling.states_line(_watch(session, number))}")


def _load_property(session: Session, words: list[str]) -> None:
    """Into the current monitor if it has none yet, else into a new one; of several properties, each has its own."""
    desk = session.desk
    number = desk.current if desk.current in desk.drafts else None
    draft = desk.drafts[number] if number is not None else Draft()
    functions = words[1] if len(words) > 1 else draft.functions
    watches = load_property(session, words[0], functions, draft.scenario, number=number)
    if number is not None:
        del desk.drafts[number]
    for watch in watches:
        session.tell(f"Monitor #{watch.number} watches {watch.spec.name}.")


def _load_functions(session: Session, words: list[str]) -> None:
    number = _current(session)
    if number in session.desk.drafts:
        session.desk.drafts[number].functions = words[0]
    else:
        _watch(session, number).use_functions(load_functions(session, words[0]))


def _load_scenario(session: Session, words: list[str]) -> None:
    number = _current(session)
    if number in session.desk.drafts:
        session.desk.drafts[number].scenario = words[0]
        return
    session.use_scenario(_watch(session, number), read_scenario(session, words[0]))


def _show_graph(session: Session, words: list[str]) -> None:
    if not words:
        show_view(session)
        return
    if words != ["text"]:
        raise CommandError(f"`verde show-graph` does not take `{words[0]}`", hint="write `verde show-graph [text]`")
    watch = _watch(session, _current(session))
    session.tell(session.live.draw(watch.number))
    session.tell(telling.current_state(watch))


def _exec(session: Session, words: list[str]) -> None:
    watch = _watch(session, _current(session))
    interface = watch.interface
    method = getattr(interface, words[0], None) if not words[0].startswith("_") else None
    if method is None:
        names = [name for name in dir(interface) if not name.startswith("_") and name != "applied"]
        near = difflib.get_close_matches(words[0], names, 1)
        hint = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(names)}"
        raise CommandError(f"a monitor has no method `{words[0]}`", hint=hint)
    try:
        result = method(*(_value(word, watch.functions) for word in words[1:]))
    except TypeError as error:
        raise CommandError(f"`{words[0]}` does not take that: {error}") from error
    if isinstance(result, set):
        session.tell("{" + ", ".join(sorted(map(repr, result))) + "}")
    elif result is not None:
        session.tell(repr(result))


def _hooks(session: Session, _: list[str]) -> None:
    if session.over:
        session.tell("The program has ended.")
        return
    for watch in session.watches:
        if (reason := session.feeding.why_told(watch)) is not None:
            session.tell(f"monitor #{watch.number} {watch.spec.name}: the program stops for each event: {reason}")
    for place, why in sorted(session.debugger.inside().items(), key=lambda item: (item[0].what, item[0].after)):
        how = "stepped inside of the program" if why is None else f"the program stops for each event: {why}"
        session.tell(f"{'after ' if place.after else ''}{place.what}: {how}")


# ---- the course of things


def _run(session: Session, _: list[str]) -> None:
    session.start()


def _run_with_program(session: Session, _: list[str]) -> None:
    if not session.start():
        session.debugger.go_on()


def _checkpoint(session: Session, _: list[str]) -> None:
    number = session.checkpoint()
    session.tell(f"Checkpoint {number}: `verde checkpoint-restart {number}` comes back here.")


def _checkpoint_restart(session: Session, words: list[str]) -> None:
    session.restore(_number(words[0]))


def _checkpoint_discard(session: Session, words: list[str]) -> None:
    session.discard(_number(words[0]))


def _checkpoints(session: Session, _: list[str]) -> None:
    lines = [telling.checkpoint_line(each) for each in session.checkpoints]
    session.tell("\n".join(lines) or "There is no checkpoint yet: `verde checkpoint` takes one.")


def _group_begin(session: Session, _: list[str]) -> None:
    session.desk.group = []


def _group_end(session: Session, _: list[str]) -> None:
    group, session.desk.group = session.desk.group, None
    if group is None:
        raise CommandError("no group was begun", hint="`verde cmd-group-begin` begins one")
    for line in group:
        run_command(session, line)


def _help(session: Session, _: list[str]) -> None:
    width = max(len(command.usage) for command in COMMANDS.values())
    for command in COMMANDS.values():
        session.tell(f"verde {command.usage:<{width}}  {command.help}")


_TABLE = (
    Command("activate", "activate", "make these commands known", _activate),
    Command("new", "new", "a new monitor, which becomes the current one", _new),
    Command("delete", "delete [N]", "forget a monitor", _delete, 1),
    Command("set-current", "set-current N", "make a monitor the current one", _set_current, 1, 1),
    Command("get-current", "get-current", "which monitor is the current one", _get_current),
    Command("load-property", "load-property FILE [FUNCTIONS]", "what the monitor watches", _load_property, 2, 1),
    Command("load-functions", "load-functions FILE", "Python functions that its property calls", _load_functions, 1, 1),
    Command("load-scenario", "load-scenario FILE", "what to do when its states change", _load_scenario, 1, 1),
    Command("run", "run", "start the monitors, not the program", _run),
    Command("run-with-program", "run-with-program", "start the monitors, and let the program run", _run_with_program),
    Command("show-graph", "show-graph [text]", "a live view in the browser; `text`: the monitor here", _show_graph, 1),
    Command("hooks", "hooks", "which events are stepped inside of the program, and why others are not", _hooks),
    Command("checkpoint", "checkpoint", "save the program and all monitors", _checkpoint),
    Command("checkpoint-restart", "checkpoint-restart N", "go back to a checkpoint", _checkpoint_restart, 1, 1),
    Command("restore-checkpoint", "restore-checkpoint N", "the same", _checkpoint_restart, 1, 1),
    Command("checkpoint-discard", "checkpoint-discard N", "forget a checkpoint", _checkpoint_discard, 1, 1),
    Command("checkpoints", "checkpoints", "the checkpoints that there are", _checkpoints),
    Command("cmd-group-begin", "cmd-group-begin", "collect the commands that follow", _group_begin),
    Command("cmd-group-end", "cmd-group-end", "run what was collected", _group_end),
    Command("exec", "exec METHOD [ARGUMENTS]", "call a method of the current monitor", _exec, 99, 1),
    Command("help", "help", "this list", _help),
)
COMMANDS: Mapping[str, Command] = {command.name: command for command in _TABLE}


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        raise CommandError(f"this command cannot be read: {error}", hint="close the quotes") from error


def _find(name: str) -> Command:
    command = COMMANDS.get(name)
    if command is None:
        near = difflib.get_close_matches(name, COMMANDS, 1)
        hint = f"did you mean `verde {near[0]}`?" if near else "`verde help` lists them"
        raise CommandError(f"there is no command `verde {name}`", hint=hint)
    return command


def _number(word: str) -> int:
    if not word.isdecimal():
        raise CommandError(f"`{word}` is no number")
    return int(word)


def _current(session: Session) -> int:
    if session.desk.current is None:
        raise MonitorError("there is no monitor", hint="`verde load-property FILE` makes one")
    return session.desk.current


def _watch(session: Session, number: int) -> Watch:
    for watch in session.watches:
        if watch.number == number:
            return watch
    if number in session.desk.drafts:
        raise MonitorError(f"monitor #{number} has no property yet", hint="`verde load-property FILE` loads one")
    known = ", ".join(f"#{watch.number}" for watch in session.watches)
    raise MonitorError(f"there is no monitor #{number}", hint=f"there are {known}" if known else "there are none")


def _value(word: str, functions: Mapping[str, Any]) -> object:
    """An argument: a Python literal, the name of a function, or else a text."""
    try:
        return ast.literal_eval(word)
    except (ValueError, SyntaxError):
        return functions.get(word, word)
