"""The breakpoints of an editor in a Python program: at lines, at functions, at exceptions, each with what it asks for.

They are kept here and not by `bdb`, which knows neither which arrivals count nor what to say instead of stopping.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FrameType

from mopsus.interactive.dap.conditions import LogMessage, hits
from mopsus.interactive.dap.python.variables import text_of, value_of
from mopsus.interactive.dap.workbench import FILTERS, Filtered, Placed, Wanted
from mopsus.interactive.debugger import DebuggerError
from mopsus.interactive.python.arrivals import is_of_type
from mopsus.interactive.python.atlas import Atlas, entry_of, is_named, lines_of
from mopsus.interactive.python.outline import codes_inside

_RAISED, _UNCAUGHT = (each.name for each in FILTERS["python"])
Packed = tuple[int, list["Point"], dict[str, str | None]]


@dataclass(slots=True)
class Point:
    """One breakpoint, as plain data: it goes along when the program goes back to a checkpoint."""

    number: int
    wanted: Wanted
    path: str = ""
    """Empty: it is at a function."""
    line: int = 0
    hits: int = 0

    def is_same(self, other: Point) -> bool:
        return (self.wanted, self.path, self.line) == (other.wanted, other.path, other.line)

    def stops(self, frame: FrameType, say: Callable[[str], object]) -> bool:
        """The program has come to it: does it stop there? A condition that has no value holds, and it is said."""
        if self.wanted.condition is not None:
            try:
                if not value_of(self.wanted.condition, frame):
                    return False
            except DebuggerError as error:
                say(f"the condition `{self.wanted.condition}` has no value here: {error.message}\n")
        self.hits += 1
        if self.wanted.hits is not None and not hits(self.wanted.hits)(self.hits):
            return False
        if self.wanted.log is not None:
            say(LogMessage(self.wanted.log).say(lambda expression: _shown(expression, frame)) + "\n")
            return False
        return True


class Points:
    """All of them. No number is given twice, so an editor can tell old from new."""

    def __init__(self, atlas: Atlas, say: Callable[[str], object]) -> None:
        """`say` is for what is to be said instead of stopping."""
        self._atlas = atlas
        self._say = say
        self._numbers = 0
        self._points: list[Point] = []
        self._filters: dict[str, str | None] = {}
        self.hit: tuple[int, ...] = ()
        """Those that the program stands at."""

    # ---- what the editor wants

    def set_lines(self, path: str, wanted: Sequence[Wanted]) -> list[Placed]:
        """These, and no others, in a file."""
        path = os.path.realpath(path)
        return self._replace([point for point in self._points if point.path == path], wanted, path, _line_of)

    def set_functions(self, wanted: Sequence[Wanted], check: Callable[[str], None]) -> list[Placed]:
        """These, and no others, at functions. `check` raises for those that the program does not have."""

        def line_of(_: str, each: Wanted) -> int:
            check(each.function)
            return 0

        return self._replace([point for point in self._points if not point.path], wanted, "", line_of)

    def set_filters(self, filters: Sequence[Filtered]) -> list[Placed]:
        """Stop at these exceptions, and at no others. Those of other languages have none here."""
        self._filters = {each.name: each.condition for each in filters}
        return [Placed(None, each.name in (_RAISED, _UNCAUGHT)) for each in filters]

    # ---- what the debugger asks

    @property
    def lines(self) -> dict[str, list[int]]:
        """By file."""
        found: dict[str, list[int]] = {}
        for point in self._points:
            if point.path:
                found.setdefault(point.path, []).append(point.line)
        return found

    @property
    def functions(self) -> list[str]:
        return [point.wanted.function for point in self._points if not point.path]

    @property
    def at_raised(self) -> bool:
        return _RAISED in self._filters

    @property
    def at_uncaught(self) -> bool:
        return _UNCAUGHT in self._filters

    def reached(self, frame: FrameType) -> bool:
        """The program has come to a line that may have one: does any stop it?"""
        self.hit = tuple(point.number for point in self._here(frame) if point.stops(frame, self._say))
        return bool(self.hit)

    def raised(self, error: BaseException) -> bool:
        """An exception has been raised: is it one to stop at?"""
        wanted = self._filters.get(_RAISED)
        return wanted is None or any(is_of_type(error, each.strip()) for each in wanted.split(","))

    # ---- over a checkpoint

    def pack(self) -> Packed:
        return self._numbers, self._points, self._filters

    def unpack(self, packed: Packed) -> None:
        self._numbers, self._points, self._filters = packed

    # ---- how it works

    def _here(self, frame: FrameType) -> Iterator[Point]:
        code = frame.f_code
        path, spot = os.path.realpath(code.co_filename), self._atlas[code]
        # A line that begins a function may be come to again by a loop, but not at its first instruction.
        is_entered = frame.f_lasti == entry_of(code)[0]
        for point in self._points:
            if point.path:
                if point.line == frame.f_lineno and point.path == path:
                    yield point
            elif is_entered and spot is not None and is_named(point.wanted.function, spot):
                yield point

    def _replace(
        self, old: Sequence[Point], wanted: Sequence[Wanted], path: str, line_of: Callable[[str, Wanted], int]
    ) -> list[Placed]:
        placed: list[Placed] = []
        new: list[Point] = []
        for each in wanted:
            try:
                if each.hits is not None:
                    hits(each.hits)
                if each.condition is not None:
                    _check_expression(each.condition)
                point = self._point(each, path, line_of(path, each), old)
            except DebuggerError as error:
                placed.append(Placed(None, False, message=error.message + (f"; {error.hint}" if error.hint else "")))
            else:
                new.append(point)
                placed.append(Placed(point.number, True, line=point.line or None))
        self._points = [point for point in self._points if point not in old] + new
        return placed

    def _point(self, wanted: Wanted, path: str, line: int, old: Sequence[Point]) -> Point:
        """The same as before if there was such a one: what it has counted stays."""
        new = Point(self._numbers + 1, wanted, path, line)
        for point in old:
            if point.is_same(new):
                return point
        self._numbers += 1
        return new


def _check_expression(text: str) -> None:
    try:
        compile(text.strip(), "<condition>", "eval", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise DebuggerError(f"`{text}` is no expression: {error}") from error


def _line_of(path: str, wanted: Wanted) -> int:
    """The line itself, or the next one that has code."""
    try:
        lines = _lines(path, os.stat(path).st_mtime_ns)
    except OSError as error:
        raise DebuggerError(f"cannot read {path}: {error.strerror}") from error
    except (SyntaxError, ValueError) as error:
        raise DebuggerError(f"{path} is no Python: {error}") from error
    for line in lines:
        if line >= wanted.line:
            return line
    raise DebuggerError(f"there is no code at line {wanted.line} or after it")


@cache
def _lines(path: str, _: int) -> list[int]:
    """The lines of a file, as it was last changed, that have code."""
    code = compile(Path(path).read_bytes(), path, "exec", dont_inherit=True)
    return sorted({line for each in codes_inside(code) for line in lines_of(each)})


def _shown(expression: str, frame: FrameType) -> str:
    try:
        value = value_of(expression, frame)
    except DebuggerError as error:
        return f"{{{expression}: {error.message}}}"
    return value if isinstance(value, str) else text_of(value)
