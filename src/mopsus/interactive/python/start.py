"""Run a program under the debugger, in this process: `main` is what a process begins with that `launch.py` starts."""

from __future__ import annotations

import os
import signal
import sys
import threading
from dataclasses import replace
from pathlib import Path
from types import CodeType, TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

from mopsus.bus.codec import pack, unpack
from mopsus.events.weave.launch import Program, launch
from mopsus.interactive.debugger import Read
from mopsus.interactive.outcome import Stop
from mopsus.interactive.prepare import prepare
from mopsus.interactive.python import carry
from mopsus.interactive.python.adapter import PythonDebugger
from mopsus.interactive.python.deaths import expect_death
from mopsus.interactive.python.escapes import Escapes
from mopsus.interactive.python.prompt import Prompt, flush
from mopsus.interactive.python.viewing import Viewing
from mopsus.interactive.session import Session
from mopsus.interactive.setup import Setup
from mopsus.model import MopsusError, Place

if TYPE_CHECKING:
    from mopsus.interactive.dap.python.prompt import EditorPrompt

FAILED = 2


def main() -> int:
    """Debug what the file that is the only argument says; the status to end with."""
    setup = unpack(Setup, Path(sys.argv[1]).read_bytes())
    run = Run(setup)
    try:
        status = run.run()
    except MopsusError as error:
        run.write_outcome(error=error.message + (f" ({error.hint})" if error.hint else ""))
        status = FAILED
    if status == -signal.SIGINT:  # as an interpreter ends that Ctrl-C has ended
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    return status


class Run:
    """One program, its debugger, and its session. It stands between the two to save every verdict at once, because a
    program may be killed at any time, and the session dies with it."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._program = _program(setup.program)
        self._exit = os._exit
        self._saved = 0
        self._editor: EditorPrompt | None = None
        self._debugger = PythonDebugger(
            *_files(self._program),
            batch=setup.batch,
            feeds=setup.hooks,
            folder=_folder(setup),
            prompt=self._make_prompt,
        )
        self._session = Session(self._debugger, history=setup.history, allow_code=setup.allow_code, record=setup.record)
        self._viewing = Viewing(self._session, self._debugger, has_prompt=self._editor is None and not setup.batch)
        self._debugger.drive(self, self)
        self._escapes = Escapes(self._session.sight.escaped, self._program_acts, self.write_outcome)

    def run(self) -> int:
        """The program, from its beginning to its end; its status."""
        if (folder := _folder(self._setup)) is not None:
            expect_death(folder)
        prepare(self._session, self._setup)
        if self._setup.batch:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        else:
            signal.signal(signal.SIGINT, lambda number, frame: self._debugger.interrupted(frame))
        os._exit = self._exit_at_once
        ended = launch(self._program, self, self._failed)
        status = -signal.SIGINT if ended.interrupted else ended.status
        if self._debugger.is_program():  # and none that it has forked, which comes to its own end here
            self.ended(status)
        return status

    # ---- as `launch` sees what watches a program

    def start(self) -> None:
        self._debugger.start(vars(sys.modules["__main__"]))
        self._escapes.start()
        if not self._setup.batch:
            sys.breakpointhook = self._ask
        threading.excepthook = self._failed_in_thread

    def main_code(self, source: bytes, path: str) -> CodeType:
        return compile(source, path, "exec", dont_inherit=True)

    def stop(self, *, ended: bool = False) -> None:
        self._escapes.stop()
        self._debugger.stop()

    # ---- as the debugger sees whom it tells

    def reached(self, place: Place, read: Read) -> bool:
        staying = self._session.reached(place, read)
        self._save()
        return staying

    def resuming(self) -> bool:
        staying = self._session.resuming()
        self._save()
        return staying

    def stopped(self) -> None:
        self._session.stopped()
        self._save()

    def dying(self, cause: str, *, keep: bool, detail: str = "") -> None:
        self._session.dying(cause, keep=keep, detail=detail)
        self._save()

    def loaded(self) -> bool:
        return self._session.loaded()

    def ended(self, status: int | None) -> None:
        self._viewing.program_runs = False
        self._session.sight.escaped.became = ""  # or it would not have come here
        self._session.ended(status)
        self.write_outcome()

    def _save(self) -> None:
        if len(self._session.verdicts) != self._saved:
            self._saved = len(self._session.verdicts)
            self.write_outcome()

    # ---- as the debugger sees who runs it

    def begin(self) -> bool:
        self._viewing.program_runs = True
        staying = self._session.start()
        self.write_outcome()
        if self._editor is not None:
            return self._editor.prepare(self._session, self._setup.stop_on_entry) or staying
        if not self._setup.batch:
            self._session.tell("Type `continue` to start the program, `verde help` for the commands about monitors.")
        return staying or not self._setup.batch

    def command(self, line: str) -> None:
        self._session.command(line)

    def pack(self, saved: object, asking: bool, extra: object) -> bytes:
        return carry.pack(self._session, saved, asking, extra)

    def unpack(self, message: bytes) -> tuple[bool, Any]:
        asking, extra = carry.unpack(self._session, message)
        self._viewing.be_program()
        return asking, extra

    def about_to_ask(self) -> None:
        self._viewing.about_to_ask()

    def is_called(self) -> bool:
        return self._viewing.is_called()

    def serve(self) -> bool:
        return self._viewing.serve()

    def forked(self) -> None:
        self._session.live.close()

    def leave(self, reason: str) -> NoReturn:
        where = self._debugger.where()
        self.write_outcome(Stop(reason, where.location, tuple(self._debugger.backtrace())))
        for stream in (sys.stdout, sys.stderr):
            flush(stream)
        self._exit(0)

    def let_go(self) -> None:
        self._session.close()
        self.stop()
        os._exit = self._exit
        threading.excepthook = threading.__excepthook__
        sys.breakpointhook = sys.__breakpointhook__

    # ---- the end

    def write_outcome(self, stop: Stop | None = None, error: str | None = None) -> None:
        """Where whoever started this looks for it."""
        if self._setup.outcome is not None:
            outcome = self._session.outcome(stop)
            if self._session.sight.escaped.became:  # which leaves no word behind
                outcome = replace(outcome, status=0)
            if error is not None:
                outcome = replace(outcome, error=error)
            Path(self._setup.outcome).write_bytes(pack(outcome))

    def _exit_at_once(self, status: int) -> NoReturn:
        """In the place of `os._exit`: a program may end itself without going through its end."""
        if self._debugger.is_program():
            self.stop()
            self.ended(status)
        self._exit(status)

    def _failed(self, error: BaseException) -> None:
        """An exception ends the program, which is a finding, and the developer may look around before. That somebody
        has interrupted the program is none."""
        if not self._debugger.is_program():
            return
        if not isinstance(error, KeyboardInterrupt):
            self._debugger.tell_dying(error)
        trace = error.__traceback__
        if self._editor is not None:
            self._show_uncaught(error, trace, over=True)
        elif trace is not None and not self._setup.batch:
            self._session.tell("This exception ends the program; `continue` lets it.")
            self._debugger.post_mortem(trace)

    def _failed_in_thread(self, ended: threading.ExceptHookArgs) -> None:
        """The same for another thread, whose end is not that of the program."""
        threading.__excepthook__(ended)
        error = ended.exc_value
        if error is None or isinstance(error, SystemExit) or not self._debugger.is_program():
            return
        self._debugger.tell_dying(error, of="lost a thread to")
        self._show_uncaught(error, ended.exc_traceback, over=False)

    def _show_uncaught(self, error: BaseException | None, trace: TracebackType | None, *, over: bool) -> None:
        if self._editor is not None and self._editor.stops_at_uncaught and error is not None and trace is not None:
            self._editor.fail(error)
            self._debugger.post_mortem(trace, over=over)

    def _program_acts(self) -> bool:
        """Does the program itself do something, and not the debugger for it?"""
        return self._debugger.is_program() and not self._debugger.is_at_work()

    def _ask(self, *_: object, **__: object) -> None:
        """In the place of `sys.breakpointhook`: the debugger is there already."""
        if self._editor is not None:
            self._editor.called()
        self._debugger.pause(sys._getframe(1))

    def _make_prompt(self, debugger: PythonDebugger) -> Prompt:
        if self._setup.channel is None:
            return Prompt(debugger)
        from mopsus.interactive.dap.python.prompt import EditorPrompt

        self._editor = EditorPrompt(debugger, self._setup.channel)
        return self._editor


def _program(words: tuple[str, ...]) -> Program:
    if words[0] == "-m":
        return Program(words[1] if len(words) > 1 else "", is_module=True, arguments=words[2:])
    return Program(words[0], arguments=words[1:])


def _files(program: Program) -> tuple[str, str]:
    """The file with the program's text, and the folder from which it imports its own modules."""
    root = os.getcwd() if program.is_module else os.path.dirname(os.path.abspath(program.name))
    path = os.path.join(root, *program.name.split(".")) if program.is_module else os.path.abspath(program.name)
    if os.path.isdir(path):
        return os.path.join(path, "__main__.py"), root if program.is_module else path
    return f"{path}.py" if program.is_module else path, root


def _folder(setup: Setup) -> str | None:
    return None if setup.outcome is None else os.path.dirname(setup.outcome)
