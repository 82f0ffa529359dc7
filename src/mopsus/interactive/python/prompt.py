"""The prompt: that of `pdb`, with all its commands, and those for monitors.

Only steps are left to `pdb` and its trace function. Its breakpoints are kept as it keeps them, but it is the debugger
that finds them reached, so that a program with breakpoints runs as fast as one without.
"""

from __future__ import annotations

import bdb
import io
import os
import pdb
import select
import signal
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import FrameType, TracebackType
from typing import IO, Any, Protocol, TextIO, cast

from mopsus.interactive.python.bell import await_input
from mopsus.interactive.python.values import write_back
from mopsus.interactive.telling import refusal
from mopsus.model import MopsusError


def _ended() -> FrameType:
    return sys._getframe()


_NO_FRAME = _ended()
"""Where a step is to end that ends in no frame: `bdb` wants one, so it is that of a call which is over."""


class Asked(BaseException):
    """Raised where the prompt waits for a line, when there is something else to do. No error: only the prompt catches
    it."""


class Owner(Protocol):
    """The debugger, as its prompt sees it."""

    def step_made(self, frame: FrameType, trace: TracebackType | None) -> None: ...
    def quit(self) -> None: ...
    def about_to_ask(self) -> None:
        """The prompt is about to wait for a line."""

    def is_called(self) -> bool:
        """Is there something else to do than to wait? If it comes later, `Asked` is raised while the prompt waits."""

    def serve(self) -> bool:
        """Do what the prompt was called away for. Does the program go on after it?"""

    def command(self, line: str) -> bool:
        """Does the program go on after it?"""


class Lines:
    """Standard input line by line, nothing read ahead: what comes after a line may be for the program, or for the
    prompt of another process."""

    def __init__(self) -> None:
        self._line = b""
        """What was read of a line when the prompt was called away."""

    def readline(self) -> str:
        while not self._line.endswith(b"\n"):
            await_input(0)  # the prompt may be called away here, but not with a byte that is on its way
            before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
            try:
                byte = os.read(0, 1)
                self._line += byte
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
            if not byte:
                break
        line, self._line = self._line, b""
        return line.decode(errors="replace")


class Words(io.TextIOBase):
    """What the debugger says, on a stream that the program has, too: after what that has written, and with nothing left
    behind in it. What nobody reads any more is lost, which is no trouble of the program's."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self._coding = getattr(stream, "encoding", None) or "utf-8"

    @property
    def encoding(self) -> str:  # type: ignore[override]  # which cannot be set here
        return self._coding

    def fileno(self) -> int:
        if self._stream is None:
            raise io.UnsupportedOperation("there is no such stream")
        return self._stream.fileno()

    def isatty(self) -> bool:
        return self._stream is not None and self._stream.isatty()

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        flush(self._stream)
        with suppress(OSError, ValueError):
            rest = memoryview(text.encode(self._coding, "backslashreplace"))
            while rest:
                try:
                    rest = rest[os.write(self.fileno(), rest) :]
                except BlockingIOError:  # the program wants it so
                    select.select([], [self], [])
        return len(text)


def flush(stream: TextIO | None) -> None:
    """What was written comes out, if that is possible."""
    with suppress(OSError, ValueError):
        if stream is not None:
            stream.flush()


class Prompt(pdb.Pdb):
    """A prompt at a frame. After it, `steps` says whether the developer wants a step or to go on."""

    reads_input = True
    """Does it read what the program would read?"""

    def __init__(self, owner: Owner) -> None:
        super().__init__(nosigint=True, skip=["mopsus.*"])
        self.stdout = cast(IO[str], Words(sys.stdout))
        if not (sys.stdin.isatty() and self.stdout.isatty()):
            self.stdin, self.use_rawinput = cast(IO[str], Lines()), False
        self.prompt = "(mopsus) "
        self._owner = owner
        self.open = False
        self.waits = False
        """Does it wait for a line?"""
        self.over = False
        """Nothing of the program runs any more."""
        self.reset()

    # ---- for the debugger

    def begin(self, bottom: FrameType) -> None:
        """The program's outermost frame: what lies below is ours."""
        self.botframe = bottom
        self.set_continue()

    def show(self, frame: FrameType, trace: TracebackType | None, breakpoint: bool) -> None:
        """Ask for commands until one of them lets the program go on."""
        self.open = True
        try:
            if not breakpoint or self.bp_commands(frame):
                super().interaction(None if self.over else frame, trace)
        finally:
            self.open = False
            write_back(frame)

    def interaction(self, frame: FrameType | None, trace: Any) -> None:  # noqa: ANN401 - it differs by version
        """Where `pdb` has made a step."""
        if frame is not None:
            self._owner.step_made(frame, trace)

    @property
    def steps(self) -> bool:
        """Does the developer wait for the next line, or the end of a function?"""
        return self.stoplineno != -1

    @property
    def stop_lines(self) -> Mapping[str, Collection[int]]:
        """The lines that have a breakpoint, by the real path of their file."""
        return {os.path.realpath(file): lines for file, lines in self.breaks.items()}

    @property
    def stop_functions(self) -> Collection[str]:
        """The functions that have one, by name."""
        return ()

    @property
    def stops_at_raised(self) -> bool:
        """Is there one at exceptions?"""
        return False

    def stops_at(self, frame: FrameType, error: BaseException | None) -> bool:
        """Is there a breakpoint at this line, or for this exception, whose condition holds? It counts as hit."""
        return error is None and super().break_here(frame)

    def interrupt(self, frame: FrameType | None) -> None:
        """Ctrl-C while the prompt is open."""
        raise KeyboardInterrupt

    @contextmanager
    def elsewhere(self, frame: FrameType) -> Iterator[io.StringIO]:
        """What is printed meanwhile is kept, and what is asked is asked of this frame."""
        kept, self.stdout = self.stdout, io.StringIO()
        is_new = self.curframe is None
        try:
            if is_new:
                self.setup(frame, None)
            yield self.stdout
        finally:
            self.stdout = kept
            if is_new:
                self.forget()

    def pack(self) -> Any:  # noqa: ANN401 - whatever is to come back
        """What must not be forgotten over a checkpoint, as plain data: all breakpoints, with all that is known."""
        found = [each for each in bdb.Breakpoint.bpbynumber if each is not None]
        return [
            (each.file, each.line, each.temporary, each.cond, each.funcname, each.enabled, each.ignore, each.hits)
            for each in found
        ]

    def unpack(self, packed: Any) -> None:  # noqa: ANN401 - what was packed
        """Have these breakpoints, and no others: this process is the program from now on."""
        self.clear_all_breaks()
        bdb.Breakpoint.clearBreakpoints()
        for file, line, temporary, condition, function, enabled, ignore, hits in packed:
            self.set_break(file, line, temporary, condition, function)
            made = self.get_breaks(file, line)[-1]
            made.enabled, made.ignore, made.hits = enabled, ignore, hits

    def hang_up(self) -> None:
        """This process is nobody's to debug from now on."""

    # ---- as pdb wants it

    def set_return(self, frame: FrameType) -> None:
        """Stop when the function returns. The main program returns to nobody, and `bdb` takes that for a step."""
        super().set_return(frame)
        if self.stopframe is None:
            self.stopframe = _NO_FRAME

    def _cmdloop(self) -> None:
        while True:
            try:
                super()._cmdloop()
                return
            except Asked:
                self.waits = False
                if self._owner.serve():
                    return

    def preloop(self) -> None:
        super().preloop()
        self._wait()

    def precmd(self, line: str) -> str:
        self.waits = False
        return super().precmd(line)

    def postcmd(self, stop: bool, line: str) -> bool:
        stop = super().postcmd(stop, line)
        if not stop:
            self._wait()
        return stop

    def _wait(self) -> None:
        self._owner.about_to_ask()
        self.waits = True  # what came before that is seen now, and what comes later calls away
        if self._owner.is_called():
            raise Asked

    def break_here(self, frame: FrameType) -> bool:
        return False

    def break_anywhere(self, frame: FrameType) -> bool:
        return False

    def set_continue(self) -> None:
        self._set_stopinfo(self.botframe, None, -1)  # type: ignore[attr-defined]  # which the stubs do not know

    def set_quit(self) -> None:
        self._owner.quit()

    def set_trace(self, *args: Any, **named: Any) -> None:  # noqa: ANN401 - they differ by version
        """`breakpoint()` in the program is a matter of the debugger's own."""

    def do_run(self, arg: str) -> None:
        """run

        A program that has begun cannot begin again here.
        """
        self.error("quit, and start it again; or go back to a checkpoint: verde checkpoint-restart")

    do_restart = do_run

    def do_verde(self, arg: str) -> bool:
        """verde COMMAND

        Monitors, checkpoints and scenarios; `verde help` lists the commands.
        """
        try:
            return self._owner.command(arg)
        except MopsusError as error:
            self.error(refusal(error, "{}; {}"))
            return False

    do_mopsus = do_verde
