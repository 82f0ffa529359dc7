"""The debugger of Python programs that monitors drive."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from traceback import format_exception_only
from types import FrameType, TracebackType
from typing import Any, NoReturn, Protocol

from mopsus.interactive.debugger import (
    CheckpointError,
    Debugger,
    DebuggerError,
    Driver,
    Feed,
    PlaceError,
    Where,
    shortened,
)
from mopsus.interactive.endless import is_in_users_code
from mopsus.interactive.python import processes
from mopsus.interactive.python.arrivals import Arrivals, Hit
from mopsus.interactive.python.atlas import Atlas
from mopsus.interactive.python.outline import Outline
from mopsus.interactive.python.prompt import Prompt, Words
from mopsus.interactive.python.sensor import make_sensor
from mopsus.interactive.python.signals import Signals
from mopsus.interactive.python.values import Values, assign, evaluate
from mopsus.interactive.stepper import Stepped
from mopsus.model import Place, PlaceKind, Reading
from mopsus.model.text import short_path

_OURS = f"{Path(__file__).parents[1]}/"
"""The folder of what the program may wait for, when it comes to a place that is watched."""


class Host(Protocol):
    """Who runs the debugger."""

    def begin(self) -> bool:
        """The program is about to begin. True: it must not, yet."""

    def command(self, line: str) -> object:
        """What stands after `verde`."""

    def about_to_ask(self) -> None:
        """The developer is about to be asked."""

    def is_called(self) -> bool:
        """Has somebody else asked for something?"""

    def serve(self) -> bool:
        """Do what somebody else has asked for. Does the program go on after it?"""

    def forked(self) -> None:
        """This is a process that the program has forked."""

    def leave(self, reason: str) -> NoReturn:
        """End the process, whatever the program was about to do."""

    def let_go(self) -> None:
        """Nobody is to debug the program any more."""

    def pack(self, saved: object, asking: bool, extra: object) -> bytes:
        """What must not be forgotten when the process goes back to what was saved; the developer was being asked."""

    def unpack(self, message: bytes) -> tuple[bool, Any]:
        """Know it again; gives back whether the developer was being asked, and what was extra."""


class PythonDebugger(Debugger):
    """Debugs the program that runs in this process.

    While something is told, or the prompt is open, nothing that this thread does is told, and other threads wait where
    they come to a point.
    """

    language = "python"
    holds_session = True
    feeds_choices = True

    def __init__(
        self,
        script: str,
        root: str,
        *,
        batch: bool = False,
        feeds: bool = True,
        folder: str | None = None,
        prompt: Callable[[PythonDebugger], Prompt] = Prompt,
    ) -> None:
        """The program's file, and the folder from which it imports its own. `feeds`: let the core send the events of
        monitors by itself, where it can. `folder` is where the processes of
        checkpoints find each other; without one there are no checkpoints."""
        self.atlas = Atlas(script)
        self._outline = Outline(script, root)
        self._arrivals = Arrivals(self.atlas, self._begin, self._arrive)
        self._sensor = make_sensor(self._arrivals, self._settle)
        self._signals = Signals(self._signalled, self._sensor.gate)
        self._prompt = prompt(self)
        self._batch, self._feeds, self._folder = batch, feeds, folder
        self._process = os.getpid()
        self._driver: Driver
        self._host: Host
        self._begun = time.monotonic()
        self._turn = threading.RLock()
        self._holder: int | None = None
        self._frame: FrameType | None = None
        self._trace: TracebackType | None = None
        """How an exception came out of that frame, if the program stands there for it."""
        self._at_breakpoint = False
        self._staying = False
        self._going = False
        self._stopping_soon = False
        self._saving = False
        self._called: Callable[[], bool] | None = None

    # ---- its life

    def drive(self, driver: Driver, host: Host) -> None:
        """Who is told what happens, and who is asked for all else."""
        self._driver, self._host = driver, host

    def start(self, namespace: dict[str, object]) -> None:
        """The program is about to begin in this thread; these will be its variables."""
        self._arrivals.main = namespace
        self.atlas.names.program = _name_of(namespace)
        self._begun = self._sensor.gate.began = time.monotonic()
        os.register_at_fork(after_in_child=self._forked)
        self._sensor.start()
        self._signals.start()

    def stop(self) -> None:
        """The program has ended, or is another process's from now on."""
        self._sensor.stop()
        self._signals.stop(forked=not self.is_program())
        if self._sensor.displaced:
            self.blinded = "the time when the program had a trace function of its own"

    def post_mortem(self, trace: TracebackType, *, over: bool = True) -> None:
        """An exception has ended the program, or if that is not `over` a thread of it: ask the developer, where it was
        raised."""
        self._prompt.over = over
        self._hold(trace.tb_frame, lambda: True, trace)

    def tell_dying(self, error: BaseException, *, of: str = "died of") -> None:
        """An exception ends the program, or what else `of` says."""
        kind, trace = type(error), error.__traceback__
        within = "" if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}."
        name = f"{within}{kind.__qualname__}"

        def tell() -> bool:
            self._driver.dying(f"{of} {name}", keep=False, detail="".join(format_exception_only(error)).strip())
            return False

        if trace is None:  # it is in no code of the program, as with a wrong syntax
            tell()
        else:
            self._hold(trace.tb_frame, tell, trace)

    def is_at_work(self) -> bool:
        """Is this thread at work for the debugger? Nothing that it does is the program's then."""
        return self._sensor.gate.holder == threading.get_ident()

    def is_program(self) -> bool:
        """Is this the program, and not a process that it has forked?"""
        return os.getpid() == self._process

    # ---- points

    def set_point(self, place: Place, readings: Sequence[Reading]) -> None:
        wrong = self.known(place)
        if wrong is not None:
            raise PlaceError(wrong)
        self._arrivals.readings[place] = tuple(readings)
        match place.kind:
            case PlaceKind.THROW:
                self._arrivals.throws.append(place)
                self._sensor.watch_exceptions(True)
            case PlaceKind.SIGNAL:
                self._signals.set(place)
            case _:
                spots = self.atlas.set(place)
                if place.kind is PlaceKind.CALL and place.after:
                    self._arrivals.await_returns(place, spots)
                self._sensor.update(spots)

    def clear_point(self, place: Place) -> None:
        if self._arrivals.readings.pop(place, None) is None:
            return
        self._arrivals.feeds.pop(place, None)
        self._sensor.detours.pop(place, None)
        match place.kind:
            case PlaceKind.THROW:
                self._arrivals.throws.remove(place)
                self._sensor.watch_exceptions(self._arrivals.wants_exceptions)
            case PlaceKind.SIGNAL:
                self._signals.clear(place)
            case _:
                self._sensor.update(self.atlas.clear(place))

    def can_feed(self, stepped: Callable[[], Stepped | None]) -> bool:
        return self._feeds

    def feed(self, place: Place, events: Sequence[Feed]) -> None:
        if place.kind is PlaceKind.CALL:
            self._arrivals.feeds[place] = events
            self._sensor.update(self.atlas.set(place))
        else:
            self._sensor.detours[place] = "it is no call of a function"

    def inside(self) -> Mapping[Place, str | None]:
        return dict.fromkeys(self._arrivals.feeds) | self._sensor.detours

    def known(self, place: Place) -> str | None:
        return self._outline.wrong_with(place)

    def missed(self, place: Place) -> str | None:
        lack = self.atlas.lack(place)
        return None if lack is None or lack.possible else lack.text

    def doubt(self, place: Place) -> str | None:
        lack = self.atlas.lack(place)
        return lack.text if lack is not None and lack.possible else None

    def developer_stops_here(self) -> bool:
        return self._at_breakpoint

    # ---- the program

    def where(self) -> Where:
        elapsed = round(time.monotonic() - self._begun, 6)
        thread = threading.current_thread()
        name = None if thread is threading.main_thread() else thread.name
        if self._frame is None:
            return Where(None, None, name, elapsed)
        frame, line = self._stack()[-1] if self._trace is not None else (self._frame, self._frame.f_lineno)
        return Where(f"{frame.f_code.co_filename}:{line}", frame.f_code.co_qualname, name, elapsed)

    def get(self, expression: str) -> object:
        try:
            return evaluate(expression, self._stands())
        except DebuggerError:
            raise
        except Exception as error:
            raise DebuggerError(f"`{expression}` has no value here: {type(error).__name__}: {error}") from error

    def set(self, expression: str, value: object) -> None:
        frame = self._stands()
        try:
            assign(expression, value, frame)
        except DebuggerError:
            raise
        except Exception as error:
            raise DebuggerError(f"`{expression}` cannot be set: {type(error).__name__}: {error}") from error

    def get_memory(self, address: int, length: int) -> bytes:
        raise DebuggerError("a Python program has no addresses", hint="name a variable or an expression")

    def set_memory(self, address: int, data: bytes) -> None:
        raise DebuggerError("a Python program has no addresses", hint="name a variable or an expression")

    def get_pc(self) -> int:
        """The number of the line."""
        return self._stands().f_lineno

    def set_pc(self, address: int) -> None:
        """Go to a line of the same function."""
        frame = self._stands()
        try:
            frame.f_trace = frame.f_trace or (lambda *event: None)  # without one, no frame may be sent anywhere
            frame.f_lineno = address  # type: ignore[misc]  # which it is not in a trace function
        except ValueError as error:
            raise DebuggerError(f"line {address} cannot be next: {error}", hint="see `help jump`") from error

    def backtrace(self, limit: int = 20) -> list[str]:
        if self._frame is None:
            return []
        stack = [(frame.f_code, line) for frame, line in reversed(self._stack())]
        places = [(code.co_qualname, short_path(f"{code.co_filename}:{line}")) for code, line in stack]
        return shortened([f"#{number} {function} at {place}" for number, (function, place) in enumerate(places)], limit)

    # ---- its course

    def go_on(self) -> None:
        self._going = True
        if self._prompt.open:
            self._prompt.set_continue()

    def step(self) -> None:
        self._going = True
        self._prompt.set_step()

    def interrupt(self) -> None:
        if self._holder == threading.get_ident():
            self._staying = True
        else:
            self._prompt.set_step()
            self._sensor.trace(self._prompt.trace_dispatch, sys._getframe(1))

    def stop_soon(self) -> None:
        self._stopping_soon = True
        if self._holder is None:
            self._sensor.gate.pending = threading.get_ident()

    # ---- the developer

    def execute(self, command: str) -> str:
        with self._prompt.elsewhere(self._stands()) as printed:
            if self._prompt.onecmd(command):
                self._going = True
            return printed.getvalue()

    def write(self, text: str) -> None:
        stream = Words(sys.__stderr__) if self._batch else self._prompt.stdout
        stream.write(text + "\n")
        stream.flush()

    def ask(self, question: str) -> str:
        if self._batch:
            raise DebuggerError("nobody can be asked in a batch run", hint="run it without --batch")
        self._prompt.stdout.write(question + " ")
        self._prompt.stdout.flush()
        return self._prompt.stdin.readline().rstrip("\n")

    # ---- checkpoints

    def checkpoint(self) -> object:
        if self._folder is None:
            raise CheckpointError("checkpoints need `mopsus debug`", hint="start the program by it")
        self._saving = True
        try:
            return processes.save(self._folder, with_input=self._batch or not self._prompt.reads_input)
        finally:
            self._saving = False

    def restore(self, saved: object) -> NoReturn:
        """The process that was saved becomes the program, and goes on from where it was saved: see `_wake`."""
        assert isinstance(saved, processes.Copy)
        processes.wake(saved, self._host.pack(saved, self._prompt.open, self._prompt.pack()))

    def discard(self, saved: object) -> None:
        assert isinstance(saved, processes.Copy)
        processes.discard(saved)

    # ---- for the prompt

    def step_made(self, frame: FrameType, trace: TracebackType | None) -> None:
        """The program has come to where the developer wanted it."""
        self._hold(frame, lambda: True, trace)

    def quit(self) -> NoReturn:
        """The developer has had enough."""
        self._host.leave("the developer quit")

    def let_go(self) -> None:
        """The program goes on without a debugger, whoever has called for it meanwhile."""
        self._host.let_go()
        self._prompt.hang_up()
        self._called = None

    def command(self, line: str) -> bool:
        self._going = False
        self._host.command(line)
        return self._going

    def about_to_ask(self) -> None:
        self._host.about_to_ask()

    def is_called(self) -> bool:
        return self._host.is_called()

    def serve(self) -> bool:
        return self._host.serve()

    def prompt_waits(self) -> bool:
        """Does the prompt wait for a line, in this thread?"""
        return self._prompt.waits and self._holder == threading.get_ident()

    def stands_elsewhere(self) -> bool:
        """Is the developer asked in another thread than this one?"""
        return self._prompt.open and self._holder != threading.get_ident()

    def interrupted(self, frame: FrameType | None) -> None:
        """Ctrl-C: at the prompt for what is typed there, else for the program."""
        if self._prompt.open:
            self._prompt.interrupt(frame)
        elif self.is_at_work():
            if is_in_users_code(frame):
                if self._staying:
                    raise KeyboardInterrupt
                self.write("\nThe code of a property is at work; Ctrl-C again cuts it off.")
            self._staying = True
            self._settle_soon()
        elif frame is not None:
            self.write("\nThe program is interrupted; `continue` lets it go on.")
            self._hold(self._of_program(frame), lambda: True)

    def call(self, frame: FrameType, answer: Callable[[], bool]) -> None:
        """Somebody from outside wants something: hold the program while it is done, as soon as it is not held. Does the
        program stay there? Signal handlers may call this."""
        self._called = answer
        if self.is_at_work():
            self._settle_soon()
        elif self._holder is None:
            self._hold(self._of_program(frame), self._answer)

    def see_breakpoints(self) -> None:
        """The developer's points may have changed."""
        self.atlas.stop_at(self._prompt.stop_lines, self._prompt.stop_functions)
        self._arrivals.stops_at_raised = self._prompt.stops_at_raised
        self._sensor.watch_exceptions(self._arrivals.wants_exceptions)
        self._sensor.update(list(self.atlas))

    def pause(self, frame: FrameType) -> None:
        """Ask the developer here: the program has called `breakpoint`."""
        self._hold(frame, lambda: True)

    # ---- what is told

    def _of_program(self, frame: FrameType) -> FrameType:
        """The program's own frame, where a signal may have come while that waits for us."""
        found = frame
        outer: FrameType | None = frame
        while outer is not None and outer is not self._prompt.botframe:
            if outer.f_code.co_filename.startswith(_OURS) and outer.f_back is not None:
                found = outer.f_back
            outer = outer.f_back
        return frame if outer is None else found

    def _settle_soon(self) -> None:
        """Something is to be done when that is over. If the core is sending an event, it must be told so."""
        if self._holder is None:
            self._sensor.gate.pending = threading.get_ident()

    def _answer(self) -> bool:
        answer, self._called = self._called, None
        return answer is not None and answer()

    def _begin(self, frame: FrameType) -> None:
        """The program is about to run its first line. If it is to stay there, that is where it stops."""
        self._prompt.begin(frame)
        self._hold(frame, self._host.begin if self._batch else self._step_if_staying)
        self.see_breakpoints()
        self._sensor.trace(self._prompt.trace_dispatch if self._prompt.steps else None, frame)

    def _step_if_staying(self) -> bool:
        if self._host.begin():
            self._prompt.set_step()
        return False

    def _forked(self) -> None:
        """A process that the program has forked is nobody's to debug."""
        if not self._saving:
            self.stop()
            self._prompt.hang_up()
            self._host.forked()

    def _signalled(self, place: Place, frame: FrameType) -> None:
        self._arrive(frame, [(place, Values(frame))], False)

    def _arrive(self, frame: FrameType, hits: Sequence[Hit], stop: bool, error: BaseException | None = None) -> None:
        """The program has come to places, and maybe to a point of the developer's."""

        def tell() -> bool:
            self._at_breakpoint = stop and self._prompt.stops_at(frame, error)
            staying = self._at_breakpoint
            for place, read in hits:
                staying |= self._driver.reached(place, read)
            return staying

        self._hold(frame, tell)

    def _settle(self, frame: FrameType) -> None:
        """An event that the core has sent wants the program to stop."""
        self._hold(frame, lambda: False)

    def _hold(self, frame: FrameType, tell: Callable[[], bool], trace: TracebackType | None = None) -> None:
        """Tell something while the program stands in a frame, and stay there if that is wanted. What comes meanwhile,
        when it is about to go on, is seen to afterwards."""
        if self.is_at_work():
            return
        self._hold_once(frame, tell, trace)
        while self._staying or (self._called is not None and self._holder is None):
            self._hold_once(frame, self._answer, None)

    def _hold_once(self, frame: FrameType, tell: Callable[[], bool], trace: TracebackType | None) -> None:
        """Whatever happens meanwhile may leave a copy of the process behind. In such a copy it all ends by `Woken`, and
        the program is where it was; the process that woke it says what comes now."""
        gate = self._sensor.gate
        asking: bool | None = None
        with self._own_turn():
            # In this order: a signal may come in between, whose handler wants to hold the program, too.
            gate.holder = self._holder = threading.get_ident()
            gate.settled()
            self._frame, self._trace = frame, trace
            try:
                while True:
                    try:
                        if asking is not None or tell() or self._staying or self._stopping_soon:
                            self._stand(frame, trace, bool(asking))
                        break
                    except processes.Woken as woken:
                        asking = self._wake(woken)
            finally:
                self._holder = self._frame = self._trace = None
                self._at_breakpoint = False
                gate.holder = 0
                gate.left()

    @contextmanager
    def _own_turn(self) -> Iterator[None]:
        """No other thread tells anything meanwhile, nor has the core an event of one on its way: that may want the
        program to stop where that thread is."""
        gate = self._sensor.gate
        while True:
            gate.wait()
            with self._turn:
                if not gate.others():
                    yield
                    return

    def _stand(self, frame: FrameType, trace: TracebackType | None, asking: bool) -> None:
        """The program has stopped. Whoever drives it does what was put off, and then the developer is asked, unless
        the driver lets it go on."""
        self._going = False
        breakpoint = self._at_breakpoint and not asking
        if not asking:
            self._tell_stopped()
        while not self._going:
            if self._batch:
                self._host.leave("a point of the developer's")
            self._prompt.show(frame, trace, breakpoint)
            breakpoint = False
            self.see_breakpoints()
            self._going = not self._driver.resuming()
            if self._stopping_soon:
                self._tell_stopped()
        self._sensor.trace(self._prompt.trace_dispatch if self._prompt.steps else None, frame)

    def _wake(self, woken: processes.Woken) -> bool:
        """Be the program from now on. Was the developer being asked when that was decided?"""
        self._process = os.getpid()
        asking, packed = self._host.unpack(woken.message)
        self._prompt.unpack(packed)
        self.see_breakpoints()
        return asking

    def _tell_stopped(self) -> None:
        self._staying = self._stopping_soon = False
        self._driver.stopped()

    def _stack(self) -> list[tuple[FrameType, int]]:
        """The frames of the program, outermost first, with their lines."""
        stack: list[tuple[FrameType, int]] = self._prompt.get_stack(self._frame, self._trace)[0]
        return stack

    def _stands(self) -> FrameType:
        if self._frame is None:
            raise DebuggerError("the program is not there", hint="start it, or wait until it stops")
        return self._frame


def _name_of(namespace: Mapping[str, object]) -> str | None:
    """The name by which the main module would be imported."""
    if (spec := namespace.get("__spec__")) is not None:
        return str(getattr(spec, "name", ""))
    file = namespace.get("__file__")
    return Path(file).stem if isinstance(file, str) else None
