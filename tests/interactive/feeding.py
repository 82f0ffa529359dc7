"""Toy debuggers that send events of monitors by themselves, in the two ways in which real ones do."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from interactive.toy import Toy, ToyDebugger

from mopsus.interactive.arithmetic import run
from mopsus.interactive.cells import CODE, KEEP, ROW, STOP
from mopsus.interactive.debugger import Driver, Feed, Read
from mopsus.interactive.stepper import Clock, Kind, Records, Stepped
from mopsus.model import Place, Unavailable

VALUES = 2
"""Of an event, at the most."""


def record(number: int, words: Sequence[int]) -> bytes:
    """An event as an agent notes it, of nowhere, at no time."""
    return struct.pack(f"<{3 + VALUES}Q", number, 0, 0, *words, *[0] * (VALUES - len(words)))


class CallingToy(ToyDebugger):
    """Makes the calls that a feed is, as the debugger of Python programs does."""

    def __init__(self, program: Toy, fuel: int = 10_000) -> None:
        super().__init__(program, fuel)
        self.feeds: dict[Place, Sequence[Feed]] = {}
        self.fed = 0
        """Arrivals that the driver was not told of."""

    def can_feed(self, stepped: Callable[[], Stepped | None]) -> bool:
        return True

    def feed(self, place: Place, events: Sequence[Feed]) -> None:
        self.feeds[place] = events

    def clear_point(self, place: Place) -> None:
        super().clear_point(place)
        self.feeds.pop(place, None)

    def _reach(self, place: Place) -> bool:
        read = self._reader(place)
        events = [(feed, [read(reading) for reading in feed.readings]) for feed in self.feeds.get(place, ())]
        readable = not any(isinstance(value, Unavailable) for _, values in events for value in values)
        if self._told or not events or not readable or not self._send(events):
            return super()._reach(place)
        self.fed += 1
        return False

    def _send(self, events: Sequence[tuple[Feed, list[object]]]) -> bool:
        """False: nothing was done, the driver must be told."""
        for feed, values in events:
            feed.send(*values)
        return True


class SteppingToy(CallingToy):
    """Steps tables of its own, as an agent does, and notes what the monitors must know of, some time."""

    def __init__(self, program: Toy, fuel: int = 10_000) -> None:
        super().__init__(program, fuel)
        self._tables: dict[Stepped, Table] = {}
        self._kinds: dict[Stepped, list[Kind | None]] = {}
        self._log: list[bytes] = []

    @property
    def driver(self) -> Driver:
        return self._driver

    @driver.setter
    def driver(self, driver: Driver) -> None:
        self._driver = Draining(driver, self.drain, self._refresh)

    def can_feed(self, stepped: Callable[[], Stepped | None]) -> bool:
        return stepped() is not None

    def drain(self) -> None:
        """Tell the monitors what was noted."""
        log, self._log = self._log, []
        for stepped, kinds in self._kinds.items():
            if log:
                stepped.happened(Records(b"".join(log), VALUES), kinds, lambda address: None, Clock(0, 0.0, 1e-6))

    def _refresh(self) -> None:
        for table in self._tables.values():
            if table.stepped.lent:
                table.renew()

    def restore(self, saved: object) -> None:
        super().restore(saved)
        for stepped in self._tables:
            stepped.follow = None
        self._tables.clear()

    def _send(self, events: Sequence[tuple[Feed, list[object]]]) -> bool:
        steps = []
        for feed, values in events:
            assert feed.stepped is not None
            stepper = feed.stepped.stepper
            (*words,) = (int(value) for value in values if isinstance(value, int))
            key = words[0] if stepper.keyed else None
            row, variables = self._table(feed.stepped).at(key)
            cell = stepper.cells[row + feed.event]
            if cell & CODE:
                computed = run(stepper.code, cell & ROW, words, variables)
                if computed is None:
                    return False
                cell, variables = computed
            if cell & STOP:
                return False
            steps.append((feed, key, cell, variables, words))
        for feed, key, cell, variables, words in steps:
            assert feed.stepped is not None
            self._table(feed.stepped).instances[key] = cell & ROW, variables
            if cell & KEEP:
                number = self._number(feed.stepped, feed.event, len(words))
                self._log.append(record(number, words))
            else:
                feed.stepped.passed(feed.event, 1)
        return True

    def _table(self, stepped: Stepped) -> Table:
        if stepped not in self._tables:
            stepped.follow = self._tables[stepped] = Table(stepped)
        return self._tables[stepped]

    def _number(self, stepped: Stepped, event: int, values: int) -> int:
        """Of a record: one more for each that happens here, so that each has its own line."""
        self._kinds.setdefault(stepped, [])
        number = max(map(len, self._kinds.values()))
        for other, kinds in self._kinds.items():
            kinds += [None] * (number - len(kinds))
            kinds.append(Kind(event, (int,) * values, f"toy:{self.program.pc}") if other is stepped else None)
        return number


class Table:
    """The rows and variables of the instances of a monitor, by value."""

    def __init__(self, stepped: Stepped) -> None:
        self.stepped = stepped
        self.renew()

    def at(self, value: int | None) -> tuple[int, Sequence[int | None]]:
        return self.instances.get(value) or self._beginning

    def step(self, value: int | None, letter: int, values: Sequence[object]) -> None:
        row, variables = self.at(value)
        after = self.stepped.stepper.step(row, letter, values, variables)
        if after is None:
            self.renew()
        else:
            self.instances[value] = after

    def renew(self) -> None:
        self.instances: dict[object, tuple[int, Sequence[int | None]]] = {}
        self._beginning: tuple[int, Sequence[int | None]] = 0, ()
        for value, row, variables in self.stepped.rows():
            if row:
                self.instances[value] = row, variables
            else:
                self._beginning = 0, variables


class Draining:
    """A driver that hears of what was noted before it is told anything, and may change variables that it has."""

    def __init__(self, driver: Driver, drain: Callable[[], None], refresh: Callable[[], None]) -> None:
        self._driver, self._drain, self._refresh = driver, drain, refresh

    def reached(self, place: Place, read: Read) -> bool:
        self._drain()
        stays = self._driver.reached(place, read)
        self._refresh()
        return stays

    def resuming(self) -> bool:
        self._drain()
        stays = self._driver.resuming()
        self._refresh()
        return stays

    def stopped(self) -> None:
        self._drain()
        self._driver.stopped()

    def loaded(self) -> bool:
        return self._driver.loaded()

    def ended(self, status: int | None) -> None:
        self._drain()
        self._driver.ended(status)
