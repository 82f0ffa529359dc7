"""Stage 4: what classes and values are, found out without running any code of the program.

A metaclass may say anything of its classes, by `__getattribute__`, `__eq__`, `__hash__` or a `__dict__` of its own, and
an object may say that it is of any class. Whoever weaves must not ask them: the answer could be wrong, an error, or
change the program. Here only the interpreter is asked.
"""

from __future__ import annotations

from _abc import _get_dump  # type: ignore[import-not-found]
from collections.abc import Callable, Mapping
from types import FunctionType, SimpleNamespace
from typing import Any, Generic, TypeGuard, TypeVar, cast
from weakref import ref

K = TypeVar("K")
V = TypeVar("V")

_OF_TYPES = type.__dict__
_mro = _OF_TYPES["__mro__"].__get__
_dict = _OF_TYPES["__dict__"].__get__
_name = _OF_TYPES["__name__"].__get__
_qualname = _OF_TYPES["__qualname__"].__get__
_flags = _OF_TYPES["__flags__"].__get__
_HEAP, _IMMUTABLE, _METHOD_DESCRIPTOR = 1 << 9, 1 << 8, 1 << 17


def is_class(value: object) -> TypeGuard[type]:
    """Is it a class, and not just something that says so?"""
    return type in _mro(type(value))


def bases(cls: type) -> tuple[type, ...]:
    """The class and all its bases, in the order in which attributes are looked for."""
    return cast("tuple[type, ...]", _mro(cls) or (cls,))


def members(cls: type) -> Mapping[str, Any]:
    """What stands in the class itself."""
    return cast("Mapping[str, Any]", _dict(cls) or {})


def registered(cls: type) -> list[type]:
    """The classes that were registered with an abstract class by `register`, in the order of their names."""
    kept = None if type(cls) is type else members(cls).get("_abc_impl")
    if kept is None:
        return []
    try:
        registry = _get_dump(SimpleNamespace(_abc_impl=kept))[0]
    except TypeError:  # something else that the program calls so
        return []
    alive = [each for each in (weak() for weak in registry) if each is not None]
    return sorted(alive, key=lambda each: (module_name(each), qualname(each)))


def name(cls: type) -> str:
    """Its name."""
    return cast(str, _name(cls))


def qualname(cls: type) -> str:
    """Its name, and those of what it was defined in."""
    return cast(str, _qualname(cls))


def module_name(cls: type) -> str:
    """The name of the module that it was defined in."""
    found = members(cls).get("__module__") if _flags(cls) & _HEAP else None
    if found is None:
        found = _OF_TYPES["__module__"].__get__(cls) if not _flags(cls) & _HEAP else "builtins"
    return found if isinstance(found, str) else "builtins"


def looked_up(value: object, attribute: str) -> bool:
    """Does the type of a value have a special method of that name?"""
    return any(attribute in members(base) for base in bases(type(value)))


def is_function_like(value: object) -> bool:
    """Does it become a method of an instance just as a function does?"""
    return bool(_flags(type(value)) & _METHOD_DESCRIPTOR)


def is_open(cls: type) -> bool:
    """Can attributes of the class be replaced, special methods included?"""
    return bool(_flags(cls) & _HEAP) and not _flags(cls) & _IMMUTABLE


def module_of(value: object) -> str:
    """The name of the module that a class or function says it is of."""
    if is_class(value):
        return module_name(value)
    found = value.__module__ if isinstance(value, FunctionType) else getattr(value, "__module__", None)
    return found if isinstance(found, str) else "builtins"


class WeaklyById(Generic[K, V]):
    """Something for each of some objects, as long as they live. `died` is told what was known of one that has died."""

    def __init__(self, died: Callable[[V], object] = lambda value: None) -> None:
        self._by_id: dict[int, tuple[ref[K], V]] = {}
        self._died = died

    def get(self, key: K) -> V | None:
        """What is known of an object."""
        found = self._by_id.get(id(key))
        return None if found is None else found[1]

    def set(self, key: K, value: V) -> V:
        """Know that of an object."""
        number, by_id, died = id(key), self._by_id, self._died

        def forget(kept: ref[K]) -> None:
            found = by_id.get(number)
            if found is not None and found[0] is kept:
                del by_id[number]
                died(found[1])

        by_id[number] = ref(key, forget), value
        return value
