"""Stage 4: methods for classes that have none of their own, for advice to stand on.

They do what would be done without them. A class that is pickled by value takes them along, to where nobody knows of us:
they refer to nothing but the class and what Python itself has.
"""

from __future__ import annotations

import builtins
import typing
from collections.abc import Callable
from types import FunctionType
from typing import TypeVar
from weakref import WeakSet

F = TypeVar("F", bound=Callable[..., object])

PROTOCOL_INIT: FunctionType | None = getattr(typing, "_no_init_or_replace_init", None)
"""What protocols have as `__init__`: it looks for the one to call by comparing all with itself, so it must stay."""
_MADE: WeakSet[FunctionType] = WeakSet()


def is_inherited(function: object) -> bool:
    """Does the class that has this count as having none of its own?"""
    return type(function) is FunctionType and (function in _MADE or function is PROTOCOL_INIT)


def inherited_init(cls: type) -> FunctionType:
    """An `__init__` that calls the next one.

    Which that is depends on the object: in a subclass with several bases another one may come next.
    """
    of_protocols = PROTOCOL_INIT

    def __init__(self: object, *arguments: object, **named: object) -> None:
        following = getattr(super(cls, self), "__init__")  # noqa: B009 - checkers do not know a class that varies
        if of_protocols is not None and getattr(following, "__func__", None) is of_protocols:
            of_types = type.__dict__  # not what a metaclass says
            for base in of_types["__mro__"].__get__(type(self)):
                found = of_types["__dict__"].__get__(base).get("__init__", of_protocols)
                if found is not of_protocols and getattr(found, "__code__", None) != code:
                    following = found.__get__(self, type(self))
                    break
        last = getattr(following, "__objclass__", None) is object
        if last and type(self).__new__ is not object.__new__:
            return  # the arguments are for `__new__`; without an `__init__` there would be no complaint
        following(*arguments, **named)

    code = __init__.__code__
    return _alone(__init__)


def inherited_del(cls: type) -> FunctionType:
    """A `__del__` that calls the next one, if there is one."""

    def __del__(self: object) -> None:
        following = getattr(super(cls, self), "__del__", None)
        if following is not None:
            following()

    return _alone(__del__)


def _alone(function: Callable[..., None]) -> FunctionType:
    """The function without the names of this module."""
    assert isinstance(function, FunctionType)
    space = {"__name__": "builtins", "__builtins__": builtins}  # C code that warns imports by these
    made = FunctionType(function.__code__, space, function.__name__, None, function.__closure__)
    _MADE.add(made)
    return made
