"""The breakpoints of an editor, in GDB.

They are the developer's: ordinary breakpoints wherever GDB itself can do what is wanted, so that they come before all
monitors. Only what GDB cannot count or say is done by code of ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Protocol, TypeVar

import gdb

from mopsus.interactive.dap.conditions import LogMessage, hits
from mopsus.interactive.dap.workbench import Filtered, Placed, Source, Wanted
from mopsus.interactive.debugger import DebuggerError
from mopsus.interactive.gdb.trap import quietly

_AT_LEAST = re.compile(r"\s*+(>=|>)?+\s*+(\d+)\s*")
_FUNCTIONS = ""
"""The key of those at functions: no file has that name."""
_CATCHPOINT = re.compile(r"Catchpoint (\d+)")


class Points:
    """All of them, by file. `say` is for log messages; `changed` is told when one has found its place, or lost it."""

    def __init__(self, say: Callable[[str], None], changed: Callable[[Placed], None]) -> None:
        self._say, self._changed = say, changed
        self.numbers = count(1)
        self._points: dict[str, dict[Wanted, _Point]] = {}
        self._filters: dict[str, gdb.Breakpoint] = {}
        self._counts: dict[int, tuple[int, int]] = {}
        """Of any breakpoint of the developer's: how often it was hit, and how many more hits do not count."""
        self._stopping: set[int] = set()
        self._passing: set[int] = set()
        """Those that were hit so that it counts, or does not, since somebody asked last."""
        gdb.events.breakpoint_modified.connect(self._modified)

    def set(self, path: str, wanted: Sequence[Wanted]) -> list[Placed]:
        """These, and no others, in a file; those that are there already stay, with what they have counted."""

        def make(each: Wanted) -> _Point:
            return _Point(next(self.numbers), path, each, self._say)

        self._points[path], placed = replaced(self._points.get(path, {}), wanted, make)
        return placed

    def set_functions(self, wanted: Sequence[Wanted]) -> list[Placed]:
        return self.set(_FUNCTIONS, wanted)

    def set_filters(self, filters: Sequence[Filtered]) -> list[Placed]:
        wanted = {each.name for each in filters}
        for name in self._filters.keys() - wanted:
            self._filters.pop(name).delete()
        return [self._filter(each.name) for each in filters]

    def _filter(self, name: str) -> Placed:
        if name not in ("throw", "catch"):
            return Placed(None, False, message="this program knows no such exceptions")
        if name not in self._filters:
            found = _CATCHPOINT.search(gdb.execute(f"catch {name}", to_string=True))
            if found is None:
                return Placed(None, False, message="GDB does not catch that")
            number = int(found[1])
            self._filters[name] = next(each for each in gdb.breakpoints() if each.number == number)
        return Placed(None, True)

    def arrived(self) -> tuple[int, ...]:
        """The numbers of those that have stopped the program since the last call."""
        return tuple(point.number for point in self._all() if point.take_stop())

    def stopping(self, hit: Sequence[gdb.Breakpoint]) -> list[gdb.Breakpoint]:
        """Which of these have stopped the program since the last call. GDB names others beside what has stopped it
        there: those whose condition does not hold, or whose turn has not come."""
        stopping, passing = self._stopping, self._passing
        self._stopping, self._passing = set(), set()

        def has_stopped(point: gdb.Breakpoint) -> bool:
            if not point.is_valid():  # a temporary one, which is gone with its stop
                return True
            counts = point.number in stopping or (point.condition is None and point.number not in passing)
            return counts and not has_passed(point)

        return list(filter(has_stopped, hit))

    def at_function(self, numbers: Sequence[int]) -> bool:
        """Are all of these at functions?"""
        functions = {point.number for point in self._points.get(_FUNCTIONS, {}).values()}
        return functions.issuperset(numbers)

    def filter_of(self, stopped: Sequence[gdb.Breakpoint]) -> str | None:
        """The exceptions that one of them is for."""
        return next((name for name, point in self._filters.items() if point in stopped), None)

    def _all(self) -> list[_Point]:
        return [point for points in self._points.values() for point in points.values()]

    def _modified(self, breakpoint: gdb.Breakpoint) -> None:
        number = breakpoint.number
        hits, ignoring = self._counts.get(number, (0, breakpoint.ignore_count))
        self._counts[number] = breakpoint.hit_count, breakpoint.ignore_count
        if breakpoint.hit_count > hits:
            (self._stopping if breakpoint.ignore_count == ignoring else self._passing).add(number)
        for point in self._all():
            if point.breakpoint == breakpoint:
                point.count()
                if point.has_changed():
                    self._changed(point.placed())


class Settable(Protocol):
    """What stands for a breakpoint that an editor wants."""

    def placed(self) -> Placed: ...
    def delete(self) -> None: ...


P = TypeVar("P", bound=Settable)
B = TypeVar("B", bound=gdb.Breakpoint)


def replaced(
    before: dict[Wanted, P], wanted: Sequence[Wanted], make: Callable[[Wanted], P]
) -> tuple[dict[Wanted, P], list[Placed]]:
    """The points that are wanted, and what became of each: those that were there stay, others are made or deleted."""
    for each in before.keys() - set(wanted):
        before[each].delete()
    after: dict[Wanted, P] = {}
    placed = []
    for each in wanted:
        try:
            after[each] = point = after.get(each) or before.get(each) or make(each)
        except (gdb.error, DebuggerError) as error:
            placed.append(Placed(None, False, each.line or None, str(error)))
            continue
        placed.append(point.placed())
    return after, placed


class _Point:
    """One of them."""

    def __init__(self, number: int, path: str, wanted: Wanted, say: Callable[[str], None]) -> None:
        self.number = number
        self._wanted = wanted
        self.breakpoint = _make(path, wanted, say)
        self._told = self.placed()
        self._hits, self._ignoring = 0, self.breakpoint.ignore_count
        self._stops = False

    def placed(self) -> Placed:
        locations = [] if self.breakpoint.pending else self.breakpoint.locations
        found = next((each.source for each in locations if each.source is not None), None)
        if not locations:
            what = self._wanted.function or f"line {self._wanted.line}"
            why = f"the program has no code for {what} yet: it is looked for in libraries when they are loaded"
            return Placed(self.number, False, self._wanted.line or None, why)
        if found is None:
            return Placed(self.number, True)
        full = next((each.fullname for each in locations if each.fullname), None)
        return Placed(self.number, True, found[1], source=Source(Path(found[0]).name, full or found[0]))

    def has_changed(self) -> bool:
        before, self._told = self._told, self.placed()
        return self._told != before

    def count(self) -> None:
        """GDB counts a hit before it stops, and one that it ignores."""
        point = self.breakpoint
        self._stops |= point.hit_count > self._hits and point.ignore_count == self._ignoring
        self._hits, self._ignoring = point.hit_count, point.ignore_count

    def take_stop(self) -> bool:
        stops, self._stops = self._stops, False
        return stops and not has_passed(self.breakpoint)

    def delete(self) -> None:
        if self.breakpoint.is_valid():
            self.breakpoint.delete()


class Deciding:
    """Which arrivals at a point count, where GDB itself cannot say it."""

    def __init__(self, wanted: Wanted, say: Callable[[str], None]) -> None:
        self._hits = hits(wanted.hits) if wanted.hits is not None else None
        self._condition = wanted.condition
        self._say = say
        self._arrivals = 0

    def counts(self, frame: gdb.Frame | None = None) -> bool:
        """Does this one? The condition is about a frame, or about where the program is."""
        try:
            if self._condition is not None and not self._holds(self._condition, frame):
                return False
        except gdb.error as error:
            self._say(f"the condition `{self._condition}` has no value here: {error}\n")
            return True
        self._arrivals += 1
        return self._hits is None or self._hits(self._arrivals)

    @staticmethod
    def _holds(condition: str, frame: gdb.Frame | None) -> bool:
        selected = gdb.selected_frame()
        (frame or selected).select()
        try:
            return bool(gdb.parse_and_eval(condition))
        finally:
            selected.select()


class _Counting(gdb.Breakpoint):
    """Counts its arrivals, and may say something instead of stopping."""

    def __init__(self, location: dict[str, Any], wanted: Wanted, say: Callable[[str], None]) -> None:
        self._deciding = Deciding(wanted, say)
        super().__init__(**location)
        self._log = LogMessage(wanted.log) if wanted.log is not None else None
        self._say = say
        self.passed = False
        """Did it let the program go on when it was hit last?"""

    def stop(self) -> bool:
        counts = self._deciding.counts()
        if counts and self._log is not None:
            self._say(self._log.say(_shown) + "\n")
        self.passed = not counts or self._log is not None
        return not self.passed


def has_passed(breakpoint: gdb.Breakpoint) -> bool:
    """Was it hit without stopping the program? GDB names it beside what has stopped it there."""
    return isinstance(breakpoint, _Counting) and breakpoint.passed


def _make(path: str, wanted: Wanted, say: Callable[[str], None]) -> gdb.Breakpoint:
    """Where GDB knows the place; otherwise it waits for code that has it."""
    if wanted.function:
        return _made_at({"function": wanted.function}, wanted, say)
    made = _made_at({"source": path, "line": wanted.line}, wanted, say)
    if not made.pending:
        return made
    other = _made_at({"source": Path(path).name, "line": wanted.line}, wanted, say)  # compiled elsewhere
    kept, left = (made, other) if other.pending else (other, made)
    left.delete()
    return kept


def _made_at(location: dict[str, Any], wanted: Wanted, say: Callable[[str], None]) -> gdb.Breakpoint:
    if wanted.hits is not None:
        hits(wanted.hits)  # what is wrong with it is said here, and not from within GDB
    least = _AT_LEAST.fullmatch(wanted.hits) if wanted.hits is not None else None
    if wanted.log is not None or (wanted.hits is not None and least is None):
        return silently(lambda: _Counting(location, wanted, say))
    made = silently(lambda: gdb.Breakpoint(**location))
    try:
        if wanted.condition is not None:
            made.condition = wanted.condition
    except gdb.error:
        made.delete()
        raise
    if least is not None:
        made.ignore_count = max(0, int(least[2]) - (least[1] != ">"))
    return made


def silently(make: Callable[[], B]) -> B:
    """GDB would tell of every breakpoint; the editor knows better."""
    made: list[B] = []
    quietly(lambda: made.append(make()))
    return made[0]


def _shown(expression: str) -> str:
    try:
        return gdb.parse_and_eval(expression).format_string(styling=False)
    except gdb.error as error:
        return f"<{error}>"
