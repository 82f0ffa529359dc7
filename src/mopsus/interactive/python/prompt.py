"""The prompt: that of `pdb`, with all its commands, and those for monitors.

Only steps are left to `pdb` and its trace function. Its breakpoints are kept as it keeps them, but it is the debugger
that finds them reached, so that a program with breakpoints runs as fast as one without.
"""

from __future__ import annotations

import bdb
import io
import os
import pdb
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import IO, Any, Protocol, cast

from mopsus.interactive.python.values import write_back
from mopsus.model import MopsusError


class Owner(Protocol):
    """The debugger, as its prompt sees it."""

    def step_made(self, frame: FrameType, trace: TracebackType | None) -> None: ...
    def quit(self) -> None: ...
    def command(self, line: str) -> bool:
        """Does the program go on after it?"""


class Lines:
    """Standard input line by line, nothing read ahead: what comes after a line may be for the program, or for the
    prompt of another process."""

    def readline(self) -> str:
        line = bytearray()
        while not line.endswith(b"\n"):
            byte = os.read(0, 1)
            if not byte:
                break
            line += byte
        return line.decode(errors="replace")


class Prompt(pdb.Pdb):
    """A prompt at a frame. After it, `steps` says whether the developer wants a step or to go on."""

    def __init__(self, owner: Owner) -> None:
        super().__init__(nosigint=True, skip=["mopsus.*"])
        if not sys.stdin.isatty():
            self.stdin, self.use_rawinput = cast(IO[str], Lines()), False
        self.prompt = "(mopsus) "
        self._owner = owner
        self.open = False
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

    def stops_at(self, frame: FrameType) -> bool:
        """Is there a breakpoint whose condition holds? It counts as hit."""
        return super().break_here(frame)

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

    def breakpoints(self) -> list[tuple[Any, ...]]:
        """All breakpoints, with all that is known of them, as plain data."""
        found = [each for each in bdb.Breakpoint.bpbynumber if each is not None]
        return [
            (each.file, each.line, each.temporary, each.cond, each.funcname, each.enabled, each.ignore, each.hits)
            for each in found
        ]

    def use_breakpoints(self, breakpoints: list[tuple[Any, ...]]) -> None:
        """Have these, and no others."""
        self.clear_all_breaks()
        bdb.Breakpoint.clearBreakpoints()
        for file, line, temporary, condition, function, enabled, ignore, hits in breakpoints:
            self.set_break(file, line, temporary, condition, function)
            made = self.get_breaks(file, line)[-1]
            made.enabled, made.ignore, made.hits = enabled, ignore, hits

    # ---- as pdb wants it

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
            self.error(error.message + (f"; {error.hint}" if error.hint else ""))
            return False

    do_mopsus = do_verde
