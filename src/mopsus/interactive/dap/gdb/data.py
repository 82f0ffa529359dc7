"""Data that an editor wants the program to stop at, in GDB: watchpoints of the developer's, kept by the processor.

What lies in a fixed place and has a name is watched by that, in every run. Everything else is watched where it lies. If
that is the stack, it is gone when its function returns: then so is the watchpoint, and the editor is told. GDB's own
watchpoints on locals would stop the program there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import gdb

from mopsus.interactive.dap.gdb.points import Deciding, replaced, silently
from mopsus.interactive.dap.gdb.variables import address_of, evaluated, text_of
from mopsus.interactive.dap.workbench import Data, Placed, Wanted
from mopsus.interactive.debugger import DebuggerError
from mopsus.interactive.gdb.agent.frames import is_hook
from mopsus.interactive.gdb.calls import Calls
from mopsus.interactive.gdb.watches import HARDWARE, anchored, hardware_in_use, names_in

_CLASSES = {"write": gdb.WP_WRITE, "read": gdb.WP_READ, "readWrite": gdb.WP_ACCESS}
_WIDEST = 8 * HARDWARE
_RED_ZONE = 128
"""What a function may use of the stack beyond its end."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Something in memory: the expression by which it is watched, and the call whose own it is, if it is one's."""

    name: str
    expression: str
    owner: gdb.Frame | None = None


class Watching:
    """All data that the editor was told of, and the watchpoints that it wants."""

    def __init__(
        self, numbers: Iterator[int], calls: Calls, say: Callable[[str], None], removed: Callable[[int], None]
    ) -> None:
        """`numbers` are for watchpoints, `calls` sees functions return, `say` is for conditions that have no value;
        `removed` is told the number of a watchpoint when what it watches is gone."""
        self._numbers, self._calls, self._say, self._removed = numbers, calls, say, removed
        self._places: dict[str, _Place] = {}
        """By the keys that the editor has for them."""
        self._points: dict[Wanted, _DataPoint] = {}
        gdb.events.memory_changed.connect(lambda _: self._refresh())

    def data(self, name: str, value: gdb.Value, expression: str | None) -> Data:
        """Whether a value can be watched that was found in the selected frame, by an expression if it has one."""
        address, size = address_of(value, expression), value.type.strip_typedefs().sizeof
        if address is None or not size:
            return Data(None, f"{name} lies in no memory of its own, so it cannot be watched")
        if size > _WIDEST:
            return Data(None, f"{name} has {size} bytes, and the processor can watch {_WIDEST} at most")
        if expression is not None and _is_fixed(expression, int(address)):
            self._places[expression] = _Place(expression, expression)
            return Data(expression, expression, lasting=True)
        owner = _owner(int(address))
        place = _Place(expression or name, anchored(address), owner)
        self._places[place.expression] = place
        return Data(place.expression, f"{place.name} in {owner.name()}" if owner is not None else place.name)

    def set(self, wanted: Sequence[Wanted]) -> list[Placed]:
        """These, and no others; those that are there already stay, with what they have counted."""
        self._points, placed = replaced(self._points, wanted, self._made)
        return placed

    def arrived(self) -> dict[int, str]:
        """Those that have stopped the program since the last call, by their numbers, and what has happened to each.
        The program stands, so this is the time to see which of them are gone."""
        for point in self._points.values():
            point.look()
        return {point.number: said for point in self._points.values() if (said := point.take_stop())}

    def came_back(self) -> None:
        """The program is at a checkpoint: what is on its stack now is awaited again."""
        for point in self._points.values():
            point.follow()
        self._refresh()

    def _refresh(self) -> None:
        """Somebody else than the program may have written to its memory."""
        for point in self._points.values():
            point.refresh()

    def _made(self, wanted: Wanted) -> _DataPoint:
        return _DataPoint(next(self._numbers), self._place(wanted.data), wanted, self._calls, self._say, self._removed)

    def _place(self, key: str) -> _Place | None:
        """What a key stands for; None if that is gone, or was in another run."""
        if key in self._places:
            return self._places[key]
        if not names_in(key):
            return None
        address = address_of(evaluated(key), key)
        if address is None or not _is_fixed(key, int(address)):
            raise DebuggerError(f"{key} does not lie in a fixed place", hint="watch it when the program stands there")
        return _Place(key, key)


class _DataPoint:
    """One of them."""

    def __init__(
        self,
        number: int,
        place: _Place | None,
        wanted: Wanted,
        calls: Calls,
        say: Callable[[str], None],
        removed: Callable[[int], None],
    ) -> None:
        self.number = number
        self._place, self._calls, self._removed = place, calls, removed
        self._watch: _Watch | None = None
        self._is_doomed = False
        if place is not None and (place.owner is None or place.owner.is_valid()):
            deciding = Deciding(wanted, say)
            self._watch = _watch(lambda: _Watch(place, wanted.access, deciding))
            self.follow()

    def placed(self) -> Placed:
        if self._watch is None or self._is_doomed:
            return Placed(self.number, False, message="what it was to watch is not there any more")
        return Placed(self.number, True)

    def follow(self) -> None:
        """See the call return whose own it is."""
        owner = self._place.owner if self._place is not None else None
        if owner is None or self._is_doomed:
            return
        self._calls.forget(self)
        if owner.is_valid():
            caller = owner.older()
            self._calls.entered(self, caller if caller is not None and is_hook(caller) else owner, self._returned)
        else:
            self._doom()

    def look(self) -> None:
        """Delete it if it is gone, which cannot be done while GDB handles a stop."""
        if self._watch is not None and not self._is_doomed and not self._watch.is_there():
            self._doom()
        if self._is_doomed:
            self.delete()

    def take_stop(self) -> str | None:
        """What has happened to the data, if that has stopped the program."""
        return self._watch.take_stop() if self._watch is not None else None

    def refresh(self) -> None:
        if self._watch is not None:
            self._watch.refresh()

    def delete(self) -> None:
        self._calls.forget(self)
        if self._watch is not None and self._watch.is_valid():
            self._watch.delete()
        self._watch = None

    def _returned(self, _: int) -> bool:
        self._doom()
        return False

    def _doom(self) -> None:
        self._is_doomed = True
        if self._watch is not None and self._watch.is_valid():
            self._watch.enabled = False
        self._removed(self.number)


class _Watch(gdb.Breakpoint):
    """Knows the value that was there before."""

    def __init__(self, place: _Place, access: str, deciding: Deciding) -> None:
        super().__init__(place.expression, gdb.BP_WATCHPOINT, wp_class=_CLASSES[access])
        self._place, self._access, self._deciding = place, access, deciding
        self._value = self._now()
        self._said: str | None = None

    def stop(self) -> bool:
        if not self.is_there():
            return False
        before, self._value = self._value, self._now()
        if not self._deciding.counts(self._place.owner):
            return False
        if self._value != before:
            self._said = f"{self._place.name} was {before}, and is {self._value}"
        else:
            how = "read" if self._access == "read" else "read or written"
            self._said = f"{self._place.name} was {how}: {self._value}"
        return True

    def is_there(self) -> bool:
        """Does what it watches still exist? A call may also end by an exception."""
        return self._place.owner is None or self._place.owner.is_valid()

    def take_stop(self) -> str | None:
        said, self._said = self._said, None
        return said

    def refresh(self) -> None:
        self._value = self._now()

    def _now(self) -> str:
        try:
            return text_of(gdb.parse_and_eval(self._place.expression))
        except gdb.error as error:
            return f"<{error}>"


def _watch(make: Callable[[], _Watch]) -> _Watch:
    """One that the processor keeps: by single steps a program would hardly move."""
    before = hardware_in_use()
    made = silently(make)
    needed = hardware_in_use() - before
    if made.type != gdb.BP_WATCHPOINT and before + needed <= HARDWARE:
        return made
    made.delete()
    raise DebuggerError(
        f"the processor can watch {HARDWARE} words, and {before} of them are watched",
        hint="remove another data breakpoint, or a monitor that watches data",
    )


def _is_fixed(expression: str, address: int) -> bool:
    """Is it where the loader has put it, and known by this expression everywhere in the program?"""
    symbols = [gdb.lookup_global_symbol(name) or gdb.lookup_static_symbol(name) for name in names_in(expression)]
    if not symbols or not all(symbol is not None and symbol.is_variable for symbol in symbols):
        return False
    return not gdb.execute(f"info symbol {address:#x}", to_string=True).startswith("No symbol")


def _owner(address: int) -> gdb.Frame | None:
    """The call of the selected thread on whose part of the stack something lies, if it does."""
    frame: gdb.Frame | None = gdb.newest_frame()
    if frame is None or address < _end_of_stack(frame) - _RED_ZONE:
        return None
    while frame is not None:
        try:
            caller = frame.older()
        except gdb.error:
            return None  # what is further out cannot be made sense of
        if caller is None:
            return frame if frame.name() == "main" else None  # of which GDB shows no caller
        if address < _end_of_stack(caller):
            return frame
        frame = caller
    return None


def _end_of_stack(frame: gdb.Frame) -> int:
    return int(frame.read_register("sp"))
