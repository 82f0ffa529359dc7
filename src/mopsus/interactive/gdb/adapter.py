"""GDB as a debugger that monitors drive."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import gdb

from mopsus.interactive.debugger import Debugger, DebuggerError, Driver, Feed, PlaceError, Read, Where, shortened
from mopsus.interactive.gdb.agent.agent import Agent
from mopsus.interactive.gdb.agent.threads import stop_together
from mopsus.interactive.gdb.calls import Calls, OpenCall
from mopsus.interactive.gdb.catch import CAUGHT, THROWN, catch_point, wrong_with_caught
from mopsus.interactive.gdb.checkpoint import ProgramCheckpoints
from mopsus.interactive.gdb.developer import DeveloperPoints
from mopsus.interactive.gdb.interrupts import interrupts, uninterrupted
from mopsus.interactive.gdb.places import why_doubtful, why_missing, wrong_with
from mopsus.interactive.gdb.points import CodePoint, Point, ReturnPoint
from mopsus.interactive.gdb.readings import Hit, forget_functions, program_counter
from mopsus.interactive.gdb.trap import Trap
from mopsus.interactive.gdb.values import to_python
from mopsus.interactive.gdb.watches import WatchPoint
from mopsus.interactive.stepper import Stepped
from mopsus.model import Place, PlaceKind, Reading

_CALLERS = 16
"""How far out a line is looked for."""
_WATCHED = {PlaceKind.WRITE, PlaceKind.READ, PlaceKind.ACCESS, PlaceKind.UPDATE}


class GdbDebugger(Debugger):
    """The GDB that we run in. `driver` is told what happens; `tell`, `warn` and `write` may be replaced."""

    language = "c"
    follows_forks = True

    def __init__(self, *, hooks: bool = True) -> None:
        """`hooks`: let an agent step monitors inside of the program, where it can."""
        self.driver: Driver | None = None
        self.warn: Callable[[str], None] = self.write
        self.tell: Callable[[str], None] = self.write
        self.calls = Calls()
        self.checkpoints = ProgramCheckpoints()
        self._points: dict[Place, Point] = {}
        self._set: set[Place] = set()
        self._developer = DeveloperPoints()
        self._began = time.monotonic()
        self._told: Place | None = None
        self._address: int | None = None
        self._stop_soon = False
        self._pause = False
        self._next: str | None = None
        self._main: Trap | None = None
        self._hooks = hooks
        if hooks:
            stop_together()
        self._runs = False
        self._said: set[tuple[str, str]] = set()
        self.agent = Agent(self._code_point, self._await_return, self._located, self._elapsed)
        gdb.events.new_objfile.connect(lambda _: self._code_loaded())
        # A program that has become another one, by `exec`, has something else where calls were to return to.
        gdb.events.clear_objfiles.connect(lambda _: self.calls.clear())

    # ---- points

    def set_point(self, place: Place, readings: Sequence[Reading]) -> None:
        point = self._points.get(place)
        if point is None:
            point = self._points[place] = self._make(place)
        point.enable(readings)
        self._set.add(place)
        if isinstance(point, CodePoint | ReturnPoint):
            self.agent.avoid([each.address for each in point.trap.locations])

    def clear_point(self, place: Place) -> None:
        if place in self._set:
            self.agent.release(place)
            self._set.remove(place)
            self._points[place].disable()

    def can_feed(self, stepped: Callable[[], Stepped | None]) -> bool:
        return self._hooks and stepped() is not None

    def feed(self, place: Place, events: Sequence[Feed]) -> None:
        if place.kind is PlaceKind.CALL:
            self.agent.feed(place, events)

    def fed_in_vain(self, places: Iterable[Place]) -> str | None:
        return self.agent.fed_in_vain([place for place in places if place.kind is PlaceKind.CALL])

    def inside(self) -> Mapping[Place, str | None]:
        return self.agent.inside()

    def _code_point(self, place: Place) -> CodePoint | ReturnPoint:
        point = self._points[place]
        assert isinstance(point, CodePoint | ReturnPoint)
        return point

    def _await_return(self, place: Place, hit: Hit, address: int, stack: int) -> None:
        """The agent leaves it to us to tell of a return, of which it has read all."""
        self.calls.expect(OpenCall(self.agent, address, stack, lambda here: self._tell(place, hit, here)))

    def _located(self, address: int) -> tuple[str | None, bool]:
        location, _, foreign = _described(address)
        return location, foreign

    def known(self, place: Place) -> str | None:
        return wrong_with_caught(place) if place.kind in CAUGHT else wrong_with(place)

    def missed(self, place: Place) -> str | None:
        point = self._points.get(place)
        if not isinstance(point, CodePoint | ReturnPoint) or point.trap.was_there:
            return None
        return f"{place.what} was not there until the program ended: {why_missing(place)}"

    def doubt(self, place: Place) -> str | None:
        return why_doubtful(place)

    def developer_stops_here(self) -> bool:
        if not self._developer.points:
            return False
        watched = self._told.what if self._told is not None and self._told.kind in _WATCHED else None
        return uninterrupted(self._developer.stop_here, self.get_pc, watched)

    def _make(self, place: Place) -> Point:
        try:
            if place.kind in _WATCHED:
                return WatchPoint(place, self._tell, self.calls, self._warn)
            if place.kind in CAUGHT:
                return catch_point(place, self._tell)
            if place.kind is PlaceKind.CALL and place.after:
                return ReturnPoint(place, self._tell, self.calls, self.agent, self._warn)
            return CodePoint(place, self._tell)
        except gdb.error as error:
            raise PlaceError(f"{place.kind} {place.what}: {error}", hint="check its name") from error

    def _tell(self, place: Place, read: Read, address: int | None) -> bool:
        """The program has reached a place: from within `stop` of a breakpoint of GDB's."""
        if self.driver is None or self.checkpoints.busy or self.telling:
            return False  # the program's code runs for the sake of an expression of ours, not for its own
        self.agent.drain()
        self._told, self._address = place, address
        try:
            stop = self.driver.reached(place, read)
        finally:
            self._told = self._address = None
        if interrupts:
            interrupts.clear()
            self.write("interrupted")
            return True
        if self._runs and self.agent.ready:
            self._pause = True
        if self._pause and not (stop or self._stop_soon):
            self.go_on()
        stays = stop or self._stop_soon or self._pause
        if not stays:
            self.agent.refresh()
            if self._runs:
                self.agent.resume()
        return stays

    def _warn(self, text: str) -> None:
        self.warn(text)

    # ---- the program

    def where(self) -> Where:
        return uninterrupted(self._where)

    def _where(self) -> Where:
        elapsed = round(self._elapsed(), 6)
        thread = gdb.selected_thread()
        if thread is None:
            return Where(None, None, None, elapsed)
        behind_call = self._told is not None and _is_behind_call(self._told)
        location, function, foreign = _described(self.get_pc() - behind_call)  # the line of the call, not the next one
        if foreign:
            location = _called_from() or location
        return Where(location, function, thread.num, elapsed)

    def _elapsed(self) -> float:
        return time.monotonic() - self._began

    def get(self, expression: str) -> object:
        return to_python(_evaluate(expression))

    def set(self, expression: str, value: object) -> None:
        if isinstance(value, str):
            text = '"' + value.encode("unicode_escape").decode().replace('"', '\\"') + '"'
        else:
            text = repr(int(value)) if isinstance(value, bool) else repr(value)
        self.execute(f"set var {expression} = {text}")

    def get_memory(self, address: int, length: int) -> bytes:
        try:
            return bytes(gdb.selected_inferior().read_memory(address, length))
        except gdb.error as error:
            raise DebuggerError(str(error), hint="check the address") from error

    def set_memory(self, address: int, data: bytes) -> None:
        try:
            gdb.selected_inferior().write_memory(address, data)
        except gdb.error as error:
            raise DebuggerError(str(error), hint="check the address") from error

    def get_pc(self) -> int:
        return program_counter() if self._address is None else self._address

    def set_pc(self, address: int) -> None:
        self.execute(f"set var $pc = {address}")
        self._address = None

    def backtrace(self, limit: int = 20) -> list[str]:
        if gdb.selected_thread() is None:
            return []
        text = self.execute(f"backtrace {limit + 1}")
        if "Python Exception" in text:  # a pretty printer that lacks debug information
            text = self.execute(f"backtrace -raw-frame-arguments on {limit + 1}")
        return shortened([line for line in text.splitlines() if line.startswith("#")], limit)

    # ---- its course

    def go_on(self) -> None:
        self._next = "continue"

    def step(self) -> None:
        self._next = "step"

    def interrupt(self) -> None:
        if self.telling:
            self._stop_soon = True
        else:
            self.execute("interrupt")

    def stop_soon(self) -> None:
        self._stop_soon = True

    def pause(self) -> None:
        """If the driver is being told of a place: stop there, and go on."""
        self._pause = self.telling

    def began(self, whole: bool) -> None:
        """The program begins now; see `about_to_run`."""
        self._began = time.monotonic()
        self._runs = whole
        self._code_loaded()
        self.agent.lift()  # out of the one that runs, which may stay: the developer is asked yet
        self.agent.forget()
        self.calls.clear()

    def loaded(self) -> None:
        """The program, perhaps another one now, is about to do something. Its `main` is where it is ready for a library
        of ours."""
        self.agent.check()
        if self._main is None and self.agent.waits:
            self._main = Trap("-function main", self._on_main)

    def _on_main(self) -> bool:
        """Stop for a moment, and go on."""
        if self._main is not None:
            self._main.discard()
            self._main = None
        if not self._runs or self.developer_stops_here():
            return False
        self.go_on()
        return True

    def about_to_run(self, whole: bool) -> None:
        """The program will run, and has stopped so far: if `whole`, until something stops it."""
        self._runs = whole
        if not whole:
            self.agent.refresh()
            self.agent.rest()
            return
        self.agent.hide()
        self.agent.settle()
        self.agent.avoid(
            [
                each.address
                for point in self._developer.points
                if point.is_valid() and point.enabled
                for each in point.locations
            ]
        )
        self.agent.resume()
        self._tell_of_traps()

    def _tell_of_traps(self) -> None:
        """Whoever expects hooks is told once where there is none."""
        if self.agent.waits:
            return
        found = {(place.what, why) for place, why in self.inside().items() if why is not None}
        for function, why in sorted(found - self._said):
            self.tell(f"{function} is seen by traps, not by a hook: {why}")
        self._said |= found

    def about_to_leave(self) -> None:
        """The program will go on without us, or end."""
        self.agent.lift()

    def _code_loaded(self) -> None:
        Trap.loads += 1
        forget_functions()

    def take_next(self) -> str | None:
        """The command that was asked for by `go_on` or `step`, once everything is told."""
        command, self._next = self._next, None
        return command

    def stopped(self) -> None:
        """The program has stopped: what was put off is done now."""
        self._stop_soon = self._pause = self._runs = False
        self.agent.drain()
        self.agent.count()
        self.agent.expose()
        if self.driver is not None:
            self.driver.stopped()

    def ended(self, status: int | None) -> None:
        """The program is gone; points stay for another run."""
        self.agent.drain()
        self.agent.count()
        self.agent.forget()
        self.calls.clear()
        self._stop_soon = self._pause = self._runs = False
        self._next = None
        if self.driver is not None:
            self.driver.ended(status)

    # ---- the developer

    @property
    def telling(self) -> bool:
        """Is the driver being told of a place?"""
        return self._told is not None

    def execute(self, command: str) -> str:
        # A function of the program that fails while an event is handled must not take GDB with it.
        safely = "with unwindonsignal on -- " if self.telling else ""
        try:
            return gdb.execute(safely + command, to_string=True)
        except gdb.error as error:
            raise DebuggerError(f"GDB refused `{command}`: {error}", hint="try it at the prompt") from error

    def write(self, text: str) -> None:
        gdb.write(f"{text}\n")

    def ask(self, question: str) -> str:
        if not sys.stdin or not sys.stdin.isatty():
            raise DebuggerError("nobody is there to be asked", hint="run it without --batch, in a terminal")
        return input(f"{question} ")

    # ---- checkpoints

    def checkpoint(self) -> object:
        with self.agent.lifted():
            return self.checkpoints.take()

    def restore(self, saved: object) -> None:
        self.checkpoints.restore(saved)
        self.agent.restored()
        self.calls.clear()  # those that are open there are found when the points are set again

    def discard(self, saved: object) -> None:
        self.checkpoints.discard(saved)

    def keeps(self, saved: object) -> bool:
        return self.checkpoints.keeps(saved)


def _evaluate(expression: str) -> gdb.Value:
    try:
        return gdb.parse_and_eval(expression)
    except gdb.error as error:
        raise DebuggerError(f"{expression}: {error}", hint="check the expression and where the program is") from error


@lru_cache(maxsize=4096)
def _described(address: int) -> tuple[str | None, str | None, bool]:
    """The line and the function of an address in the code, and whether that is a library's whose source is not here."""
    location = _line(gdb.find_pc_line(address))
    block = gdb.block_for_pc(address)
    while block is not None and block.function is None:
        block = block.superblock
    function = str(block.function) if block is not None else _symbol_at(address)
    return location, function, not _is_here(location) and gdb.solib_name(address) is not None


def _called_from() -> str | None:
    """The line of source that led into a library."""
    frame = gdb.newest_frame()
    for _ in range(_CALLERS):
        caller = frame.older()
        if caller is None:
            break
        frame = caller
        location = _line(frame.find_sal())
        if _is_here(location):
            return location
    return None


def _is_behind_call(place: Place) -> bool:
    """Is such a place told where the program goes on after a call, be it one into the C++ library that throws?"""
    return place.kind in THROWN or (place.kind is PlaceKind.CALL and place.after)


def _line(place: gdb.Symtab_and_line) -> str | None:
    return f"{place.symtab.fullname()}:{place.line}" if place.symtab is not None else None


def _is_here(location: str | None) -> bool:
    return location is not None and Path(location.rpartition(":")[0]).exists()


def _symbol_at(address: int) -> str | None:
    text = gdb.execute(f"info symbol {address}", to_string=True)
    return None if text.startswith("No symbol") else text.split()[0]
