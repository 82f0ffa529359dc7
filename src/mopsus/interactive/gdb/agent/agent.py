"""The agent as GDB sees it: which places have hooks, what the agent noted, and what happens at its gate."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Protocol

import gdb

from mopsus.interactive.debugger import DebuggerError, Feed
from mopsus.interactive.gdb.agent.frames import hide_frames, is_hook
from mopsus.interactive.gdb.agent.functions import Function, Source
from mopsus.interactive.gdb.agent.hooks import Hooked, Site, Sites
from mopsus.interactive.gdb.agent.layout import (
    MOST_EVENTS,
    MOST_KEPT,
    MOST_VALUES,
    Base,
    CallLayout,
    Reason,
    StopLayout,
)
from mopsus.interactive.gdb.agent.library import FILE, GATE, Library, read
from mopsus.interactive.gdb.agent.moving import NoHookError
from mopsus.interactive.gdb.agent.tables import Log, Table
from mopsus.interactive.gdb.agent.threads import can_load, each_thread, go_to, interrupted_at, is_running, is_within, pc
from mopsus.interactive.gdb.agent.ticking import Ticking
from mopsus.interactive.gdb.readings import Hit
from mopsus.interactive.gdb.trap import Trap
from mopsus.interactive.stepper import Kind, Records, Stepped
from mopsus.model import Place, Reading, Unavailable

_DISTURBED = "there is another point in its first instructions"
_ANSWERED = "somebody reacts to nearly every call"
_BREAKING = {gdb.BP_BREAKPOINT, gdb.BP_HARDWARE_BREAKPOINT}
_ATTEMPTS = 100
"""How often we look whether the library can be loaded, before we give up."""


class Point(Protocol):
    """An ordinary point, which a hook can stand in for."""

    trap: Trap

    def stand_again(self) -> None:
        """There was a hook, which has seen what was entered so far."""


@dataclass(frozen=True, slots=True)
class Noted:
    """What a record of the log is about."""

    stepped: Stepped
    event: int
    sources: tuple[Source, ...]
    readings: tuple[Reading, ...]
    location: str | None
    """None: that of the caller."""


@dataclass(frozen=True, slots=True)
class Presence:
    """What there is in a program that has the library."""

    library: Library
    sites: Sites
    log: Log
    gate: Trap
    ticking: Ticking


class Agent:
    """Hooks for the places that monitors only have to be told of."""

    def __init__(
        self,
        point: Callable[[Place], Point],
        returning: Callable[[Place, Hit, int, int], object],
        describe: Callable[[int], tuple[str | None, bool]],
        elapsed: Callable[[], float],
    ) -> None:
        """`returning` is told a place after a call whose return GDB must handle, what was read there, the address where
        it returns to and the stack pointer then; `describe` gives the line of an address, and whether it is a
        library's; `elapsed`, how many seconds ago the program began."""
        self._point = point
        self._returning = returning
        self._describe = describe
        self._elapsed = elapsed
        self._wanted: dict[Place, Sequence[Feed]] = {}
        self._here: Presence | None = None
        self._sites: dict[Place, Site] = {}
        self._places: dict[int, tuple[Place, ...]] = {}
        self._refused: dict[Place, str] = {}
        self._numbers: dict[Noted, int] = {}
        self._kinds: dict[Stepped, list[Kind | None]] = {}
        self._tables: dict[int, Table] = {}
        self._passing: set[int] = set()
        self._exposed: dict[int, tuple[int, int]] = {}
        """By thread, where it seems to be, and where it is: in the copy of a function's first instructions."""
        self._returns: dict[int, tuple[tuple[Reading, Source], ...]] = {}
        """By generation of a hook, what it reads for returns."""
        self._attempts = 0
        self._useless: str | None = None
        self._loads = 0

    # ---- what is wanted

    def feed(self, place: Place, events: Sequence[Feed]) -> None:
        """Nobody wants to know of this place but these."""
        self._wanted[place] = events

    def release(self, place: Place) -> None:
        """Somebody does, or nobody at all."""
        self._wanted.pop(place, None)
        self._refused.pop(place, None)
        self._unhook(place)

    def inside(self) -> Mapping[Place, str | None]:
        """Of each place that is wanted: None if it has a hook, else why it has none."""
        waiting = self._useless or "the program was not yet where a library could be loaded"
        return {place: None if place in self._sites else self._refused.get(place, waiting) for place in self._wanted}

    def fed_in_vain(self, places: Sequence[Place]) -> str | None:
        """Why none of these calls has a hook, or can get one; None if one has, or may."""
        whys = [self._useless or self._refused.get(place) for place in places]
        if any(why is None or why == _DISTURBED for why in whys):
            return None
        return "; ".join(dict.fromkeys(why for why in whys if why)) or "none of its events is the call of a function"

    def sees_return(self, place: Place, frame: gdb.Frame) -> bool:
        """Is this a call that a hook has made and will see return?"""
        return is_hook(frame.older()) and place in self._sites and self._sites[place].returning

    def kept(self, hook: gdb.Frame) -> Iterator[tuple[Reading, object]]:
        """What a hook has read when it made a call that is open: by now it may be something else."""
        at = int(hook.read_register("rbp").cast(gdb.lookup_type("unsigned long"))) - CallLayout.frame_pointer.offset
        call = CallLayout.from_buffer_copy(read(at, ctypes.sizeof(CallLayout)))
        places = count()
        for reading, source in self._returns.get(call.generation, ()):
            if source.kept:
                place = next(places)
                lost = call.unreadable >> place & 1
                yield reading, Unavailable("there is no memory") if lost else source.value(call.kept[place])
            elif source.base is Base.ARGUMENT:
                yield reading, source.of_register(call.arguments[source.index])

    @property
    def waits(self) -> bool:
        """Is there something to hook, as soon as that can be done?"""
        return self._useless is None and any(self._can_hook(place) for place in self._wanted)

    @property
    def ready(self) -> bool:
        """Can it be done here, if the program is made to stop for it?"""
        if not self.waits:
            return False
        if self._here is not None or can_load():
            return True
        self._attempts += 1
        if self._attempts > _ATTEMPTS:
            self._useless = "whenever an event happens, the program is in the midst of the C library"
        return False

    def settle(self) -> None:
        """The program stands, and may be made to do something: hook what is wanted."""
        self.refresh()
        for place in [place for place, why in self._refused.items() if why == _DISTURBED]:  # it may be gone
            del self._refused[place]
        if not self.ready:
            return
        try:
            self._load()
        except DebuggerError as error:
            self._useless = str(error)
            return
        for place in [place for place in self._wanted if self._can_hook(place)]:
            if place not in self._sites:  # it may have been hooked with another
                self._hook(place)

    def refresh(self) -> None:
        """The program is about to go on: take over what became of the monitors."""
        self.check()
        self._fill([table for table in self._tables.values() if table.stale])

    def check(self) -> None:
        """Forget everything if the program has become another one, by `exec`, or is a copy that GDB follows now."""
        process = gdb.selected_inferior().pid
        if self._here is None or not process:  # of one that has ended, what it noted is still there
            return
        if self._here.library.process != process or (self._loads != Trap.loads and not self._here.library.is_there):
            self._tell_noted(self._here.log.take())
            self._tell_passed()
            self.forget()
        self._loads = Trap.loads

    def forget(self) -> None:
        """There is no program any more, or another one."""
        if self._here is not None:
            self._here.gate.discard()
        self._here = None
        for table in self._tables.values():
            table.stepped.follow = None
        for place in self._sites:
            self._point(place).trap.enabled = True
        for known in (
            self._sites,
            self._places,
            self._tables,
            self._numbers,
            self._kinds,
            self._passing,
            self._refused,
            self._exposed,
            self._returns,
        ):
            known.clear()
        self._attempts, self._useless = 0, None

    def restored(self) -> None:
        """The program is what it was earlier, and no place is wanted now."""
        self.check()
        if self._here is None:
            return
        self._here.log.clear()
        self._here.sites.lift()
        for table in self._tables.values():
            table.renew()

    def lift(self) -> None:
        """Take all hooks out: the program goes on without us."""
        if self._here is not None and is_running():
            self._here.library.desert()
            self.forget()
            return
        self.drain()
        for place in list(self._sites):
            self._unhook(place)

    @contextmanager
    def lifted(self) -> Iterator[None]:
        """No hook is in the code meanwhile."""
        self.drain()
        sites = [site for site in self._hooked() if site.placed]
        for site in sites:
            site.lift(returns=True)
        self._changed()
        try:
            yield
        finally:
            for site in sites:
                site.place()
            self._changed()

    # ---- what happened

    def drain(self) -> None:
        """Tell the monitors what the agent has noted."""
        self.check()
        if self._here is None:
            return
        if gdb.selected_inferior().pid:
            self._here.log.complete(self._tables)
        self._tell_noted(self._here.log.take())

    def count(self) -> None:
        """Tell them how much it has not noted, because it changed nothing."""
        self.check()
        self._tell_passed()

    def rest(self) -> None:
        """The developer makes a step, which may end anywhere: traps do all the work until `resume`."""
        for number in self._places:
            self._pass_by_traps(number)
        for thread, site, original, _ in self._take_exposed():
            for place in self._places.get(site.number, ()):
                trap = self._point(place).trap
                if trap.address is not None and original <= trap.address:
                    Trap.skips.add((thread, trap))

    def resume(self) -> None:
        """The program goes on: what was passed by traps is hooked again."""
        self.check()
        for number in list(self._passing):
            self._passing.discard(number)
            places = self._places[number]
            site = self._sites[places[0]]
            if site.is_dear:
                for place in places:
                    self._refused[place] = _ANSWERED
                    self._unhook(place)
            elif not self._disturbed(site):
                self._place(site, places)

    def expose(self) -> None:
        """The program has stopped for somebody who looks at it, and at its code: no thread seems to be in a copy, and
        no hook is there until it goes on."""
        if self._here is None:
            return
        for number in self._places:
            self._pass_by_traps(number)
        for thread in each_thread():
            site = self._here.sites.copied(here := pc())
            if site is not None and not site.complete_call(here):
                original = site.original(here)
                go_to(original)
                self._exposed[thread.num] = original, here

    def hide(self) -> None:
        """It goes on: they go on where they are."""
        for _, _, _, there in self._take_exposed():
            go_to(there)

    @contextmanager
    def at_home(self) -> Iterator[None]:
        """The selected thread seems to be in the function itself, if it is in the copy of its first instructions: there
        nobody could follow the stack."""
        thread = gdb.selected_thread()
        site = None if self._here is None or thread is None else self._here.sites.copied(here := pc())
        if site is None:
            yield
            return
        go_to(site.original(here))
        try:
            yield
        finally:
            go_to(here)

    def avoid(self, addresses: Sequence[int]) -> None:
        """Somebody has points at these addresses: a hook there would be damaged."""
        for site in self._hooked():
            if any(address in site.window for address in addresses):
                for place in self._places[site.number]:
                    self._refused[place] = _DISTURBED
                    self._unhook(place)

    # ---- how it works

    def _take_exposed(self) -> Iterator[tuple[int, Site, int, int]]:
        """Those that still are where they seemed to be, each selected: the thread, its hook, where it seems to be and
        where it is."""
        exposed, self._exposed = self._exposed, {}
        if not exposed or self._here is None:
            return
        for thread in each_thread():
            original, there = exposed.get(thread.num, (None, 0))
            site = self._here.sites.copied(there)
            if site is not None and original is not None and pc() == original:
                yield thread.num, site, original, there

    def _tell_noted(self, records: Records) -> None:
        if records.data and self._here is not None:
            clock = self._here.ticking.now()
            for table in self._tables.values():
                if table.take_noted():
                    table.stepped.happened(records, self._kinds[table.stepped], self._line, clock)

    def _tell_passed(self) -> None:
        noted = list(self._numbers)
        for site in self._hooked():
            for event, number in site.take_passed():
                noted[event.number].stepped.passed(noted[event.number].event, number)

    def _changed(self) -> None:
        if self._here is not None:
            self._here.log.changed()

    def _hooked(self) -> list[Site]:
        return list(dict.fromkeys(self._sites.values()))

    def _can_hook(self, place: Place) -> bool:
        return place not in self._sites and place not in self._refused

    def _load(self) -> None:
        if self._here is not None:
            return
        library = Library()
        hide_frames()
        self._here = Presence(
            library, Sites(library), Log(library), Trap(f"-function {GATE}", self._on_gate), Ticking(self._elapsed)
        )
        self._loads = Trap.loads

    def _hook(self, place: Place) -> None:
        other = Place(place.kind, place.what, not place.after)
        places = [each for each in (place, other) if each in self._wanted]
        try:
            self._try(places)
        except (NoHookError, DebuggerError, gdb.error) as error:
            self._refused.update(dict.fromkeys(places, str(error)))

    def _try(self, places: Sequence[Place]) -> None:
        assert self._here is not None
        traps = [self._point(place).trap for place in places]
        address = traps[0].address
        if address is None:
            raise NoHookError("its name stands for several functions")
        function = Function(address)
        location, foreign = self._describe(address)
        found: dict[bool, list[Noted]] = {False: [], True: []}
        for place in places:
            for feed in self._wanted[place]:
                if feed.stepped is None:
                    raise NoHookError("its property needs more than tables with one parameter")
                sources = tuple(function.source(reading, place.after) for reading in feed.readings)
                where = None if place.after or foreign else location
                found[place.after].append(Noted(feed.stepped, feed.event, sources, tuple(feed.readings), where))
        _check_counts(list(found.values()))
        if (most := max(len(each.sources) for side in found.values() for each in side)) > self._here.log.values:
            self.drain()
            self._here.log.hold(most)
        if found[True]:
            function.check_calls()
        site = self._here.sites.at(function)
        if self._disturbed(site, traps):
            raise NoHookError(_DISTURBED)
        site.use(*([self._event(each) for each in found[after]] for after in (False, True)))
        self._returns[site.generation] = tuple(
            pair for each in found[True] for pair in zip(each.readings, each.sources, strict=True)
        )
        self._place(site, places)
        for place in places:
            self._sites[place] = site
        self._places[site.number] = tuple(places)

    def _event(self, noted: Noted) -> Hooked:
        truth = noted.stepped.stepper.keyed and noted.sources[0].kind is bool
        return Hooked(self._table(noted.stepped, truth), noted.event, self._number(noted), noted.sources)

    def _number(self, noted: Noted) -> int:
        """How the agent calls it."""
        if noted not in self._numbers:
            number = self._numbers[noted] = len(self._numbers)
            self._kinds.setdefault(noted.stepped, [])
            for kinds in self._kinds.values():
                kinds += [None] * (number + 1 - len(kinds))
            makers = tuple(source.value for source in noted.sources)
            self._kinds[noted.stepped][number] = Kind(noted.event, makers, noted.location)
        return self._numbers[noted]

    def _table(self, stepped: Stepped, truth: bool) -> Table:
        for table in self._tables.values():
            if table.stepped is stepped:
                if table.truth is not truth:
                    raise NoHookError("a truth value is no number, as the values of other events are")
                return table
        assert self._here is not None
        table = Table(self._here.library, stepped, truth, self._changed)
        self._tables[table.address] = table
        stepped.follow = table
        return table

    def _line(self, caller: int) -> str | None:
        """Of the call that returns to an address."""
        return self._describe(caller - 1)[0]

    def _place(self, site: Site, places: Sequence[Place]) -> None:
        if self._is_entered(site, places):
            self._passing.add(site.number)
            return
        site.place()
        for place in places:
            self._point(place).trap.enabled = False
        self._changed()

    def _is_entered(self, site: Site, places: Sequence[Place]) -> bool:
        """Is a thread on its way to the trap, and was not told of yet? It would not come there. Nor can one be moved
        out of the first instructions that a signal has found there, and whose handler is at work."""
        address = self._point(places[0]).trap.address or 0
        first = site.window.start + 1
        return any(
            (first <= (here := pc()) <= address and Trap.told != (thread.num, here))
            or any(first <= where <= address or where in site.window for where in interrupted_at())
            for thread in each_thread()
        )

    def _unhook(self, place: Place) -> None:
        self.drain()
        self.count()
        site = self._sites.get(place)
        if site is None:
            return
        self._passing.discard(site.number)
        site.lift()
        self._changed()
        for each in self._places.pop(site.number):
            del self._sites[each]
            if each in self._wanted:
                self._point(each).stand_again()
            else:
                self._point(each).trap.enabled = True

    def _disturbed(self, site: Site, own: Sequence[Trap] = ()) -> bool:
        """Is there another trap in the first instructions?"""
        ours = own or [self._point(place).trap for place in self._places[site.number]]
        return any(
            each.address in site.window
            for trap in gdb.breakpoints()
            if trap.enabled and trap not in ours and not trap.pending and trap.type in _BREAKING
            for each in trap.locations
        )

    def _on_gate(self) -> bool:
        """The agent calls."""
        assert self._here is not None
        self.drain()
        address = int(gdb.parse_and_eval("(unsigned long) $rdi"))
        stop = StopLayout.from_buffer_copy(read(address, ctypes.sizeof(StopLayout)))
        if stop.stuck and not is_within(self._here.library.get("owner"), self._here.library.get("stack"), str(FILE)):
            self._here.library.put(owner=0)  # it was left by a jump, or its thread is gone
        if stop.reason == Reason.CROWDED:
            self._fill([table for table in self._tables.values() if table.crowded])
        elif stop.reason == Reason.HANDLE:
            self._handle(stop)
        return False

    def _fill(self, tables: Sequence[Table]) -> None:
        for table in tables:
            try:
                table.fill()
            except DebuggerError as error:
                for place in [each for each, feeds in self._wanted.items() if _steps(feeds, table.stepped)]:
                    self._refused[place] = str(error)
                    self._unhook(place)

    def _handle(self, stop: StopLayout) -> None:
        places = self._places.get(stop.site, ())
        if not places:
            return
        site = self._sites[places[0]]
        site.count_handled()
        if stop.returning:
            self._handle_return(site, stop, next(place for place in places if place.after))
        if not stop.returning or site.is_dear:
            self._pass_by_traps(stop.site)

    def _pass_by_traps(self, number: int) -> None:
        """Until the program goes on; calls that the hook has made are seen by it to return."""
        places = self._places[number]
        site = self._sites[places[0]]
        if site.placed:
            site.lift(returns=True)
            self._changed()
            for place in places:
                self._point(place).trap.enabled = True
            self._passing.add(number)

    def _handle_return(self, site: Site, stop: StopLayout, place: Place) -> None:
        hit = Hit()
        noted = list(self._numbers)
        for number, event in enumerate(site.returns):
            about = noted[event.number]
            for each, (reading, source) in enumerate(zip(about.readings, about.sources, strict=True)):
                readable = not stop.unreadable >> (number * MOST_VALUES + each) & 1
                value = source.value(stop.values[number][each]) if readable else Unavailable("there is no memory")
                hit.know(reading, value)
        address = int.from_bytes(read(stop.frame - 8, 8), "little")
        self._returning(place, hit, address, stop.frame)


def _steps(feeds: Sequence[Feed], stepped: Stepped) -> bool:
    return any(feed.stepped is stepped for feed in feeds)


def _check_counts(sides: Sequence[Sequence[Noted]]) -> None:
    """`NoHookError` if there is more than the agent has room for."""
    for side in sides:
        if len(side) > MOST_EVENTS or any(len(each.sources) > MOST_VALUES for each in side):
            raise NoHookError("it has too many events or values")
        if len({id(each.stepped) for each in side}) < len(side):
            raise NoHookError("it is two events of one property")
    if sum(source.kept for side in sides for each in side for source in each.sources) > MOST_KEPT:
        raise NoHookError("it has too many values")
