"""The prompt of a Python program that an editor debugs: instead of a developer at a terminal, a channel is asked.

Steps are those of `bdb`, as an editor means them: they end at lines, in the code of the developer, and a function that
is left leaves the program in its caller.
"""

from __future__ import annotations

import dis
import os
import sys
import threading
import traceback
from collections import deque
from collections.abc import Collection, Mapping
from types import FrameType, TracebackType
from typing import IO, TYPE_CHECKING, Any, cast

from mopsus.events.weave.origin import is_ours, is_own
from mopsus.interactive.dap.channel import EditorLine, Message
from mopsus.interactive.dap.monitors import stop_of
from mopsus.interactive.dap.python.bench import PythonBench
from mopsus.interactive.dap.python.variables import Evaluation, Result
from mopsus.interactive.dap.server import Server
from mopsus.interactive.dap.workbench import RESTORED, Caught, Course, Go, Stopped
from mopsus.interactive.debugger import DebuggerError
from mopsus.interactive.python.bell import Bell, is_waiting, ring_waiting
from mopsus.interactive.python.prompt import Prompt

if TYPE_CHECKING:
    from mopsus.interactive.python.adapter import PythonDebugger
    from mopsus.interactive.session import Session

_PAUSE = "pause"
_ENDING = frozenset({"cancel", "pause", "terminate", "disconnect"})
"""Requests that end an evaluation, whatever it is about to do."""
_LEFT = frozenset({"RETURN_VALUE", "RETURN_CONST"})


class EditorPrompt(Prompt):
    """Stands where the program stands, and lets it go on as the editor wants."""

    reads_input = False

    def __init__(self, debugger: PythonDebugger, descriptor: int) -> None:
        super().__init__(debugger)
        os.set_inheritable(descriptor, False)
        self._debugger = debugger
        self._channel = EditorLine.of_descriptor(descriptor)
        self._bench = PythonBench(debugger, lambda text: self._server.output(text))
        self._server = Server(self._channel, self._bench, self._receive)
        self._heard: deque[Message | None] = deque()
        """Requests that came while the developer's own code ran, and are not done yet; None: the editor is gone."""
        self._bell: Bell | None = None
        self.stdin, self.stdout = cast(IO[str], _Nobody()), cast(IO[str], _Words(self._server))
        Evaluation.begin = self._begin_evaluation
        self._next = _PAUSE
        """The reason of the next stop, if there is no better one."""
        self._waits = self._interrupted = False
        """Waits it for a request? Was it interrupted since it had one?"""
        self._error: BaseException | None = None
        self._uncaught = False
        self._returned: Result | None = None
        self._from_library = False

    # ---- for who runs the debugger

    def prepare(self, session: Session, stop_on_entry: bool) -> bool:
        """The program is about to begin: hear what the editor wants before. Must it stop at its first line?"""
        self._bench.session = session
        course = self._server.prepare()
        if course.go is Go.CONTINUE:
            self._bell = Bell(self._channel, self._rung, self._hear)
            self._look_soon()
            self._next = "entry" if stop_on_entry else _PAUSE
            return stop_on_entry
        self._leave(course)
        return False

    def hang_up(self) -> None:
        super().hang_up()
        if self._bell is not None:
            self._bell.take_down()
        self._heard.clear()
        self._channel.close()

    # ---- for the debugger

    def show(self, frame: FrameType, trace: TracebackType | None, breakpoint: bool) -> None:
        self.open = True
        try:
            self._bench.stand(frame, self.botframe, trace, self._returned)
            self._bench.session.live.stands()
            course = self._server.stand(self._why(frame, breakpoint))
            self._go(course, frame)
        finally:
            self.open = False
            self._bench.leave()
            if self._heard:
                self._debugger.call(frame, self._attend)
            self._next, self._error, self._uncaught, self._returned = _PAUSE, None, False, None

    @property
    def stop_lines(self) -> Mapping[str, Collection[int]]:
        return self._bench.points.lines

    @property
    def stop_functions(self) -> Collection[str]:
        return self._bench.points.functions

    @property
    def stops_at_raised(self) -> bool:
        return self._bench.points.at_raised

    @property
    def stops_at_uncaught(self) -> bool:
        return self._bench.points.at_uncaught

    def stops_at(self, frame: FrameType, error: BaseException | None) -> bool:
        if error is None:
            return self._bench.points.reached(frame)
        if not self._bench.points.raised(error):
            return False
        self._error = error
        return True

    def interrupt(self, frame: FrameType | None) -> None:
        """The editor has the program already, unless it is about to let it go on."""
        if not self._waits and frame is not None:
            self._interrupted = True
            self._debugger.call(frame, self._attend)

    def called(self) -> None:
        """The program has called `breakpoint`."""
        self._next = "breakpoint"

    def fail(self, error: BaseException) -> None:
        """An exception that nobody has caught is the reason of the next stop."""
        self._error, self._uncaught = error, True

    def pack(self) -> tuple[object, ...]:
        return self._bench.points.pack(), self._heard, self._server.pending

    def unpack(self, packed: Any) -> None:  # noqa: ANN401 - what was packed
        points, self._heard, pending = packed
        self._bench.points.unpack(points)
        if self._bell is not None:
            self._bell.hang()
            self._look_soon()
        if pending is not None:
            done = {"result": "", "variablesReference": 0} if pending["command"] == "evaluate" else None
            self._server.answer(pending, done)
            self._next = RESTORED

    # ---- while the program runs

    def _receive(self) -> Message | None:
        self._waits, self._interrupted = True, False
        try:
            return self._heard.popleft() if self._heard else self._channel.hear()
        finally:
            self._waits = False

    def _look_soon(self) -> None:
        """What came before the bell was there did not ring it: see to it when the program is about to go on."""
        self._debugger.call(sys._getframe(), self._attend)

    @property
    def _evaluates(self) -> bool:
        """Does code of the developer's own run, in this thread?"""
        return self.open and Evaluation.thread == threading.get_ident()

    def _hear(self) -> None:
        """All else reads by itself when it has time."""
        while self._evaluates and None not in self._heard and is_waiting(self._channel):
            self._heard.append(self._channel.hear())

    def _rung(self, frame: FrameType) -> None:
        if self._evaluates:
            self._end_if_wanted()
        else:
            self._debugger.call(frame, self._attend)

    def _begin_evaluation(self) -> None:
        if self.open:
            ring_waiting(sys._getframe())
            self._end_if_wanted()

    def _end_if_wanted(self) -> None:
        """Does the editor want an end of the code that it has asked for?"""
        if any(message is None or message.get("command") in _ENDING for message in list(self._heard)):
            raise KeyboardInterrupt

    def _attend(self) -> bool:
        """Do what the editor has asked for meanwhile. Must the program stay?"""
        if self._interrupted:
            self._interrupted = False
            return True
        self._server.see_threads()
        while self._heard or is_waiting(self._channel):
            message = self._receive()
            if message is None:
                self._leave(Course(Go.END))
            elif not self._server.answer_running(message):
                course = self._server.handle(message)
                self._debugger.see_breakpoints()
                if course is not None:
                    self._leave(course)
                    return False
                if self._server.pausing:
                    return True
        return False

    def _leave(self, course: Course) -> None:
        if course.go is Go.LEAVE:
            if self._bell is not None:
                self._bell.take_down()  # the end of the line would ring it
            self._channel.shut()  # which checkpoints hold on to
            self._debugger.let_go()
        else:
            self._debugger.quit()

    # ---- why it stands, and how it goes on

    def _why(self, frame: FrameType, breakpoint: bool) -> Stopped:
        thread, hit = self._bench.thread, self._bench.points.hit
        if self._next == RESTORED:
            return Stopped(RESTORED, thread, "Back at a checkpoint")
        if (stop := stop_of(self._bench.session, thread)) is not None:
            return stop
        if self._error is not None:
            error = self._error
            lines = [*self._bench.stack_lines(), *traceback.format_exception_only(error)]
            caught = Caught(_name(error), str(error), "".join(lines), self._uncaught)
            what = "uncaught exception" if self._uncaught else "exception"
            return Stopped("exception", thread, f"{what} {type(error).__name__}", str(error) or None, caught=caught)
        if breakpoint:
            return Stopped("breakpoint", thread, breakpoints=hit)
        return Stopped(self._next, thread)

    def _go(self, course: Course, frame: FrameType) -> None:
        self._from_library = not is_own(frame.f_code.co_filename)
        match course.go:
            case Go.END | Go.LEAVE:
                self.set_continue()
                self._leave(course)
            case Go.NOWHERE:
                pass  # a command has said how
            case _ if self._uncaught:
                self.set_continue()
            case Go.NEXT:
                self.set_next(frame)
            case Go.STEP_IN:
                self.set_step()
            case Go.STEP_OUT:
                self.set_return(frame)
            case _:
                self.set_continue()

    # ---- as bdb wants it

    def interaction(self, frame: FrameType | None, trace: Any) -> None:  # noqa: ANN401 - it differs by version
        if self._next == _PAUSE:
            self._next = "step"
        super().interaction(frame, trace)

    def stop_here(self, frame: FrameType) -> bool:
        """Steps do not lead into libraries, but through them if they began there."""
        return bool(super().stop_here(frame)) and self._is_shown(frame)

    def user_call(self, frame: FrameType, argument_list: None) -> None:
        """A step into a function ends at its first line."""

    def user_exception(self, frame: FrameType, exc_info: Any) -> None:  # noqa: ANN401 - as in bdb
        """A step over what raises ends where that is handled."""

    def user_return(self, frame: FrameType, return_value: Any) -> None:  # noqa: ANN401 - as in bdb
        """A step ends in the caller, in the middle of the line that has called: as if the function were gone."""
        caller = frame.f_back
        while caller is not None and (is_ours(caller.f_globals.get("__name__")) or not self._is_shown(caller)):
            caller = caller.f_back
        if caller is None:
            self.set_continue()
        elif caller is not frame.f_back or dis.opname[frame.f_code.co_code[frame.f_lasti]] not in _LEFT:
            if self.stopframe is not None:
                self.set_next(caller)
        else:
            self._returned = Result(frame.f_code.co_qualname.replace(".<locals>", ""), return_value, caller)
            self.interaction(caller, None)

    def _is_shown(self, frame: FrameType) -> bool:
        return self._from_library or is_own(frame.f_code.co_filename)


class _Words:
    """Where the prompt prints: words for the developer."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def write(self, text: str) -> None:
        self._server.output(text)

    def flush(self) -> None:
        """They are sent at once."""


class _Nobody:
    """Where the prompt reads."""

    def readline(self) -> str:
        raise DebuggerError("an editor cannot be asked", hint="debug the program at a terminal: mopsus debug")


def _name(error: BaseException) -> str:
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
