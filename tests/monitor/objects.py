"""Objects of many types to be monitored and to die, and programs made of them at random."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any


class Plain:
    """Can be weakly referenced."""


class Slotted:
    """Has neither a dictionary nor room for weak references."""

    __slots__ = ("next",)


class SubList(list):  # type: ignore[type-arg] # what it holds does not matter
    """A builtin's subclass: can be weakly referenced, unlike the builtin."""


class SlottedList(list):  # type: ignore[type-arg] # as above
    """A builtin's subclass that, like the builtin, cannot be weakly referenced."""

    __slots__ = ()


class Deletable:
    """Runs code of its own when it dies."""

    def __del__(self) -> None:
        self.gone = True


def _generator() -> Iterator[int]:
    yield 1


KINDS: dict[str, Callable[[], Any]] = {
    "plain": Plain,
    "slotted": Slotted,
    "object": object,
    "with __del__": Deletable,
    "list": list,
    "list subclass": SubList,
    "slotted list subclass": SlottedList,
    "dict": dict,
    "set": set,
    "bytearray": bytearray,
    "tuple of an object": lambda: (object(),),
    "generator": _generator,
    "list iterator": lambda: iter([1, 2]),
    "dict iterator": lambda: iter({1: 2}),
    "dict items": lambda: {1: 2}.items(),
    "tuple iterator": lambda: iter((1, 2)),
    "str iterator": lambda: iter("text"),
    "set iterator": lambda: iter({1, 2}),
    "range iterator": lambda: iter(range(3)),
    "reversed": lambda: reversed([1, 2]),
    "enumerate": lambda: enumerate([1, 2]),
    "zip": lambda: zip([1], [2], strict=True),
    "map": lambda: map(str, [1]),
    "bound builtin method": lambda: [].append,
    "bound method": lambda: Deletable().__del__,
    "function": lambda: lambda: None,
    "file": lambda: io.BytesIO(b""),
}
"""Makers of a fresh object, by the name of its kind."""


def cyclic(kind: str) -> Any:
    """An object that only the cycle collector can find dead."""
    thing = KINDS[kind]()
    if isinstance(thing, list):
        thing.append(thing)
    elif isinstance(thing, dict):
        thing["self"] = thing
    elif isinstance(thing, Plain | Slotted):
        thing.next = thing  # type: ignore[union-attr] # a plain object takes any attribute
    return thing


CYCLIC = ("plain", "slotted", "list", "list subclass", "slotted list subclass", "dict")
