"""The machines that the agent steps, and what it noted, in the memory that we share with it.

GDB can stop the program anywhere, in the midst of the agent, too. Whoever changes what the agent looks at counts a
change, and the agent looks again. What the agent itself had half changed is completed first, from its journal.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import TypeGuard

from mopsus.interactive.arithmetic import from_words, to_words
from mopsus.interactive.debugger import DebuggerError
from mopsus.interactive.gdb.agent.layout import MOST_VALUES, ChangeLayout, LogLayout, MonitorLayout
from mopsus.interactive.gdb.agent.library import COMMIT, Library
from mopsus.interactive.gdb.agent.threads import complete_function
from mopsus.interactive.stepper import Records, Stepped

_CAPACITY = 1 << 18
"""Records of the log. To stop the program costs as much as to note some ten thousand."""
_HEAD = ctypes.sizeof(LogLayout)
_FEWEST_KEYS = 1 << 12
_MOST_KEYS = 1 << 24
_MOST_KEYS_WITH_VARIABLES = 1 << 20
_MOST_SEEN = 1 << 16
_WORD = 8
_ALL = (1 << 64) - 1
_SIGN = 1 << 63
_FACTOR = 0x9E3779B97F4A7C15
_SHIFT = 20


class Table:
    """A machine with its instances, which has room for more: in a hash table that is never more than half full."""

    def __init__(self, library: Library, stepped: Stepped, truth: bool, changed: Callable[[], None]) -> None:
        """`truth`: its values are truth values, which to a monitor are no numbers; `changed` is told of each change of
        ours."""
        self.stepped = stepped
        self.truth = truth
        self.keyed = stepped.stepper.keyed
        self._changed = changed
        self._renewed = False
        stepper = stepped.stepper
        self._words = len(stepper.variables) + 1 if stepper.variables else 0
        self._most = 1 if not self.keyed else _MOST_KEYS_WITH_VARIABLES if self._words else _MOST_KEYS
        cells, code, _ = stepper.tables()
        at_code = ctypes.sizeof(MonitorLayout)
        at_cells = at_code + len(code)
        at_keys = at_cells + len(cells) + -len(cells) % _WORD
        at_variables = at_keys + _WORD * self._most
        self._at_beginning = at_variables + _WORD * self._words * self._most
        self._at_rows = self._at_beginning + _WORD * self._words
        self._memory = library.memory(self._at_rows + 4 * self._most)
        self._memory.write(at_code, code)
        self._memory.write(at_cells, cells)
        self.address = self._memory.address
        self._monitor = self._memory.at(MonitorLayout)
        self._keys = self._memory.at(ctypes.c_uint64 * self._most, at_keys)
        self._rows = self._memory.at(ctypes.c_uint32 * self._most, self._at_rows)
        self._variables = self._memory.at(ctypes.c_uint64 * (self._words * (self._most + 1)), at_variables)
        self._monitor.words = self._words
        for name, offset in (
            ("code", at_code),
            ("cells", at_cells),
            ("keys", at_keys),
            ("rows", self._at_rows),
            ("variables", at_variables),
            ("beginning", self._at_beginning),
        ):
            setattr(self._monitor, name, self.address + offset)
        self.fill()

    def fill(self) -> None:
        """Have the instances that the monitor has now, and room for twice as many."""
        self._renewed = False
        instances = self.stepped.rows()
        size = _FEWEST_KEYS if self.keyed else 1
        while self.keyed and size < 4 * len(instances):
            size *= 2
        if size > self._most:
            raise DebuggerError(f"there are more than {self._most // 4:,} instances")
        self._memory.write(self._at_rows, bytes(4 * size))
        self._monitor.mask, self._monitor.used = size - 1, 0
        for value, row, variables in instances:
            if not row:
                self._set_variables(self._most, variables)
            elif self._knows(value):
                self._put(value, row, variables)
        self._changed()

    @property
    def crowded(self) -> bool:
        return self.keyed and self._monitor.used * 2 > self._monitor.mask

    @property
    def stale(self) -> bool:
        """May the monitor's instances be others, by no event? They are taken over before the program goes on."""
        return self._renewed or (self._words != 0 and self.stepped.lent)

    def step(self, value: object, letter: int, values: Sequence[object]) -> None:
        """An event happened that the agent did not see."""
        if self.stale or not self._knows(value):
            return
        place = self._find(value)
        row = self._rows[place]
        before = self._get_variables(place if row or not self.keyed else self._most)
        after = self.stepped.stepper.step(row, letter, values, before)
        if after is None:
            self.renew()
        else:
            self._put(value, *after)
            self._renewed = self.crowded
        self._changed()

    def renew(self) -> None:
        self._renewed = True

    def rows(self) -> list[tuple[int | None, int]]:
        """Of the instances as they are now, though the program may be about to change them."""
        size = self._monitor.mask + 1
        if size > _MOST_SEEN:
            return []
        rows = zip(self._keys[:size], self._rows[:size], strict=True)
        return [(key if self.keyed else None, row) for key, row in rows if row]

    def take_noted(self) -> bool:
        """Are there records of it, since the last call?"""
        noted, self._monitor.noted = self._monitor.noted, 0
        return bool(noted)

    def complete(self, change: ChangeLayout) -> None:
        """What the agent was about to do."""
        if change.keyed:
            self._keys[change.at] = change.key
        self._rows[change.at], self._monitor.used, self._monitor.noted = change.row, change.used, 1
        self._variables[change.at * self._words : (change.at + 1) * self._words] = change.variables[: self._words]

    def _knows(self, value: object) -> TypeGuard[int | None]:
        """Can the agent meet this value?"""
        if not self.keyed:
            return True
        return isinstance(value, int) and isinstance(value, bool) is self.truth and -_SIGN <= value < _SIGN

    def _put(self, value: int | None, row: int, variables: Sequence[int | None]) -> None:
        place = self._find(value)
        if not self._rows[place] and row:
            self._monitor.used += self.keyed
            self._keys[place] = (value or 0) & _ALL
        self._rows[place] = row
        self._set_variables(place, variables)

    def _get_variables(self, place: int) -> list[int | None]:
        """Of the instance there; the last place has those that one begins with."""
        return from_words(self._variables[place * self._words : (place + 1) * self._words]) if self._words else []

    def _set_variables(self, place: int, variables: Sequence[int | None]) -> None:
        for word, value in enumerate(to_words(variables)[: self._words]):
            self._variables[place * self._words + word] = value

    def _find(self, value: int | None) -> int:
        """Where the instance of a value is, or would be."""
        if value is None:
            return 0
        key = value & _ALL
        mask: int = self._monitor.mask
        place = ((key * _FACTOR & _ALL) >> _SHIFT) & mask
        while self._rows[place] and self._keys[place] != key:
            place = (place + 1) & mask
        return place


class Log:
    """What the agent noted, in the order in which it happened."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._memory = library.memory(_HEAD + _CAPACITY * Records(b"", MOST_VALUES).width * _WORD)
        self._head = self._memory.at(LogLayout)
        self._head.capacity = _CAPACITY
        self.hold(0)
        library.put(log=self._memory.address)

    def changed(self) -> None:
        """Something is not as the agent saw it."""
        self._head.changes += 1

    def hold(self, values: int) -> None:
        """Events have so many values at the most. The log must be empty."""
        self.values = values
        self._head.width = Records(b"", values).width
        self.changed()

    def take(self) -> Records:
        """All records, which are gone then."""
        count = self._head.used
        if not count:
            return Records(b"", self.values)
        self._head.used = 0
        self.changed()
        return Records(bytes(self._memory.at(ctypes.c_char * (count * self._record), _HEAD)), self.values)

    def clear(self) -> None:
        self._head.used = self._head.committing = 0
        self.changed()

    def complete(self, tables: Mapping[int, Table]) -> None:
        """If a thread was stopped in the midst of a change, make the change, and let the thread go on behind it. Tables
        by address."""
        if not self._head.committing:
            return
        journal = self._library.journal()
        if journal.seen != self._head.changes:
            return  # it will look again by itself
        for change in journal.changes[: journal.count]:
            tables[change.monitor].complete(change)
        self._head.used = journal.used + journal.count
        self._head.committing = 0
        complete_function(COMMIT, 1)
        self.changed()

    @property
    def _record(self) -> int:
        """Bytes of one."""
        return int(self._head.width) * _WORD
