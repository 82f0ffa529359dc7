"""Run a program under the debugger, in this process: `main` is what a process begins with that `launch.py` starts."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from types import CodeType
from typing import Any, NoReturn

from mopsus.events.weave.launch import Program, launch
from mopsus.interactive.outcome import Stop
from mopsus.interactive.prepare import prepare
from mopsus.interactive.python.adapter import PythonDebugger
from mopsus.interactive.python.carry import pack, unpack
from mopsus.interactive.session import Session
from mopsus.interactive.setup import Setup
from mopsus.model import MopsusError

FAILED = 2


def main() -> NoReturn:
    """Debug what the file that is the only argument says."""
    setup = Setup.from_json(Path(sys.argv[1]).read_text())
    run = Run(setup)
    try:
        status = run.run()
    except MopsusError as error:
        run.write_outcome(error=error.message + (f" ({error.hint})" if error.hint else ""))
        status = FAILED
    if status == -signal.SIGINT:  # as an interpreter ends that Ctrl-C has ended
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    sys.exit(status)


class Run:
    """One program, its debugger, and its session."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._program = _program(setup.program)
        self._exit = os._exit
        self._debugger = PythonDebugger(_script(self._program), batch=setup.batch, folder=_folder(setup))
        self._session = Session(self._debugger, history=setup.history, allow_code=setup.allow_code, record=setup.record)
        self._debugger.drive(self._session, self)

    def run(self) -> int:
        """The program, from its beginning to its end; its status."""
        prepare(self._session, self._setup)
        if not self._setup.batch:
            signal.signal(signal.SIGINT, lambda number, frame: self._debugger.interrupted(frame))
        os._exit = self._exit_at_once
        ended = launch(self._program, self)
        status = -signal.SIGINT if ended.interrupted else ended.status
        self._session.ended(status)
        self.write_outcome()
        return status

    # ---- as `launch` sees what watches a program

    def start(self) -> None:
        self._debugger.start(vars(sys.modules["__main__"]))

    def main_code(self, source: bytes, path: str) -> CodeType:
        return compile(source, path, "exec", dont_inherit=True)

    def stop(self, *, ended: bool = False) -> None:
        self._debugger.stop()

    # ---- as the debugger sees who runs it

    def begin(self) -> bool:
        staying = self._session.start()
        if not self._setup.batch:
            self._session.tell("Type `continue` to start the program, `verde help` for the commands about monitors.")
        return staying or not self._setup.batch

    def command(self, line: str) -> None:
        self._session.command(line)

    def pack(self, saved: object, asking: bool, extra: object) -> bytes:
        return pack(self._session, saved, asking, extra)

    def unpack(self, message: bytes) -> tuple[bool, Any]:
        return unpack(self._session, message)

    def leave(self, reason: str) -> NoReturn:
        where = self._debugger.where()
        self.write_outcome(Stop(reason, where.location, tuple(self._debugger.backtrace())))
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        self._exit(0)

    # ---- the end

    def write_outcome(self, stop: Stop | None = None, error: str | None = None) -> None:
        """Where whoever started this looks for it."""
        if self._setup.outcome is not None:
            outcome = self._session.outcome(stop)
            if error is not None:
                outcome = replace(outcome, error=error)
            Path(self._setup.outcome).write_text(outcome.to_json())

    def _exit_at_once(self, status: int) -> NoReturn:
        """In the place of `os._exit`: a program may end itself without going through its end."""
        if self._debugger.is_program():
            self._debugger.stop()
            self._session.ended(status)
            self.write_outcome()
        self._exit(status)


def _program(words: tuple[str, ...]) -> Program:
    if words[0] == "-m":
        return Program(words[1] if len(words) > 1 else "", is_module=True, arguments=words[2:])
    return Program(words[0], arguments=words[1:])


def _script(program: Program) -> str:
    """The file with the program's text, as far as it is known before it is run."""
    from importlib.machinery import PathFinder

    if program.is_module:
        spec = PathFinder.find_spec(program.name.partition(".")[0], [os.getcwd()])
        return (spec and spec.origin) or program.name
    path = os.path.abspath(program.name)
    return os.path.join(path, "__main__.py") if os.path.isdir(path) else path


def _folder(setup: Setup) -> str | None:
    return None if setup.outcome is None else os.path.dirname(setup.outcome)
