"""The physical points that we set in a program: breakpoints and watchpoints that the developer does not see.

A trap acts once each time that the program comes to it. GDB tells of it once more if a signal comes before the program
has left it: the handler runs, and returns to the trap.

They may be made, switched on and off while GDB handles a stop, but not deleted: GDB would still look at one that stands
where the program is. So those that are no longer wanted are switched off, and deleted at a later stop.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ClassVar

import gdb

from mopsus.interactive.gdb.interrupts import uninterrupted
from mopsus.interactive.gdb.ptrace import get_registers

_AFTER_HANDLER = re.compile(
    r"high-priority step resume +keep y +0x(?:0(?!\b))*+([0-9a-f]+) .*\n\tstop only in thread (?:\d+\.)?(\d+)\n"
    r".*\n\tstop only in stack frame at 0x(?:0(?!\b))*+([0-9a-f]+)"
)
"""A breakpoint that GDB has where a handler returns to: the address, the thread, and the frame."""


class Trap(gdb.Breakpoint):
    """Calls `action` whenever it is hit; the program stays stopped, silently, if that gives true."""

    _all: ClassVar[set[Trap]] = set()
    _doomed: ClassVar[list[tuple[int, Trap]]] = []
    _hit: ClassVar[set[Trap]] = set()
    _round: ClassVar[int] = 0
    told: ClassVar[tuple[int, int | None] | None] = None
    """The thread that came to one last, and where."""
    skips: ClassVar[set[tuple[int, Trap]]] = set()
    """Threads that are about to come to one, but were seen to pass by somebody else."""
    stays: ClassVar[bool] = False
    """Is the program to stay stopped for one, of which GDB has not told yet?"""
    loads: ClassVar[int] = 0
    """Grows whenever code was loaded, so that places may have moved."""

    def __init__(self, spec: str, action: Callable[[], bool], watch: int | None = None) -> None:
        if watch is None:
            # GDB tells of a place that is not there yet, on the terminal; whether that is news is not for it to say.
            quietly(lambda: super(Trap, self).__init__(spec, gdb.BP_BREAKPOINT, internal=True))
        else:
            super().__init__(spec, gdb.BP_WATCHPOINT, wp_class=watch, internal=True)
        self.silent = True
        self.action = action
        self._was_there = bool(self.locations)
        self._address: int | None = None
        self._seen = -1
        self._comers: dict[tuple[int, bytes], int] = {}
        """By thread and stack pointer, what all registers were when it came here last."""
        self._all.add(self)

    @property
    def was_there(self) -> bool:
        """Has it stood anywhere, in the program or in what that was before?"""
        return self._was_there or bool(self.locations)

    @property
    def address(self) -> int | None:
        """Where it stands, if that is one place only. To ask GDB where the program is costs more than to know."""
        if self._seen != Trap.loads:
            self._look()
        return self._address

    def stop(self) -> bool:
        if self._doomed:
            self._count()
        if self._seen != Trap.loads and not uninterrupted(self._look):
            return False
        thread = gdb.selected_thread()
        Trap.told = thread.num, self._address
        if self._has_not_left(thread):
            return False
        if (thread.num, self) in self.skips:
            self.skips.discard((thread.num, self))
            return False
        stays = self.action()
        Trap.stays |= stays
        return stays

    def _has_not_left(self, thread: gdb.InferiorThread) -> bool:
        """Is the thread still where it came to earlier, after the handler of a signal? To ask GDB is dear, so we do
        only if the thread looks as it did then."""
        stack, registers = get_registers(thread.ptid[1])
        if self._comers.get((thread.num, stack)) != registers:
            self._comers[thread.num, stack] = registers
            return False
        return uninterrupted(_returned_to) == f"{thread.num}"

    def _look(self) -> bool:
        """See where it stands, now that code was loaded. What the program itself has is meant, and not what a library
        has by the same name, say for its own use: such a place is switched off. False: the program is at one."""
        self._seen = Trap.loads
        places = self.locations
        self._was_there |= bool(places)
        own = [place for place in places if gdb.solib_name(place.address) is None] or places
        self._address = own[0].address if len(own) == 1 else None
        for place in places:
            if place.enabled is not (place in own):  # GDB may have taken one for another that was switched off
                place.enabled = place in own
        return len(own) == len(places) or any(place.address == int(gdb.parse_and_eval("$pc")) for place in own)

    def discard(self) -> None:
        """From now on it is not hit, and will be gone soon."""
        self._all.discard(self)
        if self.is_valid():
            self.enabled = False
            self._doomed.append((Trap._round, self))

    def _count(self) -> None:
        """Delete what was discarded at an earlier stop. A trap is hit once at a stop, so when one is hit again since a
        round began, this is another stop, and another round; whatever is two rounds old, GDB has done with."""
        if self not in self._hit:
            self._hit.add(self)
            return
        Trap._round += 1
        self._hit.clear()
        self._hit.add(self)
        sweep(Trap._round - 2)

    @classmethod
    def look_again(cls) -> None:
        """All libraries are loaded, perhaps once more."""
        for trap in cls.alive():
            if trap._seen != Trap.loads:
                trap._look()

    @classmethod
    def alive(cls) -> list[Trap]:
        return [trap for trap in cls._all if trap.is_valid()]


def _returned_to() -> str | None:
    """The thread that a handler has just returned to, if the selected frame is where."""
    there = _AFTER_HANDLER.search(gdb.execute("maintenance info breakpoints 0", to_string=True))
    frame = re.search(r"0x(?:0(?!\b))*+([0-9a-f]+)", gdb.execute("info frame", to_string=True))
    here = f"{int(gdb.parse_and_eval('$pc')):x}", frame and frame[1]
    return there[2] if there is not None and (there[1], there[3]) == here else None


class _Quietly(gdb.Command):
    """A command that does what Python asks it to: GDB can keep back what a command prints."""

    def __init__(self) -> None:
        super().__init__("mopsus-quietly", gdb.COMMAND_OBSCURE)
        self.action: Callable[[], object] | None = None

    def invoke(self, argument: str, from_tty: bool) -> None:
        if self.action is not None:
            self.action()


_quietly = _Quietly()


def quietly(action: Callable[[], object]) -> str:
    """Do it, and give what GDB printed meanwhile."""
    _quietly.action = action
    return gdb.execute("mopsus-quietly", to_string=True)


def sweep(latest: int | None = None) -> None:
    """Delete the traps that were discarded, up to a round; all of them if GDB handles no stop."""
    kept = []
    for number, trap in Trap._doomed:
        if latest is not None and number > latest:
            kept.append((number, trap))
        elif trap.is_valid():
            trap.delete()
    Trap._doomed[:] = kept


@contextmanager
def lifted() -> Iterator[None]:
    """No trap of ours is in the program meanwhile."""
    traps = [trap for trap in Trap.alive() if trap.enabled]
    for trap in traps:
        trap.enabled = False
    try:
        yield
    finally:
        for trap in traps:
            if trap.is_valid():
                trap.enabled = True
