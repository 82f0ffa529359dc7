"""Points at variables and expressions: hardware watchpoints where the processor has one left, else GDB's slow ones.

A global is watched by its name. A local lives in a frame: it is watched where it lies in memory while its function is
active, the innermost call if there are several, and no longer. GDB's own watchpoints on locals stop the program when
the function returns, which nobody asked for.

GDB tells of a write that changes the value; one that writes what was there already goes unnoticed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count

import gdb

from mopsus.interactive.debugger import PlaceError
from mopsus.interactive.gdb.calls import Calls
from mopsus.interactive.gdb.developer import WATCHING, developer_points
from mopsus.interactive.gdb.points import Tell
from mopsus.interactive.gdb.readings import Hit
from mopsus.interactive.gdb.trap import Trap
from mopsus.model import Place, PlaceKind, Reading

_CLASSES = {
    PlaceKind.WRITE: gdb.WP_WRITE,
    PlaceKind.UPDATE: gdb.WP_WRITE,
    PlaceKind.READ: gdb.WP_READ,
    PlaceKind.ACCESS: gdb.WP_ACCESS,
}
HARDWARE = 4
"""Registers for watchpoints that the processor has, each of which watches a word or a part of one."""
_WORD = 8
_NAME = re.compile(r"(?<![\w.>$])(?<!struct )(?<!union )(?<!enum )(?<!class )[A-Za-z_]\w*")
"""A name that may be a variable's: no member's, and no type's that says so."""
_LOCAL = re.compile(r"(\w+)::(\w.*)")
_numbers = count(1)


@dataclass(slots=True, eq=False)
class Watched:
    """An expression as it is watched now, and the value that it had last."""

    trap: Trap
    expression: str
    value: gdb.Value


class WatchPoint:
    """A watchpoint of ours."""

    def __init__(self, place: Place, tell: Tell, calls: Calls, warn: Callable[[str], None]) -> None:
        self._place = place
        self._tell = tell
        self._calls = calls
        self._warn = warn
        local = _LOCAL.fullmatch(place.what)
        self._expression = local[2] if local and _is_function(local[1]) else place.what
        self._function = local[1] if self._expression != place.what and local else None
        self._entry: Trap | None = None
        self._active: list[Watched] = []

    def enable(self, readings: Sequence[Reading]) -> None:
        if self._function is not None:
            self._follow(self._function)
            frame = _innermost(self._function)
            if frame is not None:
                self._enter(frame)
            return
        locals_ = _locals(self._expression)
        if not locals_:
            self._active.append(self._watch(self._expression))
            return
        frame = gdb.selected_frame()
        name = frame.name()
        self._enter(frame)
        if name is not None:
            self._follow(name)

    def disable(self) -> None:
        self._calls.forget(self)
        for watched in self._active:
            watched.trap.discard()
        self._active.clear()
        _use_hardware(hardware_in_use() <= HARDWARE)
        if self._entry is not None:
            self._entry.discard()
            self._entry = None

    def _follow(self, function: str) -> None:
        """Watch the local of every later call of its function, too."""
        self._entry = Trap(f"-function {function}", self._entered)

    def _entered(self) -> bool:
        self._enter(gdb.selected_frame())
        return False

    def _enter(self, frame: gdb.Frame) -> None:
        """Watch the local of this frame instead of that of an outer one."""
        selected = gdb.selected_frame()
        frame.select()
        try:
            watched = self._watch(_with_anchors(self._expression))
        except PlaceError as error:
            self._warn(f"{error.message}: it is not watched in this call")
            return
        finally:
            selected.select()
        if self._active:
            self._active[-1].trap.enabled = False
        self._active.append(watched)

        def returned(_: int) -> bool:
            if watched in self._active:
                watched.trap.discard()
                self._active.remove(watched)
                if self._active:
                    self._active[-1].trap.enabled = True
            return False

        self._calls.entered(self, frame, returned)

    def _watch(self, expression: str) -> Watched:
        try:
            value = gdb.parse_and_eval(expression)
            value.fetch_lazy()
            trap = self._trap(expression)
        except gdb.error as error:
            raise PlaceError(f"{self._place.what} cannot be watched: {error}", hint=_hint(str(error))) from error
        return Watched(trap, expression, value)

    def _trap(self, expression: str) -> Trap:
        _use_hardware(hardware_in_use() + _registers(expression) <= HARDWARE)
        trap = Trap(expression, self._hit, _CLASSES[self._place.kind])
        if trap.type == gdb.BP_WATCHPOINT:
            self._warn(
                f"the processor has no watchpoint left for {self._place.what}: the program runs step by step, slowly"
            )
        return trap

    def _hit(self) -> bool:
        watched = self._active[-1]
        old = watched.value
        new = gdb.parse_and_eval(watched.expression)
        new.fetch_lazy()
        watched.value = new
        return self._tell(self._place, Hit(lambda: new if self._place.after else old), None)


def anchored(address: gdb.Value) -> str:
    """An expression for what lies at an address, wherever in the program it is evaluated."""
    variable = f"mopsus_{next(_numbers)}"
    gdb.set_convenience_variable(variable, address)
    return f"(*${variable})"


def _with_anchors(expression: str) -> str:
    """The expression with the locals of the selected frame named by where they lie."""
    places: dict[str, str] = {}
    for name in _locals(expression):
        address = gdb.parse_and_eval(name).address
        if address is None:
            raise PlaceError(f"{name} lies in no memory here, so it cannot be watched", hint="compile with -O0")
        places[name] = anchored(address)
    return _NAME.sub(lambda found: places.get(found[0], found[0]), expression)


def _locals(expression: str) -> list[str]:
    """The names in an expression that stand for something in the selected frame."""
    if gdb.selected_thread() is None:
        return []
    found = []
    for name in names_in(expression):
        symbol, _ = gdb.lookup_symbol(name)
        if symbol is not None and symbol.is_variable | symbol.is_argument and symbol.needs_frame:
            found.append(name)
    return found


def names_in(expression: str) -> list[str]:
    """Those that may be of variables."""
    return list(dict.fromkeys(_NAME.findall(expression)))


def _is_function(name: str) -> bool:
    symbol = gdb.lookup_global_symbol(name) or gdb.lookup_static_symbol(name)
    return symbol is not None and symbol.is_function


def _innermost(function: str) -> gdb.Frame | None:
    frame: gdb.Frame | None = gdb.newest_frame() if gdb.selected_thread() is not None else None
    while frame is not None and frame.name() != function:
        frame = frame.older()
    return frame


def hardware_in_use() -> int:
    """Registers for the watchpoints that are switched on and could be in hardware: ours and the developer's."""
    points = (*developer_points(), *Trap.alive())
    return sum(_registers(each.expression or "") for each in points if each.enabled and each.type in WATCHING)


def _registers(expression: str) -> int:
    """How many a watchpoint takes. What is computed takes as many as there is to be watched for it."""
    try:
        value = gdb.parse_and_eval(expression)
        if value.address is not None:
            return _registers_for(int(value.address), value.type.sizeof)
    except gdb.error:
        return 1  # of another frame than this one
    return max(1, len(names_in(expression)))


def _registers_for(address: int, size: int) -> int:
    """How many it takes to watch so many bytes: each watches 1, 2, 4 or 8 of them, aligned to that."""
    needed = 0
    while size > 0:
        part = _WORD
        while part > size or address % part:
            part //= 2
        address, size, needed = address + part, size - part, needed + 1
    return needed


def _use_hardware(may: bool) -> None:
    """GDB decides anew for each watchpoint whenever code is loaded, so this must stay as long as there are too many."""
    if gdb.parameter("can-use-hw-watchpoints") != may:
        gdb.execute(f"set can-use-hw-watchpoints {int(may)}")


def _hint(message: str) -> str:
    if message.startswith("No symbol"):
        return "write FUNCTION::NAME for a local variable of a function; compile with -g if there are no symbols"
    return "watch something that lies in memory"
