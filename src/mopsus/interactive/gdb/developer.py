"""The developer's own points and commands, as far as monitors must know of them.

Where the developer's breakpoint stands together with one of ours, the developer comes first, and ours waits for the
next command that lets the program go on. GDB asks every breakpoint at a place before it stops, in no order that we
could rely on, so whether the developer's will stop is foretold from its condition and its counts.
"""

from __future__ import annotations

from collections.abc import Callable

import gdb

_GOING_ON = ("continue", "step", "next", "stepi", "nexti", "finish", "until", "advance", "jump", "signal")
_BEGINNING = ("run", "start", "starti")
_ENDING = ("kill", "detach")
WATCHING = {gdb.BP_WATCHPOINT, gdb.BP_HARDWARE_WATCHPOINT, gdb.BP_READ_WATCHPOINT, gdb.BP_ACCESS_WATCHPOINT}


class DeveloperPoints:
    """The breakpoints that `info breakpoints` shows."""

    def __init__(self) -> None:
        self._ignoring: dict[int, int] = {}
        self._spent: set[int] = set()
        self.points = developer_points()
        gdb.events.breakpoint_created.connect(self._created)
        gdb.events.breakpoint_modified.connect(self._modified)

    def stop_here(self, where: Callable[[], int], expression: str | None = None) -> bool:
        """Will one of them stop the program where it is, or, if `expression` is given, for a change of that?"""
        points = [point for point in self.points if point.is_valid() and point.enabled and not point.pending]
        address = where()
        return any(self._stops(point) for point in points if _is_at(point, address, expression))

    def _stops(self, point: gdb.Breakpoint) -> bool:
        if point.number in self._spent:
            self._spent.discard(point.number)
            return False
        if point.ignore_count > 0 or "stop" in vars(type(point)):
            return False
        if point.thread is not None and point.thread != gdb.selected_thread().num:
            return False
        try:
            return point.condition is None or bool(gdb.parse_and_eval(point.condition))
        except gdb.error:
            return True  # as GDB does with a condition that fails

    def _created(self, point: gdb.Breakpoint) -> None:
        if point.number > 0:
            self.points = [*(each for each in self.points if each.is_valid()), point]

    def _modified(self, point: gdb.Breakpoint) -> None:
        """Its count may just have come to nothing at this arrival, which does not stop the program yet."""
        before = self._ignoring.get(point.number, 0)
        if before == 1 and point.ignore_count == 0:
            self._spent.add(point.number)
        self._ignoring[point.number] = point.ignore_count


def developer_points() -> list[gdb.Breakpoint]:
    """Those of the developer: ours have negative numbers, or a condition that calls us."""
    return [
        point for point in gdb.breakpoints() if point.number > 0 and not (point.condition or "").startswith("$_mopsus_")
    ]


def _is_at(point: gdb.Breakpoint, address: int, expression: str | None) -> bool:
    if point.type in WATCHING:
        return expression is not None and point.expression == expression
    return any(each.enabled and each.address == address for each in point.locations)


class Hooks:
    """Calls us before every command that lets the program go on, or begin, and after it; a hook that the developer has
    stays."""

    def __init__(
        self,
        going_on: Callable[[str], None],
        beginning: Callable[[str], None],
        ending: Callable[[str], None],
        done: Callable[[], None],
    ) -> None:
        """The first two are told the command, and may raise `gdb.GdbError` to keep the program where it is."""
        _Hook("mopsus-going-on", going_on)
        _Hook("mopsus-beginning", beginning)
        _Hook("mopsus-ending", ending)
        _Hook("mopsus-done", lambda _: done())
        for before, commands in (("mopsus-going-on", _GOING_ON), ("mopsus-beginning", _BEGINNING)):
            for command in commands:
                _add_hook(f"hook-{command}", f"{before} {command}")
                _add_hook(f"hookpost-{command}", "mopsus-done")
        for command in _ENDING:
            _add_hook(f"hook-{command}", f"mopsus-ending {command}")


def before_command(command: str, name: str, action: Callable[[], None]) -> None:
    """Do this before each such command, if there is a program; `name` is for a command that does it."""
    _Hook(name, lambda _: action() if gdb.selected_thread() is not None else None)
    _add_hook(f"hook-{command}", name)


class _Hook(gdb.Command):
    """A command that only hooks call."""

    def __init__(self, name: str, action: Callable[[str], None]) -> None:
        super().__init__(name, gdb.COMMAND_OBSCURE)
        self._action = action

    def invoke(self, argument: str, from_tty: bool) -> None:
        self._action(argument)


def _add_hook(name: str, line: str) -> None:
    try:
        _, _, theirs = gdb.execute(f"show user {name}", to_string=True).partition("\n")
    except gdb.error:
        theirs = ""
    gdb.execute(f"define {name}\n{theirs.strip()}\n{line}\nend")
