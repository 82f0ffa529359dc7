"""Stage 4: advice put where callables of a running program stand, and taken away again.

One place, a name in a module or class, has one advice, however many specs tap it. When the last of them goes, the
place is as it was. Whoever got hold of an advice in between keeps something that is the original in all but identity.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from threading import RLock
from types import ModuleType
from typing import Any, Final, TypeAlias

from mopsus import _core
from mopsus.events.weave.joinpoints import Advised, Operation, Tap

_MISSING: Final = object()
_IMMUTABLE: Final = 1 << 8
_HEAP: Final = 1 << 9
_ACCESSORS: Final = {Operation.GET: "fget", Operation.SET: "fset", Operation.DELETE: "fdel"}
_REPLACERS: Final = {Operation.GET: "getter", Operation.SET: "setter", Operation.DELETE: "deleter"}

Holder: TypeAlias = "ModuleType | type[Any]"
Obstacle: TypeAlias = str
"""Why no advice can stand at a place."""


class Placements:
    """The advice of one weaving. All methods may be called from any thread."""

    def __init__(self) -> None:
        self._taps: dict[_Place, dict[Operation, list[Tap]]] = {}

    def put(self, wanted: Iterable[Advised]) -> list[Obstacle | None]:
        """Put advice at these places; for each None, or why it cannot be there.

        Names under which other loaded modules know the same functions are served too. It costs one search through all
        loaded modules, so that it is better to put many at once.
        """
        with _lock:
            fresh: dict[int, tuple[object, object]] = {}
            results = [self._put_one(each, fresh) for each in wanted]
            _replace_aliases(fresh)
            return results

    def undo(self) -> None:
        """Take everything away that was put here."""
        with _lock:
            gone: dict[int, tuple[object, object]] = {}
            for place, taps in self._taps.items():
                for operation, mine in taps.items():
                    place.remove(operation, mine)
                gone.update(place.leave_if_unused())
            self._taps.clear()
            _replace_aliases(gone)

    def places(self) -> Iterator[tuple[object, str]]:
        """Where advice of this weaving stands: holder and name."""
        yield from ((place.holder, place.name) for place in self._taps)

    def _put_one(self, wanted: Advised, fresh: dict[int, tuple[object, object]]) -> Obstacle | None:
        found = _place_of(wanted)
        if isinstance(found, str):
            return found
        obstacle = found.obstacle(wanted.operation)
        if obstacle is not None:
            return obstacle
        mine = self._taps.setdefault(found, {}).setdefault(wanted.operation, [])
        new = [tap for tap in wanted.taps if tap not in mine]
        mine.extend(new)
        fresh.update(found.add(wanted.operation, new))
        return None


@dataclass(eq=False)
class _Place:
    """A name of a module or class where advice stands, or will."""

    holder: Holder
    name: str
    before: object
    """What stood there in the dictionary of the holder; `_MISSING`: nothing."""
    original: object
    """What is advised: `before`, unless there was none."""
    standing: object = _MISSING
    """What we put there."""
    advice: dict[Operation, _core.Advice] = field(default_factory=dict)
    taps: dict[Operation, list[Tap]] = field(default_factory=dict)

    def obstacle(self, operation: Operation) -> Obstacle | None:
        what = self.original
        if operation is Operation.CALL:
            if isinstance(what, type):
                return "it is a class, and must stay one"
            if isinstance(what, property):
                return "it is a property: its uses are get, set and delete"
            if not callable(what) and not hasattr(type(what), "__get__"):
                return "it cannot be called"
            if _is_fixed(self.holder) and (isinstance(what, types.WrapperDescriptorType) or self.name == "__new__"):
                return "operations of built-in types are not looked up by name"
            return None
        if not isinstance(self.holder, type):
            return "attributes of modules are not found through anything that could be advised"
        if isinstance(what, property):
            return None if getattr(what, _ACCESSORS[operation]) is not None else f"the property has no {operation}"
        if _is_data_descriptor(what):
            return None
        return "it is kept in the instances, not in the class"

    def add(self, operation: Operation, taps: list[Tap]) -> dict[int, tuple[object, object]]:
        """Serve these, too; gives what now stands for what, if that is new."""
        served = self.taps.setdefault(operation, [])
        served.extend(taps)
        if operation in self.advice:
            _core.serve(self.advice[operation], served)
            return {}
        base = self.original if self.standing is _MISSING else self.standing
        inner, kind, wrap = _opened(base, operation, self.holder, self.name)
        advice = _core.Advice(inner, served, kind, self.name)
        self.advice[operation] = advice
        self.standing = wrap(advice)
        _assign(self.holder, self.name, self.standing)
        _places[id(self.holder), self.name] = self
        _owners[id(advice)] = self
        # A function of a module that a class uses, too, is not known to the module by way of the class.
        shared = isinstance(self.holder, ModuleType) or "." in getattr(inner, "__qualname__", "")
        return {id(inner): (inner, advice)} if operation is Operation.CALL and shared else {}

    def remove(self, operation: Operation, taps: list[Tap]) -> None:
        left = self.taps[operation]
        for tap in taps:
            left.remove(tap)
        _core.serve(self.advice[operation], left)

    def leave_if_unused(self) -> dict[int, tuple[object, object]]:
        """Put back what stood here when nobody taps it any more; gives what now stands for what."""
        if any(self.taps.values()):
            return {}
        # Somebody else may have put something here since; then the advice inside of it passes everything on.
        if vars(self.holder).get(self.name, _MISSING) is self.standing:
            _assign(self.holder, self.name, self.before)
        _places.pop((id(self.holder), self.name), None)
        for advice in self.advice.values():
            _owners.pop(id(advice), None)
        return {id(advice): (advice, _core.advised(advice)) for advice in self.advice.values()}


_lock = RLock()
_places: dict[tuple[int, str], _Place] = {}
_owners: dict[int, _Place] = {}
"""By the identity of their advice: the same may be known under several names."""


def _place_of(wanted: Advised) -> _Place | Obstacle:
    holder, name = _holder(wanted), wanted.name
    if holder is None:
        return "there is no such attribute"
    known = _places.get((id(holder), name))
    if known is not None:
        return known
    before = vars(holder).get(name, _MISSING)
    if isinstance(before, _core.Advice):
        if id(before) in _owners:
            return _owners[id(before)]
        # Put here by somebody who could not wait for us, while the module was being executed.
        original = _core.advised(before)
        place = _Place(holder, name, original, original, before, {Operation.CALL: before})
        place.taps[Operation.CALL] = list(_core.taps(before))
        _places[id(holder), name] = _owners[id(before)] = place
        return place
    return _Place(holder, name, before, wanted.default if before is _MISSING else before)


def _holder(wanted: Advised) -> Holder | None:
    """The module or class in whose own dictionary the name is, or shall be."""
    holder, name = wanted.holder, wanted.name
    if not isinstance(holder, ModuleType | type):
        return None
    if name in vars(holder) or wanted.default is not None:
        return holder
    bases = holder.__mro__ if isinstance(holder, type) else ()
    return next((base for base in bases if name in vars(base)), None)


def _opened(what: object, operation: Operation, holder: Holder, name: str) -> tuple[object, str, Callable[..., object]]:
    """What is called inside of an attribute, as a function or as a method, and how an advice takes its place."""
    if operation is not Operation.CALL:
        parts = what if isinstance(what, property) else _as_property(what)
        return getattr(parts, _ACCESSORS[operation]), "method", getattr(parts, _REPLACERS[operation])
    if isinstance(what, staticmethod):
        # A class is made by a static method whose first argument says which.
        return what.__func__, "method" if name == "__new__" else "function", type(what)
    if isinstance(what, classmethod):
        return what.__func__, "method", type(what)
    if isinstance(what, types.ClassMethodDescriptorType):
        return what, "method", classmethod
    binds = hasattr(type(what), "__get__") and not isinstance(what, types.MethodType)
    return what, "method" if binds and isinstance(holder, type) else "function", _itself


def _itself(advice: _core.Advice) -> object:
    return advice


def _as_property(what: object) -> property:
    """A slot, or any other descriptor of data, in a form whose parts can be advised."""
    names = "__get__", "__set__", "__delete__", "__doc__"
    return property(*(getattr(what, name, None) for name in names))


def _is_data_descriptor(what: object) -> bool:
    return hasattr(type(what), "__get__") and hasattr(type(what), "__set__")


def _is_fixed(holder: object) -> bool:
    """Whether it is a type that refuses assignment to its attributes."""
    return isinstance(holder, type) and (bool(holder.__flags__ & _IMMUTABLE) or not holder.__flags__ & _HEAP)


def _assign(holder: Holder, name: str, value: object) -> None:
    if not isinstance(holder, type):
        if value is _MISSING:
            del vars(holder)[name]
        else:
            vars(holder)[name] = value
    elif _is_fixed(holder):
        _core.set_type_attribute(holder, name, *(() if value is _MISSING else (value,)))
    elif value is _MISSING:
        type.__delattr__(holder, name)
    else:
        # A metaclass may refuse: enumerations do. Nothing of what it guards is changed.
        type.__setattr__(holder, name, value)


def _replace_aliases(replaced: dict[int, tuple[object, object]]) -> None:
    """In all loaded modules, let names that mean one thing mean another. `replaced`: by identity, what and by what."""
    if not replaced:
        return
    for module_name, module in list(sys.modules.items()):
        names = getattr(module, "__dict__", None)
        # Our own modules are not part of the program.
        if not isinstance(names, dict) or module_name.partition(".")[0] == "mopsus":
            continue
        for name, value in list(names.items()):
            if id(value) in replaced:
                names[name] = replaced[id(value)][1]
            elif type(value) is types.MethodType and id(value.__func__) in replaced:
                names[name] = types.MethodType(replaced[id(value.__func__)][1], value.__self__)  # type: ignore[arg-type]  # an advice
