"""Stage 4: what the first process of a program that is watched from outside runs, by `python -m`.

It runs the program as Python would, with the hooks in place and nothing else. The arguments are those of the program;
`-m MODULE` in front of them runs a module.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from mopsus import _core
from mopsus.events.component.outline.agent import start_agent
from mopsus.events.component.outline.session import FOLDER, Session
from mopsus.events.component.program import begin_program, end_program
from mopsus.events.weave.launch import Program, launch
from mopsus.events.weave.weaver import Weaver
from mopsus.model import MopsusError
from mopsus.stopping import flush_output

_CANNOT = 2
_STARTUP = str(Path(__file__).parents[3] / "cli" / "startup")


def command_of(program: Program) -> list[str]:
    """The command that starts a program so."""
    start = ["-m", program.name] if program.is_module else [program.name]
    return [sys.executable, "-m", __spec__.name, *start, *program.arguments]


def environment_of(session: Session) -> dict[str, str]:
    """The environment in which it is started, and in which its children find the session."""
    paths = os.environ.get("PYTHONPATH")
    startup = _STARTUP if not paths else _STARTUP + os.pathsep + paths
    return {**os.environ, FOLDER: session.folder, "PYTHONPATH": startup}


def main() -> tuple[int, bool]:
    """Run the program that the command line names: its status, and whether this is a process that it has forked."""
    words = sys.argv[1:]
    is_module = words[:1] == ["-m"]
    name, *arguments = words[is_module:]
    program = Program(name, is_module, tuple(arguments))
    session = Session(os.environ[FOLDER])
    process = os.getpid()
    session.set_main(process)
    agent = start_agent(session)
    begin_program(program)
    ended = launch(program, Weaver({}))
    end_program(ended)
    agent.end()
    if os.getpid() != process:
        return ended.status, True
    with suppress(OSError):  # whoever has started the program may have removed it
        if not _core.Board.open(session.board).attended():
            session.remove()
    return ended.status, False


if __name__ == "__main__":
    try:
        status, forked = main()
    except MopsusError as error:
        sys.stderr.write(f"mopsus: {error}\n")
        sys.exit(_CANNOT)
    if forked:
        flush_output()
        os._exit(status)
    sys.exit(status)
