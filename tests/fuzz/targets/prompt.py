"""What is typed at a debugger's prompt after `verde`, over a session with a toy program."""

from __future__ import annotations

from fuzz.choices import Choices
from fuzz.errors import check_error
from fuzz.files import file_of
from interactive.sessions import start
from interactive.toy import STOP, Toy

from mopsus.interactive.commands import COMMANDS, completions, run_command
from mopsus.model import MopsusError

PROPERTY = """
Turns(x) {
    event turn before(x; n) : line("1") && value(x = x, n = n)
    efsm:
        initialization { n = 0 }
        state init accepting { transition { event turn success { n += 1 } later } }
        state later non-accepting
}
"""
FILES = ("p.mop", "bad.prop", "s.scn", "/dev/null", "nowhere", "")
for name, text in (
    ("p.mop", PROPERTY),
    ("bad.prop", "state"),
    ("s.scn", "on entering state later { suspend_execution() }\n"),
):
    file_of(name, text.encode())
WORDS = (
    *COMMANDS,
    "0",
    "1",
    "2",
    "99",
    "-1",
    "²",
    "set_current_state",
    "env",
    "later",
    "'",
    '"',
    "\\",
    "text",
    "{[]: 1}",
)
METHODS = (
    "exec get_states",
    "exec get_current_states",
    "exec set_current_state later",
    "exec get_env_value n",
    "exec _x",
)


def one(data: bytes) -> None:
    choices = Choices(data)
    session, _ = start(Toy([("put", "x", 1), STOP], {"x": 0}), PROPERTY)
    for _ in range(1 + choices.below(5)):
        line = typed(choices)
        completions(line)
        if line.split()[:1] in (["show-graph"], ["checkpoint"]) or "checkpoint" in line:
            continue  # a view is a process, and a toy is saved elsewhere
        try:
            run_command(session, line)
        except MopsusError as error:
            check_error(error)


def typed(choices: Choices) -> str:
    if choices.flag():
        return choices.pick(METHODS)
    words = [choices.pick(sorted(COMMANDS))]
    words += choices.some(
        3, lambda: choices.pick(WORDS) if choices.flag() else choices.piece(12).decode("utf-8", "replace")
    )
    return " ".join(words)
