"""Points at places in the code: functions that are entered or return, and lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

import gdb

from mopsus.interactive.debugger import Read
from mopsus.interactive.gdb import convention
from mopsus.interactive.gdb.agent.frames import is_hook
from mopsus.interactive.gdb.calls import Calls
from mopsus.interactive.gdb.readings import Hit
from mopsus.interactive.gdb.trap import Trap
from mopsus.model import Place, PlaceKind, Reading

Tell = Callable[[Place, Read, "int | None"], bool]
"""Tells the driver that a place was reached, at which address if that is known; true: stop."""


class Point(Protocol):
    """What stands for a place in the program."""

    def enable(self, readings: Sequence[Reading]) -> None: ...

    def disable(self) -> None: ...


class Hooks(Protocol):
    """Who stands in for points, and makes the calls of functions whose return is awaited."""

    def sees_return(self, place: Place, frame: gdb.Frame) -> bool:
        """Will it see a call return by itself?"""

    def at_home(self) -> AbstractContextManager[None]:
        """The program is in its own code meanwhile."""

    def kept(self, hook: gdb.Frame) -> Iterable[tuple[Reading, object]]:
        """What was read when the hook with this frame made its call."""


class CodePoint:
    """A trap at a function or a line. Switched off, it stays at hand: finding a place again is what costs."""

    def __init__(self, place: Place, tell: Tell) -> None:
        self._place = place
        self._tell = tell
        self.trap = Trap(location(place), self._hit)

    def enable(self, readings: Sequence[Reading]) -> None:
        self.trap.enabled = True

    def disable(self) -> None:
        self.trap.enabled = False

    def stand_again(self) -> None:
        """A hook stood in for it so far."""
        self.trap.enabled = True

    def _hit(self) -> bool:
        return self._tell(self._place, Hit(), self.trap.address)


class ReturnPoint:
    """A trap where a function is entered, which keeps the arguments and waits for the return."""

    def __init__(
        self,
        place: Place,
        tell: Tell,
        calls: Calls,
        hooks: Hooks,
        warn: Callable[[str], None],
    ) -> None:
        self._place = place
        self._hooks = hooks
        self._tell = tell
        self._calls = calls
        self._warn = warn
        self._readings: tuple[Reading, ...] = ()
        self._enabled = False
        self.trap = Trap(location(place), self._entered)
        self._warned = False

    def enable(self, readings: Sequence[Reading]) -> None:
        """Calls that are open already will return, too."""
        self._readings = tuple(readings)
        self.trap.enabled = self._enabled = True
        with self._hooks.at_home():
            for frame in _frames_within(self.trap):
                selected = gdb.selected_frame()
                frame.select()
                try:
                    self._await(frame)
                finally:
                    selected.select()

    def stand_again(self) -> None:
        """A hook stood in for it so far, and will not see calls return that it has made."""
        self.enable(self._readings)

    def disable(self) -> None:
        self.trap.enabled = self._enabled = False
        self._calls.forget(self)

    def _entered(self) -> bool:
        if self._enabled:  # GDB asks one that was just switched off, too
            with self._hooks.at_home():
                frame = gdb.selected_frame()
                if not self._hooks.sees_return(self._place, frame):
                    self._await(frame)
        return False

    def _await(self, frame: gdb.Frame) -> None:
        hit = Hit()
        caller = frame.older()
        hook = caller if is_hook(caller) else None
        for reading, value in self._hooks.kept(hook) if hook is not None else ():
            hit.know(reading, value)
        hit.keep(self._readings)
        function = frame.function()
        kind = None if function is None or function.type is None else function.type.target()

        def returned(address: int) -> bool:
            if not self._enabled:
                return False
            hit.returned(lambda: convention.result(kind, gdb.selected_frame()))
            return self._tell(self._place, hit, address)

        seen = self._calls.entered(self, hook or frame, returned)  # a hook returns at once, too
        if not seen and not self._warned:
            self._warned = True
            self._warn(
                f"the return of {self._place.what} is not seen where it is inlined; compile with -O0 or -fno-inline"
            )


def location(place: Place) -> str:
    """A place in the code, as GDB writes it."""
    if place.kind is PlaceKind.CALL:
        return f"-function {place.what.replace('.', '::')}"
    file, _, line = place.what.rpartition(":")
    return f"-source {file or main_file()} -line {line}"


def main_file() -> str:
    """The file that a line without one belongs to: the one with `main`, as GDB has it."""
    main = gdb.lookup_global_symbol("main")
    return main.symtab.filename if main is not None and main.symtab is not None else ""


def _frames_within(trap: Trap) -> list[gdb.Frame]:
    """The frames, innermost first, of functions that the trap stands in."""
    functions = {start for each in trap.locations if (start := _start(each.address)) is not None}
    frames = []
    frame: gdb.Frame | None = gdb.newest_frame() if gdb.selected_thread() is not None and functions else None
    while frame is not None:
        if frame.type() == gdb.NORMAL_FRAME and _start(frame.pc()) in functions:
            frames.append(frame)
        frame = frame.older()
    return frames[::-1]


def _start(address: int) -> int | None:
    """Where the function begins that has this code."""
    block = gdb.block_for_pc(address)
    while block is not None and block.function is None:
        block = block.superblock
    return None if block is None else block.start
