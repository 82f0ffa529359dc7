"""A session under GDB whose developer sits in an editor.

GDB does everything in its main thread, which waits while the program runs. So another thread hears what the editor
says meanwhile. For what needs GDB the program is held for a moment.
"""

from __future__ import annotations

import io
import queue
import signal
import threading
from typing import IO, TYPE_CHECKING, Any

import gdb

from mopsus.interactive.dap.channel import EditorLine, Message
from mopsus.interactive.dap.gdb.bench import GdbBench, Returned
from mopsus.interactive.dap.gdb.data import Watching
from mopsus.interactive.dap.gdb.points import Points
from mopsus.interactive.dap.gdb.program import Program
from mopsus.interactive.dap.monitors import stop_of
from mopsus.interactive.dap.server import Server
from mopsus.interactive.dap.workbench import RESTORED, Caught, Course, Go, Placed, Stopped
from mopsus.interactive.outcome import Outcome

if TYPE_CHECKING:
    from mopsus.interactive.gdb.adapter import GdbDebugger
    from mopsus.interactive.session import Session
    from mopsus.interactive.setup import Setup

_STEPS = {
    (Go.NEXT, False): "next",
    (Go.NEXT, True): "nexti",
    (Go.STEP_IN, False): "step",
    (Go.STEP_IN, True): "stepi",
    (Go.STEP_OUT, False): "finish",
    (Go.STEP_OUT, True): "finish",
}
_ONWARD = "continue"


class _Console(io.RawIOBase):
    def __init__(self, channel: EditorLine) -> None:
        self._channel = channel

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:  # noqa: ANN401 - bytes of any kind
        body = {"category": "console", "output": bytes(data).decode(errors="replace")}
        self._channel.tell({"type": "event", "event": "output", "body": body})
        return len(data)


def console(channel: EditorLine) -> IO[str]:
    """What is written there goes to the editor line by line, as words of the debugger."""
    return io.TextIOWrapper(io.BufferedWriter(_Console(channel)), encoding="utf-8", line_buffering=True)


class Ear:
    """Hears the editor in a thread of its own."""

    def __init__(self, channel: EditorLine, program: Program) -> None:
        self._channel, self._program = channel, program
        self._waiting: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self._server: Server

    def start(self, server: Server) -> None:
        self._server = server
        thread = threading.Thread(target=self._listen, daemon=True)
        # GDB's signals are for its main thread.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        thread.start()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def receive(self) -> Message | None:
        """The next request, when it comes: for a program that stands still."""
        return self._waiting.get()

    @property
    def waiting(self) -> bool:
        return not self._waiting.empty()

    def _listen(self) -> None:
        message: Message | None = {}
        while message is not None:
            message = self._channel.hear()
            with self._program.lock:
                if message is not None and self._at_once(message) and self._server.answer_running(message):
                    continue
                self._waiting.put(message)
                if self._program.running:
                    self._program.hold()

    def _at_once(self, message: Message) -> bool:
        """What is cancelled may be waiting."""
        return self._program.running or message.get("command") == "cancel"


class Sitting:
    """A session, from the editor's first request to the last."""

    def __init__(self, session: Session, debugger: GdbDebugger, setup: Setup, channel: EditorLine) -> None:
        self._session, self._setup = session, setup
        self._program = Program(debugger.checkpoints, self._went_on, lambda: self._ear.waiting)
        self._ear = Ear(channel, self._program)
        points = Points(self._say, self._changed)
        watching = Watching(points.numbers, debugger.calls, self._say, self._removed)
        self._bench = GdbBench(session, self._program, points, watching)
        self._server = Server(channel, self._bench, self._ear.receive, attached=setup.process is not None)
        self._returns = 0

    def run(self) -> Outcome:
        """What became of it."""
        self._program.prepare()
        self._ear.start(self._server)
        course: Course | None = self._server.prepare()
        if course is not None and course.go is Go.CONTINUE:
            course = self._begin()
        while course is not None and course.go not in (Go.END, Go.LEAVE):
            course = self._go(course)
        outcome = self._session.outcome()
        if course is not None and not self._program.over:
            self._session.close()
            gdb.execute("detach" if course.go is Go.LEAVE else "kill", to_string=True)
        return outcome

    # ---- how the program goes on; None: it has ended

    def _begin(self) -> Course | None:
        if self._setup.process is None:
            return self._run("start" if self._setup.stop_on_entry else "run", _ONWARD, "entry")
        return self._stand(self._why("entry")) if self._setup.stop_on_entry else Course(Go.CONTINUE)

    def _go(self, course: Course) -> Course | None:
        """As the editor wants it to; then what it wants where the program has stopped."""
        if course.go is Go.NOWHERE:
            return None if self._program.over else self._stand(self._why("pause"))
        self._select(course.thread)
        if course.go is Go.CONTINUE:
            return self._run(_ONWARD, _ONWARD, "pause")
        step = _STEPS[course.go, course.by_instruction]
        left = gdb.newest_frame().function() if course.go is Go.STEP_OUT else None
        return self._run(step, step, "step", left)

    def _run(self, command: str, goal: str, otherwise: str, left: gdb.Symbol | None = None) -> Course | None:
        """By a command, until the program stops for a reason that the developer must know of; `otherwise` if there is
        none. Where it is only held for requests they are done, and it goes on towards the goal. `left` is a function
        that it is to return from."""
        start = gdb.newest_frame() if gdb.selected_thread() is not None else None
        while True:
            self._execute(command)
            if self._program.over:
                return None
            if self._program.held:
                if (course := self._attend()) is not None:
                    return course
                if self._server.pausing:
                    break
            elif command == goal or goal == _ONWARD or gdb.newest_frame() != start:
                break
            command = goal if start is None or goal == _ONWARD else _rest(goal, start)
        why = self._why(otherwise)
        if left is not None and why.reason == otherwise:
            self._bench.returned = _returned(left)
        try:
            return self._stand(why)
        finally:
            self._bench.returned = None

    def _stand(self, why: Stopped) -> Course:
        self._session.live.stands()
        return self._server.stand(why)

    def _attend(self) -> Course | None:
        """Do what the editor has asked for meanwhile."""
        while self._ear.waiting:
            message = self._ear.receive()
            course = self._server.gone if message is None else self._server.handle(message)
            if course is not None:
                return course
        return None

    def _execute(self, command: str) -> None:
        try:
            self._program.execute(command, runs=True)
        except gdb.error as error:
            self._server.output(f"{error}\n")

    def _select(self, number: int | None) -> None:
        for thread in gdb.selected_inferior().threads():
            if thread.global_num == number:
                thread.switch()
        gdb.newest_frame().select()

    # ---- why it has stopped

    def _why(self, otherwise: str) -> Stopped:
        thread, last = _thread(), self._program.last
        points, watching = self._bench.points, self._bench.watching
        numbers, data = points.arrived(), watching.arrived()
        if self._session.returns != self._returns:
            self._returns = self._session.returns
            watching.came_back()
            return Stopped(RESTORED, thread, "Back at a checkpoint")
        if self._program.held:
            return Stopped("pause", thread)
        if (ours := stop_of(self._session, thread)) is not None:
            return ours
        if isinstance(last, gdb.SignalEvent):
            return _signalled(last.stop_signal, thread)
        hit = points.stopping(self._program.hit)
        if isinstance(last, gdb.BreakpointEvent) and hit:
            if (name := points.filter_of(hit)) is not None:
                return _exception(name, thread)
            if data:
                said = "; ".join(data.values())
                return Stopped("data breakpoint", thread, said, breakpoints=(*numbers, *data))
            if numbers:
                reason = "function breakpoint" if points.at_function(numbers) else "breakpoint"
                return Stopped(reason, thread, breakpoints=numbers)
            return Stopped(otherwise if otherwise == "entry" else "breakpoint", thread)
        return Stopped(otherwise, thread)

    # ---- what happens meanwhile

    def _went_on(self) -> None:
        """By a command that the developer has typed."""
        self._server.event("continued", {"threadId": _thread() or 1, "allThreadsContinued": True})

    def _say(self, text: str) -> None:
        self._server.output(text)

    def _changed(self, placed: Placed) -> None:
        self._server.event("breakpoint", {"reason": "changed", "breakpoint": self._server.shown_breakpoint(placed)})

    def _removed(self, number: int) -> None:
        body = {"reason": "removed", "breakpoint": self._server.shown_breakpoint(Placed(number, False))}
        self._server.event("breakpoint", body)


def run_editor(session: Session, debugger: GdbDebugger, setup: Setup, channel: EditorLine) -> Outcome:
    """A whole session; the program is loaded, and its monitors are there."""
    return Sitting(session, debugger, setup, channel).run()


def _rest(step: str, start: gdb.Frame) -> str:
    """The command for what is left of a step that began in this frame and was held up, maybe in a function that was
    called there: that one is to return first."""
    newer: gdb.Frame | None = None
    frame: gdb.Frame | None = gdb.newest_frame()
    while frame is not None and frame != start:
        newer, frame = frame, frame.older()
    if frame is None:
        return step
    if step == "finish":
        frame.select()
    elif newer is not None:
        newer.select()
        return "finish"
    return step


def _returned(function: gdb.Symbol) -> Returned | None:
    """What it has given, of which GDB keeps a record."""
    result = function.type.target().strip_typedefs() if function.type is not None else None
    if result is None or result.code == gdb.TYPE_CODE_VOID:
        return None
    return Returned(function.name, gdb.history(0))


def _thread() -> int | None:
    thread = gdb.selected_thread()
    return None if thread is None else thread.global_num


def _signalled(name: str, thread: int | None) -> Stopped:
    """By a signal, most likely a deadly one."""
    text = gdb.execute(f"info signals {name}", to_string=True).splitlines()[-1].split("\t")[-1]
    return Stopped("exception", thread, name, text, caught=Caught(name, text, uncaught=True))


def _exception(name: str, thread: int | None) -> Stopped:
    """A C++ exception that is thrown or caught."""
    try:
        value = gdb.parse_and_eval("$_exception")
        kind, text = str(value.dynamic_type), value.format_string(styling=False)
    except gdb.error:  # without debug information nobody knows
        kind, text = "C++ exception", ""
    said = "thrown" if name == "throw" else "caught"
    return Stopped("exception", thread, f"{kind} is {said}", text or None, caught=Caught(kind, text or said))
