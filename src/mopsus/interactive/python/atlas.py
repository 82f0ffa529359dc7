"""Which code of a program a place names. Code is met when it first runs; places may be asked for at any time.

A function is known by the names under which it was defined, and by all that it gets later: whenever a module gives
something to a name that a place has a part of, it is seen again what that place stands for.
"""

from __future__ import annotations

import ast
import dis
import linecache
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from inspect import CO_OPTIMIZED
from types import CodeType, FrameType

from mopsus.events.weave.origin import is_ours, is_own
from mopsus.interactive.python.accesses import Access, find_accesses
from mopsus.interactive.python.names import MAIN, Lack, Meaning, Names
from mopsus.model import Place, PlaceKind

_STORES = frozenset({"STORE_NAME", "STORE_GLOBAL", "STORE_ATTR"})
_IMPORT_STAR = ("CALL_INTRINSIC_1", 2)
"""Since Python 3.12."""
_VARIABLES = frozenset({PlaceKind.READ, PlaceKind.WRITE, PlaceKind.ACCESS})


@dataclass(eq=False, slots=True)
class Spot:
    """A code object, and what is to be told while it runs."""

    code: CodeType
    names: tuple[str, ...]
    """With that of its module: `shop.Cart.add`. The main module has two names."""
    own: bool
    before: list[Place] = field(default_factory=list)
    after: list[Place] = field(default_factory=list)
    lines: dict[int, list[Place]] = field(default_factory=dict)
    catches: dict[int, list[Place]] = field(default_factory=dict)
    """By the first line of a handler."""
    accesses: dict[int, list[tuple[Place, Access]]] = field(default_factory=dict)
    updates: list[Place] = field(default_factory=list)
    stops: set[int] = field(default_factory=set)
    """Lines that have a point of the developer's."""
    meant: dict[Place, Callable[[object], bool]] = field(default_factory=dict)
    """Of places that name calls of it with certain objects only: is this first argument one?"""
    bindings: frozenset[int] = frozenset()
    """Of a module, the instructions after those that give something to a name that a place has a part of."""

    def is_meant(self, place: Place, frame: FrameType) -> bool:
        """Is the call that this frame is of one that a place names?"""
        meant = self.meant.get(place)
        return meant is None or not self.code.co_argcount or meant(frame.f_locals.get(self.code.co_varnames[0]))

    @property
    def wants_instructions(self) -> bool:
        return bool(self.accesses or self.bindings)

    @property
    def wants_lines(self) -> bool:
        return bool(self.lines or self.catches or self.updates or self.stops)


class Atlas:
    """All code that has been met, and every place that was ever asked for."""

    def __init__(self, script: str) -> None:
        self._script = script
        self.names = Names()
        self._meanings: dict[Place, dict[CodeType, Meaning]] = {}
        self._spots: dict[CodeType, Spot | None] = {}
        self._named: dict[Place, list[Spot]] = {}
        self._set: set[Place] = set()
        self._stops: Mapping[str, Collection[int]] = {}
        self._stopping: Collection[str] = ()

    def __getitem__(self, code: CodeType) -> Spot | None:
        return self._spots.get(code)

    def __contains__(self, code: CodeType) -> bool:
        return code in self._spots

    def __iter__(self) -> Iterator[Spot]:
        # Another thread may meet code meanwhile.
        return (spot for spot in list(self._spots.values()) if spot is not None)

    def meet(self, code: CodeType, module: object) -> Spot | None:
        """Code that runs for the first time; None if it is ours."""
        if is_ours(module):
            self._spots[code] = None
            return None
        own = module == MAIN or (is_own(code.co_filename) and not code.co_filename.startswith("<frozen"))
        spot = self._spots[code] = Spot(code, self.names.of(module, code.co_qualname), own)
        spot.bindings = self._bindings(code)
        for place, spots in self._named.items():
            if place in self._meanings and not self._meanings[place]:
                self._look_up(place)  # it may have got its name in a way that nobody sees
            if self._is_there(place, spot):
                spots.append(spot)
                if place in self._set:
                    self._put(place, spot)
        self._stop_in(spot)
        return spot

    def set(self, place: Place) -> list[Spot]:
        """From now on the place is wanted; the spots that change."""
        spots = self._named.get(place)
        modules: list[Spot] = []
        if spots is None:
            if place.kind is PlaceKind.CALL and "*" not in place.what:
                self._meanings[place] = {}
                self._look_up(place)
                modules = self._bind()
            spots = self._named[place] = [each for each in self if self._is_there(place, each)]
        if place not in self._set:
            self._set.add(place)
            for spot in spots:
                self._put(place, spot)
        return [*spots, *modules]

    def bound(self) -> list[Spot]:
        """A module has given something to a name; the spots that change."""
        changed = []
        for place in self._meanings:
            for code in self._look_up(place):
                spot = self._spots.get(code)
                if spot is not None and spot not in self._named[place]:
                    self._named[place].append(spot)
                    if place in self._set:
                        self._put(place, spot)
                    changed.append(spot)
        return changed

    def lack(self, place: Place) -> Lack | None:
        """Why nothing can have happened at a place, by what has run until now; None if it can."""
        if place not in self._meanings or self._look_up(place) or self._meanings[place] or self._named.get(place):
            return None
        return self.names.lack(place.what, [name for spot in self if spot.own for name in spot.names])

    def clear(self, place: Place) -> list[Spot]:
        self._set.discard(place)
        spots = self._named.get(place, [])
        for spot in spots:
            self._take(place, spot)
        return spots

    def stop_at(self, stops: Mapping[str, Collection[int]], functions: Collection[str]) -> None:
        """The developer's points now: lines by the real path of their file, and functions by name."""
        self._stops, self._stopping = stops, functions
        for spot in self:
            self._stop_in(spot)

    def _stop_in(self, spot: Spot) -> None:
        lines = self._stops.get(os.path.realpath(spot.code.co_filename), ()) if self._stops else ()
        spot.stops = {line for line in lines if line in lines_of(spot.code) or line == spot.code.co_firstlineno}
        if any(is_named(name, spot) for name in self._stopping):
            spot.stops.add(entry_of(spot.code)[1])

    # ---- what places name

    def _look_up(self, place: Place) -> list[CodeType]:
        """Code that a name has come to stand for."""
        known = self._meanings[place]
        new = [each for each in self.names.meanings(place.what) if each.code not in known]
        known.update((each.code, each) for each in new)
        return [each.code for each in new]

    def _bind(self) -> list[Spot]:
        """The modules that now give something to another name that matters."""
        changed = []
        for spot in self:
            bindings = self._bindings(spot.code)
            if bindings != spot.bindings:
                spot.bindings = bindings
                changed.append(spot)
        return changed

    def _bindings(self, code: CodeType) -> frozenset[int]:
        if code.co_name != "<module>":
            return frozenset()
        wanted = {part for place in self._meanings for part in place.what.split(".")}
        return frozenset(find_bindings(code, wanted)) if wanted else frozenset()

    def _is_there(self, place: Place, spot: Spot) -> bool:
        match place.kind:
            case PlaceKind.CALL:
                return is_named(place.what, spot) or spot.code in self._meanings.get(place, ())
            case PlaceKind.LINE:
                file, line = split_line(place.what, self._script)
                return spot.own and is_file(file, spot.code.co_filename) and line in lines_of(spot.code)
            case PlaceKind.CATCH:
                return spot.own and bool(handlers_of(spot.code))
            case PlaceKind.UPDATE:
                return spot.own
            case kind if kind in _VARIABLES:
                return spot.own and bool(find_accesses(place, spot.code, spot.names[0]))
        return False

    def _put(self, place: Place, spot: Spot) -> None:
        match place.kind:
            case PlaceKind.CALL:
                (spot.after if place.after else spot.before).append(place)
                meaning = self._meanings.get(place, {}).get(spot.code)
                if meaning is not None and meaning.meant is not None and not is_named(place.what, spot):
                    spot.meant[place] = meaning.meant
            case PlaceKind.LINE:
                spot.lines.setdefault(split_line(place.what, self._script)[1], []).append(place)
            case PlaceKind.CATCH:
                for line in handlers_of(spot.code):
                    spot.catches.setdefault(line, []).append(place)
            case PlaceKind.UPDATE:
                spot.updates.append(place)
            case _:
                for access in find_accesses(place, spot.code, spot.names[0]):
                    spot.accesses.setdefault(access.offset, []).append((place, access))

    @staticmethod
    def _take(place: Place, spot: Spot) -> None:
        for places in (spot.before, spot.after, spot.updates):
            if place in places:
                places.remove(place)
        spot.meant.pop(place, None)
        for table in (spot.lines, spot.catches):
            for line, places in list(table.items()):
                if place in places:
                    places.remove(place)
                if not places:
                    del table[line]
        for offset, pairs in list(spot.accesses.items()):
            pairs[:] = [pair for pair in pairs if pair[0] != place]
            if not pairs:
                del spot.accesses[offset]


def is_named(what: str, spot: Spot) -> bool:
    """Is it the function, or the class whose objects it makes, of this name?

    The program's own may be named without their module; those of libraries are named in full.
    """
    if not spot.code.co_flags & CO_OPTIMIZED:
        return False  # the body of a module or class
    names = {each for name in spot.names for each in (name, name.removesuffix(".__init__"))}
    patterns = (what, f"*.{what}") if spot.own else (what,)
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


def split_line(what: str, script: str) -> tuple[str, int]:
    """`file.py:12`, or `12` for the program itself."""
    file, _, line = what.rpartition(":")
    return file or script, int(line) if line.isdecimal() else 0


def is_file(named: str, path: str) -> bool:
    """Is this the path of the file that is named, maybe without its folder?"""
    return os.path.abspath(path) == os.path.abspath(named) or path.endswith(os.sep + named.removeprefix("./"))


def find_bindings(code: CodeType, names: Collection[str]) -> Iterator[int]:
    """The instructions after those that give something to one of these names, or to names that nobody knows."""
    binding = False
    for each in dis.get_instructions(code):
        if binding and each.opname != "CACHE":
            yield each.offset
        stores = each.opname in _STORES and each.argval in names
        binding = stores or each.opname == "IMPORT_STAR" or (each.opname, each.arg) == _IMPORT_STAR


def lines_of(code: CodeType) -> frozenset[int]:
    """The lines of code that begin an instruction."""
    return frozenset(line for _, _, line in code.co_lines() if line)


@cache
def entry_of(code: CodeType) -> tuple[int, int]:
    """Where a function begins, after what every function does first: the instruction, and its line."""
    begun = False
    for each in dis.get_instructions(code):
        line = each.positions.lineno if each.positions is not None else None
        if begun and line is not None:
            return each.offset, line
        begun = begun or (each.opname == "RESUME" and each.arg == 0)
    return 0, code.co_firstlineno


def handlers_of(code: CodeType) -> Mapping[int, tuple[str | None, bool]]:
    """Of every `except` in some code: the first line within, the exceptions that it is for, and whether that line is
    that of the `except` itself, so that it is reached by exceptions that it is not for."""
    lines = lines_of(code)
    return {
        node.body[0].lineno: (None if node.type is None else ast.unparse(node.type), node.lineno == node.body[0].lineno)
        for node in _handlers(code.co_filename)
        if node.body[0].lineno in lines
    }


_PARSED: dict[str, list[ast.ExceptHandler]] = {}


def _handlers(file: str) -> list[ast.ExceptHandler]:
    if file not in _PARSED:
        try:
            tree = ast.parse("".join(linecache.getlines(file)))
        except SyntaxError:
            tree = ast.Module([], [])
        _PARSED[file] = [node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)]
    return _PARSED[file]
