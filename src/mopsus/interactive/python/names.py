"""What the names of functions stand for in the modules that are loaded: the code that runs when they are called.

Nothing of the program runs to find that out. A name may lead through packages that hand on what their modules define,
through classes that inherit it, and through whatever wraps a function.
"""

from __future__ import annotations

import functools
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from types import CellType, CodeType, FunctionType, GetSetDescriptorType, MethodType, ModuleType
from typing import Any, cast

from mopsus.events.weave.origin import is_ours, is_own

Thing = Any
"""Whatever a name may lead to."""

MAIN = "__main__"
_NOTHING = object()
_LAYERS = 50
"""Wrappers around each other, at the most."""
_ACCESSORS = frozenset({"fget", "fset", "fdel"})


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a name stands for."""

    code: CodeType
    meant: Callable[[object], bool] | None = None
    """Of code that other names stand for, too: is a call with this first argument one by this name?"""


@dataclass(frozen=True, slots=True)
class Lack:
    """Why a name stands for no code, in words that say what there is instead."""

    text: str
    possible: bool = False
    """Might it be there in another run of the program?"""


class Names:
    """The names that a program's functions have, its own with or without their module."""

    program: str | None = None
    """The name by which the main module would be imported."""

    def __init__(self) -> None:
        self._own: dict[str, bool] = {}

    def of(self, module: object, qualname: str) -> tuple[str, ...]:
        """The full names of a function, by where it is defined."""
        name = qualname.replace(".<locals>", "")
        modules = [module, self.program] if module == MAIN and self.program is not None else [module]
        return tuple(f"{each}.{name}" for each in modules)

    def meanings(self, what: str) -> Iterator[Meaning]:
        """All that a name stands for now."""
        for module, rest in self._ways(what.split(".")):
            thing, heir = _walk(module, rest)
            name = rest[-1]
            if _is(thing, type):
                thing, heir, name = _constructor(thing)
            code = _code(thing, name)
            if code is not None:
                yield Meaning(code, _whose(thing, heir))

    def lack(self, what: str, met: Sequence[str]) -> Lack:
        """Why a name stands for no code; `met` are the names of functions that have run."""
        parts = what.split(".")
        for module, rest in self._ways(parts):
            at: object = module
            for count, part in enumerate(rest):
                after, _ = _walk(at, [part])
                if after is _NOTHING:
                    within = ".".join(parts[: len(parts) - len(rest) + count]) or "the program"
                    return Lack(f"{within} has no {part}{_near(part, _listed(at, part))}")
                at = after
            return Lack(f"{what} is {_described(at)}, whose calls are not seen; name the function that calls it")
        first = parts[0]
        if len(parts) > 1 and not any(first in name.split(".") for name in met):
            possible = importlib.util.find_spec(first) is not None
            near = "" if possible else _near(first, list(sys.modules))
            return Lack(f"the program loaded no module {first}{near}", possible)
        return Lack(f"the program has no function {what}{_near(what, [*met, *_without_module(met)])}")

    def _ways(self, parts: Sequence[str]) -> Iterator[tuple[ModuleType, Sequence[str]]]:
        """Modules in which to look, each with what to look for: those whose name it begins with, and the own ones."""
        for count in range(len(parts) - 1, 0, -1):
            name = ".".join(parts[:count])
            for module in (name, MAIN) if name == self.program else (name,):
                found: Thing = sys.modules.get(module)
                if _is(found, ModuleType):
                    yield found, parts[count:]
        for name, each in list(sys.modules.items()):
            if _is(each, ModuleType) and parts[0] in vars(each) and self._is_own(name, each):
                yield each, parts

    def _is_own(self, name: str, module: ModuleType) -> bool:
        if name not in self._own:
            file = vars(module).get("__file__")
            self._own[name] = name == MAIN or (isinstance(file, str) and is_own(file) and not is_ours(name))
        return self._own[name]


# ---- from a module to code. What is met may be any object, and is asked for nothing but its real type.


def _walk(at: Thing, parts: Sequence[str]) -> tuple[Thing, type | None]:
    """What some names lead to, and the class that has inherited it, if one has."""
    heir = None
    for part in parts:
        before, at, heir = at, _NOTHING, None
        if _is(before, ModuleType):
            space = vars(before)
            at = space.get(part, sys.modules.get(f"{space.get('__name__')}.{part}", _NOTHING))
        elif _is(before, type):
            home = next((each for each in type.mro(before) if part in vars(each)), None)
            if home is not None:
                at, heir = vars(home)[part], None if home is before else before
        elif _is(before, property) and part in _ACCESSORS:
            at = getattr(before, part)
        elif (code := _code(before)) is not None:
            at = next((each for each in code.co_consts if _is(each, CodeType) and each.co_name == part), _NOTHING)
    return at, heir


def _whose(thing: Thing, heir: type | None) -> Callable[[object], bool] | None:
    """Which first argument a call has that is meant, if calls of the code may be others, too."""
    if _is(thing, MethodType):
        receiver = thing.__self__
        return lambda first: first is receiver
    if heir is None or _is(thing, staticmethod):
        return None
    cls = heir
    return lambda first: cls in type.mro(cast(type, first) if _is(first, type) else type(first))


def _constructor(cls: type) -> tuple[object, type | None, str]:
    """What runs when an object of a class is made."""
    for name in ("__init__", "__new__"):
        found, heir = _walk(cls, [name])
        if _code(found, name) is not None:
            return found, heir, name
    return _NOTHING, None, ""


def _code(thing: Thing, name: str | None = None) -> CodeType | None:
    """The code behind whatever wraps it: of a function with this name, if something holds one without a word."""
    if _is(thing, CodeType):
        return cast(CodeType, thing)
    *_, thing = _layers(thing)
    own: CodeType | None = thing.__code__ if _is(thing, FunctionType) else None
    if name is None or (own is not None and own.co_name == name):
        return own
    held = (inner for each in _held(thing) for inner in _layers(each) if _is(inner, FunctionType))
    return next((each.__code__ for each in held if each.__code__.co_name == name), own)


def _layers(thing: Thing) -> Iterator[Thing]:
    """A wrapper, what it says that it wraps, and so on."""
    for _ in range(_LAYERS):
        yield thing
        if _is(thing, property):
            thing = thing.fget
        elif _is(thing, staticmethod, classmethod, MethodType):
            thing = thing.__func__
        elif _is(thing, functools.partial, functools.partialmethod, functools.cached_property):
            thing = thing.func
        elif not _is(thing, type) and (inner := inspect.getattr_static(thing, "__wrapped__", _NOTHING)) is not _NOTHING:
            thing = inner
        else:
            return


def _held(thing: Thing) -> Iterator[object]:
    """What a function or an object keeps for itself: in its closure, or in its attributes."""
    if _is(thing, FunctionType):
        yield from (_content(cell) for cell in thing.__closure__ or ())
        return
    spaces = (vars(each)["__dict__"] for each in type.mro(type(thing)) if "__dict__" in vars(each))
    found: Thing = next(spaces, None)
    if _is(found, GetSetDescriptorType):
        yield from list(found.__get__(thing).values())


def _content(cell: CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        return None


def _is(thing: object, *types: type) -> bool:
    """Is it one of these? Unlike `isinstance`, this does not ask the object itself."""
    return issubclass(type(thing), types)


# ---- in words


def _listed(at: Thing, part: str) -> list[str]:
    """The names in a module, class or function."""
    names: list[str] = []
    if _is(at, type):
        names = [name for cls in type.mro(at) for name in vars(cls)]
    elif _is(at, ModuleType):
        names = list(vars(at))
    elif (code := _code(at)) is not None:
        names = [each.co_name for each in code.co_consts if _is(each, CodeType)]
    return [name for name in names if not name.startswith("_") or part.startswith("_")]


def _described(thing: Thing) -> str:
    if _is(thing, type):
        return "a class without a constructor in Python"
    if callable(thing):
        return "no function in Python"
    return f"no function, but {type(thing).__name__} data"


def _without_module(names: Sequence[str]) -> list[str]:
    return [name.partition(".")[2] for name in names]


def _near(name: str, names: Sequence[str]) -> str:
    near = dict.fromkeys(get_close_matches(name, names, 3))
    return f"; there is {', '.join(near)}" if near else ""
