"""Stage 4: advice put where callables of a running program stand, and taken away again.

One place, a name in a module or class, has one advice, however many specs tap it. When the last of them goes, the
place is as it was. Whoever got hold of an advice in between keeps something that is the original in all but identity.
Nothing of the program is kept alive: a class, and a function that was deleted, die as they would without an advice.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterable, Iterator
from threading import RLock
from types import ModuleType
from typing import Any, Final, TypeAlias
from weakref import ref

from mopsus import _core
from mopsus.events.weave import bare
from mopsus.events.weave.joinpoints import Advised, Operation, Tap
from mopsus.events.weave.origin import is_ours

_MISSING: Final = object()
_ACCESSORS: Final = {Operation.GET: "fget", Operation.SET: "fset", Operation.DELETE: "fdel"}

Holder: TypeAlias = "ModuleType | type[Any]"
Obstacle: TypeAlias = str
"""Why no advice can stand at a place."""
Replaced: TypeAlias = "dict[int, tuple[object, object]]"
"""By its identity: something, and what is to stand wherever it is known."""


class Placements:
    """The advice of one weaving. All methods may be called from any thread."""

    def __init__(self) -> None:
        self._taps: dict[_Place, dict[Operation, list[Tap]]] = {}
        self._dead: list[_Place] = []

    def put(self, wanted: Iterable[Advised], *, everywhere: bool = True) -> list[Obstacle | None]:
        """Put advice at these places; for each None, or why it cannot be there.

        `everywhere`: names under which other loaded modules know the same functions are served too. It costs one search
        through all loaded modules, so that it is better to put many at once.
        """
        return _core.unobserved(self._put, wanted, everywhere)

    def undo(self) -> None:
        """Take everything away that was put here."""
        _core.unobserved(self._undo)

    def _put(self, wanted: Iterable[Advised], everywhere: bool) -> list[Obstacle | None]:
        with _lock:
            self._bury()
            fresh: Replaced = {}
            results = [self._put_one(each, fresh) for each in wanted]
            if everywhere:
                _replace_aliases(fresh)
            return results

    def _undo(self) -> None:
        with _lock:
            gone: Replaced = {}
            for place, taps in self._taps.items():
                for operation, mine in taps.items():
                    place.remove(operation, mine)
                gone.update(place.leave_if_unused())
            self._taps.clear()
            _replace_aliases(gone)

    def places(self) -> Iterator[tuple[object, str]]:
        """Where advice of this weaving stands: holder and name."""
        for place in self._taps:
            holder = place.holder()
            if holder is not None:
                yield holder, place.name

    def forget(self, place: _Place) -> None:
        """The holder of a place is dead. That may be at any time, so that it is only noted."""
        self._dead.append(place)

    def _bury(self) -> None:
        while self._dead:
            self._taps.pop(self._dead.pop(), None)

    def _put_one(self, wanted: Advised, fresh: Replaced) -> Obstacle | None:
        holder = _holder(wanted)
        if holder is None:
            return "there is no such attribute"
        place = _place_of(holder, wanted)
        obstacle = place.obstacle(holder, wanted.operation)
        if obstacle is not None:
            return obstacle
        mine = self._taps.setdefault(place, {}).setdefault(wanted.operation, [])
        if self not in place.users:
            place.users.append(self)
        new = [tap for tap in wanted.taps if tap not in mine]
        mine.extend(new)
        fresh.update(place.add(holder, wanted.operation, new))
        return None


class _Place:
    """A name of a module or class where something stands for what stood there, or will.

    What stood there is known to what stands there now, and to nobody else.
    """

    def __init__(self, holder: Holder, name: str, before: object, original: object) -> None:
        self.holder: ref[Holder] = ref(holder)
        self.name = name
        self.taps: dict[Operation, list[Tap]] = {}
        self.users: list[Placements] = []
        self.standing: ref[_core.StandIn] | None = None
        self.number = 0
        """The identity of what stands there."""
        self._wanted: tuple[object, object] | None = before, original
        """Until something stands for it: what stood there (`_MISSING`: nothing), and what is advised."""

    @property
    def _original(self) -> object:
        if self._wanted is not None:
            return self._wanted[1]
        standing = self.stand_in()
        return None if standing is None else _core.advised(standing)

    def stand_in(self) -> _core.StandIn | None:
        """What we put there, if it still is anywhere."""
        return None if self.standing is None else self.standing()

    def obstacle(self, holder: Holder, operation: Operation) -> Obstacle | None:
        what = self._original
        if operation is Operation.CALL:
            if bare.is_class(what):
                return "it is a class, and must stay one"
            if isinstance(what, property):
                return "it is a property: its uses are get, set and delete"
            inner = what.__func__ if isinstance(what, classmethod | staticmethod) else what
            if not callable(inner) and not bare.looked_up(inner, "__get__"):
                return "it cannot be called"
            if _is_fixed(holder) and (isinstance(what, types.WrapperDescriptorType) or self.name == "__new__"):
                return "operations of built-in types are not looked up by name"
            return "its attributes are watched already" if isinstance(self.stand_in(), _core.Accessor) else None
        if not bare.is_class(holder):
            return "attributes of modules are not found through anything that could be advised"
        if isinstance(what, property):
            return None if getattr(what, _ACCESSORS[operation]) is not None else f"the property has no {operation}"
        if not _is_data_descriptor(what):
            return "it is kept in the instances, not in the class"
        return "its calls are watched already" if isinstance(self.stand_in(), _core.Advice) else None

    def add(self, holder: Holder, operation: Operation, taps: list[Tap]) -> Replaced:
        """Serve these, too; gives what now stands for what, if that is new."""
        self.taps.setdefault(operation, []).extend(taps)
        if self._wanted is None:
            self._serve()
            return {}
        before, original = self._wanted
        self._wanted = None
        return self._stand(holder, operation, before, original)

    def _stand(self, holder: Holder, operation: Operation, before: object, original: object) -> Replaced:
        if operation is not Operation.CALL:
            accessor = _core.Accessor(original, before, self.name)
            self._known(holder, accessor)
            _assign(holder, self.name, accessor)
            return {}
        inner, kind, wrap = _opened(original, holder, self.name)
        advice = _core.Advice(inner, self.taps[operation], kind, self.name, before)
        self._known(holder, advice)
        _assign(holder, self.name, wrap(advice))
        # A function of a module that a class uses, too, is not known to the module by way of the class.
        shared = isinstance(holder, ModuleType) or "." in getattr(inner, "__qualname__", "")
        return {id(inner): (inner, advice)} if shared else {}

    def _known(self, holder: Holder, stand_in: _core.StandIn) -> None:
        self.adopt(holder, stand_in)
        self._serve()

    def adopt(self, holder: Holder, stand_in: _core.StandIn) -> None:
        """That stands here."""
        self.standing = ref(stand_in)
        self._wanted = None
        of_holder = _places.get(holder)
        (_places.set(holder, {}) if of_holder is None else of_holder)[self.name] = self
        self.number = id(stand_in)
        _owners[self.number] = self

    def _serve(self) -> None:
        standing = self.stand_in()
        if isinstance(standing, _core.Accessor):
            _core.serve_accessor(standing, *(self.taps.get(operation, ()) for operation in _ACCESSORS))
        elif standing is not None:
            _core.serve(standing, self.taps.get(Operation.CALL, ()))

    def remove(self, operation: Operation, taps: list[Tap]) -> None:
        left = self.taps[operation]
        for tap in taps:
            left.remove(tap)
        self._serve()

    def leave_if_unused(self) -> Replaced:
        """Put back what stood here when nobody taps it any more; gives what now stands for what."""
        if any(self.taps.values()):
            return {}
        holder, standing = self.holder(), self.stand_in()
        self._disown(holder)
        if standing is None:
            return {}
        # Somebody else may have put something here since; then the advice inside of it passes everything on.
        if holder is not None and _inside(_of(holder).get(self.name, _MISSING)) is standing:
            _assign(holder, self.name, _core.stood_before(standing))
        return {id(standing): (standing, _core.advised(standing))} if isinstance(standing, _core.Advice) else {}

    def _disown(self, holder: Holder | None) -> None:
        of_holder = None if holder is None else _places.get(holder)
        if of_holder is not None and of_holder.get(self.name) is self:
            del of_holder[self.name]
        if _owners.get(self.number) is self:
            del _owners[self.number]


_lock = RLock()
_owners: dict[int, _Place] = {}
"""By the identity of what stands there: the same may be known under several names."""


def _holder_died(places: dict[str, _Place], owners: dict[int, _Place] = _owners) -> None:
    # When the interpreter ends, names of this module may be gone already.
    for place in places.values():
        for user in place.users:
            user.forget(place)
        if owners.get(place.number) is place:
            del owners[place.number]


_places: bare.WeaklyById[Holder, dict[str, _Place]] = bare.WeaklyById(_holder_died)


def _place_of(holder: Holder, wanted: Advised) -> _Place:
    name = wanted.name
    before = _of(holder).get(name, _MISSING)
    inner = _inside(before)
    if isinstance(inner, _core.StandIn):
        known = _owners.get(id(inner))
        if known is not None and known.stand_in() is inner:
            return known
        if isinstance(inner, _core.Advice):
            # Put here by somebody who could not wait for us, while the module was being executed.
            original = _core.advised(inner)
            place = _Place(holder, name, original, original)
            place.adopt(holder, inner)
            place.taps[Operation.CALL] = list(_core.taps(inner))
            return place
    return _Place(holder, name, before, wanted.default if before is _MISSING else before)


def _of(holder: Holder) -> Any:  # noqa: ANN401 - a dictionary, or a view of one
    return bare.members(holder) if bare.is_class(holder) else vars(holder)


def _inside(what: object) -> object:
    """What class and static methods are made of, if that is ours; else the thing itself."""
    if isinstance(what, classmethod | staticmethod) and isinstance(what.__func__, _core.Advice):
        return what.__func__
    return what


def _holder(wanted: Advised) -> Holder | None:
    """The module or class in whose own dictionary the name is, or shall be."""
    holder, name = wanted.holder, wanted.name
    if bare.is_class(holder):
        if name in bare.members(holder) or wanted.default is not None:
            return holder
        return next((base for base in bare.bases(holder) if name in bare.members(base)), None)
    return holder if isinstance(holder, ModuleType) and name in vars(holder) else None


def _opened(what: object, holder: Holder, name: str) -> tuple[object, str, Callable[[_core.Advice], object]]:
    """What is called inside of an attribute, as a function or as a method, and how an advice takes its place."""
    if isinstance(what, staticmethod):
        # A class is made by a static method whose first argument says which.
        return what.__func__, "method" if name == "__new__" else "function", lambda advice: _like(what, advice)
    if isinstance(what, classmethod):
        return what.__func__, "method", lambda advice: _like(what, advice)
    if isinstance(what, types.ClassMethodDescriptorType):
        return what, "method", classmethod
    binds = bare.looked_up(what, "__get__") and not isinstance(what, types.MethodType)
    return what, "method" if binds and bare.is_class(holder) else "function", _itself


def _itself(advice: _core.Advice) -> object:
    return advice


def _like(what: classmethod[Any, Any, Any] | staticmethod[Any, Any], advice: _core.Advice) -> object:
    """A class or static method as another, with the attributes that somebody gave to that one."""
    kind: Any = classmethod if isinstance(what, classmethod) else staticmethod
    made = kind.__new__(type(what))
    kind.__init__(made, advice)
    made.__dict__.update(what.__dict__)
    return made


def _is_data_descriptor(what: object) -> bool:
    return bare.looked_up(what, "__get__") and bare.looked_up(what, "__set__")


def _is_fixed(holder: object) -> bool:
    """Whether it is a type that refuses assignment to its attributes."""
    return bare.is_class(holder) and not bare.is_open(holder)


def _assign(holder: Holder, name: str, value: object) -> None:
    if not bare.is_class(holder):
        if value is _MISSING:
            del vars(holder)[name]
        else:
            vars(holder)[name] = value
    elif _is_fixed(holder):
        _core.set_type_attribute(holder, name, *(() if value is _MISSING else (value,)))
    else:
        _assign_to_class(holder, name, value)


def _assign_to_class(holder: type, name: str, value: object) -> None:
    # A metaclass may refuse: enumerations do. Nothing of what it guards is changed.
    direct, asking = (type.__delattr__, delattr) if value is _MISSING else (type.__setattr__, setattr)
    arguments = (name,) if value is _MISSING else (name, value)
    try:
        direct(holder, *arguments)
    except TypeError:  # one that was made in C, such as that of `ctypes`, insists on doing it
        asking(holder, *arguments)


def _replace_aliases(replaced: Replaced) -> None:
    """In all loaded modules, let names that mean one thing mean another."""
    if not replaced:
        return
    for module_name, module in list(sys.modules.items()):
        names = getattr(module, "__dict__", None)
        # Our own modules are not part of the program.
        if not isinstance(names, dict) or is_ours(module_name):
            continue
        for name, value in list(names.items()):
            if id(value) in replaced:
                names[name] = replaced[id(value)][1]
            elif type(value) is types.MethodType and id(value.__func__) in replaced:
                names[name] = types.MethodType(replaced[id(value.__func__)][1], value.__self__)  # type: ignore[arg-type]  # an advice
