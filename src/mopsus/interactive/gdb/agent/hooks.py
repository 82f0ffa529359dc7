"""Hooks in the program: functions whose first instructions lead to the agent."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

from mopsus.interactive.debugger import DebuggerError
from mopsus.interactive.gdb.agent.functions import JUMP, LONGEST, Function, Source
from mopsus.interactive.gdb.agent.layout import (
    ENTRIES,
    MOST_SITES,
    RETURNS,
    STUB,
    EventLayout,
    SiteLayout,
    SourceLayout,
)
from mopsus.interactive.gdb.agent.library import Library, Memory, read, write
from mopsus.interactive.gdb.agent.tables import Table
from mopsus.interactive.gdb.agent.threads import each_thread, go_to, pc, stack_pointer
from mopsus.interactive.gdb.trap import Trap

_FAR_JUMP = b"\xff\x25\x00\x00\x00\x00"
"""Jumps to the address behind it."""
_TRAMPOLINE = 2 * (len(_FAR_JUMP) + 8) + LONGEST
_PAGE = 4096
_ENOUGH = 64
"""Calls that the debugger has handled, before anything is said about them."""
_WORTH = 4
"""Calls for each that the debugger handles: with fewer, a hook is not worth it."""
_generations = count(1)


@dataclass(frozen=True, slots=True)
class Hooked:
    """An event that the agent steps at a function. `number` is how it calls it."""

    table: Table
    letter: int
    number: int
    sources: tuple[Source, ...]

    def layout(self) -> EventLayout:
        event = EventLayout(
            monitor=self.table.address,
            letter=self.letter,
            keyed=self.table.keyed,
            values=len(self.sources),
            number=self.number,
        )
        for place, source in enumerate(self.sources):
            event.sources[place] = SourceLayout.from_buffer_copy(source.layout())
        return event


class Site:
    """A function with a hook. The first instructions of the function have a copy, behind which it goes on."""

    def __init__(self, library: Library, number: int, function: Function, trampoline: int) -> None:
        self.number = number
        self._library = library
        self._function = function
        self._beginning = function.beginning
        self._trampoline = trampoline
        self._copy = trampoline + len(_FAR_JUMP) + 8
        self._data = b""
        self._memory: Memory | None = None
        self.generation = 0
        self._looks = 0
        self.events: tuple[Hooked, ...] = ()
        self.returns: tuple[Hooked, ...] = ()
        self.placed = False
        self._times = 0
        """How often it was put into the code."""
        self._calls = self._handled = self._counted = 0

    @property
    def window(self) -> range:
        """Where the first instructions are."""
        return range(self._function.entry, self._function.entry + len(self._beginning.original))

    @property
    def returning(self) -> bool:
        """Does the agent look at returns?"""
        return bool(self._looks & RETURNS)

    def use(self, events: Sequence[Hooked], returns: Sequence[Hooked]) -> None:
        """Step these when the function is entered and when it returns. Calls that are open return to nobody."""
        self.events, self.returns = tuple(events), tuple(returns)
        data = b"".join(bytes(each.layout()) for each in (*events, *returns))
        if data != self._data or self._memory is None:
            self._data, self._memory = data, self._library.piece(data)
        self.generation = next(_generations)
        self._calls = self._handled = 0

    def count_handled(self) -> None:
        """The debugger handles a call, or a return."""
        calls = self._library.calls(self.number)
        self._handled += 1
        self._calls += calls - self._counted
        self._counted = calls

    @property
    def is_dear(self) -> bool:
        """Does the debugger handle so many calls that a trap would cost less than the hook, which only calls it?"""
        return self._handled >= _ENOUGH and self._calls < _WORTH * self._handled

    @property
    def copy(self) -> range:
        """Where their copy is."""
        return range(self._copy, self._copy + self._beginning.length)

    def original(self, address: int) -> int:
        """Where the function has what is at this address of the copy."""
        return self._function.entry + self._beginning.here(address - self._copy)

    def complete_call(self, address: int) -> bool:
        """If the selected thread is there in the copy, in the midst of a call, let it have made the call."""
        call = self._beginning.half_made(address - self._copy)
        if call is None:
            return False
        back, target = call
        write(stack_pointer(), struct.pack("<Q", back))
        go_to(target)
        return True

    def place(self) -> None:
        """From now on, the function leads to the agent. Whoever is in its first instructions goes on in the copy."""
        stubs = self._library.calling if self.returns else self._library.entering
        entry, original = self._function.entry, self._beginning.original
        if read(entry, len(original)) != original:
            raise DebuggerError("somebody else has changed its first instructions")
        write(self._trampoline, _FAR_JUMP + struct.pack("<Q", stubs + STUB * self.number))
        write(self._copy, self._beginning.moved(self._copy) + _FAR_JUMP + struct.pack("<Q", entry + len(original)))
        self.placed, self._looks = True, ENTRIES | RETURNS
        self._times += 1
        self._tell()
        for thread in each_thread():  # first: whoever kills us in between must find nobody in the midst of the jump
            here = pc()
            if here in self.window and (here != entry or Trap.told == (thread.num, here)):
                go_to(self._copy + self._beginning.there(here - entry))
                Trap.told = None
        write(entry, self._jump)

    def lift(self, *, returns: bool = False) -> None:
        """From now on, it does not; with `returns`, calls that the hook has made are still seen to return. Whoever is
        in the copy goes on there, past the trap: it was seen."""
        self._looks = self._looks & RETURNS if returns else 0
        if not self.placed:
            self._tell()
            return
        self.placed = False
        if read(self._function.entry, JUMP) == self._jump:  # else the library that has the function is gone
            write(self._function.entry, self._beginning.original[:JUMP])
        self._tell()

    def take_passed(self) -> list[tuple[Hooked, int]]:
        """How often each event came and was not kept, since the last call."""
        if self._memory is None:
            return []
        events = (*self.events, *self.returns)
        layouts = self._memory.at(EventLayout * len(events))
        found = [(event, layout.passed) for event, layout in zip(events, layouts, strict=True) if layout.passed]
        for layout in layouts:
            layout.passed = 0
        return found

    @property
    def _jump(self) -> bytes:
        return b"\xe9" + struct.pack("<i", self._trampoline - self._function.entry - JUMP)

    def _tell(self) -> None:
        """Let the agent know."""
        site = SiteLayout(
            entry=self._function.entry,
            copy=self._copy,
            events=len(self.events),
            returns=len(self.returns),
            placed=self._times if self.placed else 0,
            looks=self._looks,
            first=0 if self._memory is None else self._memory.address,
            generation=self.generation,
        )
        ctypes.memmove(site.original, self._beginning.original, JUMP)
        ctypes.memmove(site.jump, self._jump, JUMP)
        self._counted = 0
        self._library.put_site(self.number, site)


class Sites:
    """The hooks of a program: one for each function, again and again."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._all: dict[tuple[int, bytes], Site] = {}
        self._room: list[tuple[int, int]] = []
        """Memory for trampolines: where the next one goes, and how many more."""

    def at(self, function: Function) -> Site:
        """The hook of a function."""
        key = function.entry, function.beginning.original
        if key not in self._all:
            if len(self._all) == MOST_SITES:
                raise DebuggerError(f"no more than {MOST_SITES} functions can have hooks")
            self._all[key] = Site(self._library, len(self._all), function, self._trampoline(function.entry))
        return self._all[key]

    def copied(self, address: int) -> Site | None:
        """The hook that has this address in its copy of the first instructions."""
        return next((site for site in self._all.values() if address in site.copy), None)

    def lift(self) -> None:
        """None is there, whatever the program remembers."""
        for site in self._all.values():
            site.lift()

    def _trampoline(self, entry: int) -> int:
        """Memory for one, within reach of a function."""
        for place, (address, left) in enumerate(self._room):
            if abs(address - entry) < 1 << 30 and left:
                self._room[place] = (address + _TRAMPOLINE, left - 1)
                return address
        address = self._library.code_near(entry, _PAGE)
        self._room.append((address + _TRAMPOLINE, _PAGE // _TRAMPOLINE - 1))
        return address
