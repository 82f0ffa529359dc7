"""Stage 4: what is made, in the process of the monitors, of values that were sent from the program.

Numbers, texts, tuples, lists, mappings and the terms of logs arrive as they are. Classes of the program are not there;
a class of the same name and fields stands for a named tuple or frozen dataclass, an enumeration with the one member for
a member. Any other object arrives as a mark of its identity, which is the same one for the same object.
"""

from __future__ import annotations

import keyword
from collections import namedtuple
from collections.abc import Callable
from dataclasses import make_dataclass
from enum import Enum
from functools import lru_cache
from weakref import WeakValueDictionary

from mopsus import _core
from mopsus.events.component.occurrence import Function, Kind, Occurrence
from mopsus.model.term import Atom, Pid, Reference, String

JOINED, GAP = 5, 6
"""Frames that are no occurrence, by their kind: a component that was there already, as its init; and lost events, as a
mapping from components to how many, or None if it is not known whose."""

_DATA = 16
"""The tag of a dataclass."""
_MEMBERS = 4096


class Opaque:
    """An object of the program: its class and its address there. Equal means identical."""

    __slots__ = ("__weakref__", "text")

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


_opaque: WeakValueDictionary[str, Opaque] = WeakValueDictionary()


def opaque(text: str) -> Opaque:
    """The mark of that text."""
    known = _opaque.get(text)
    if known is None:
        known = _opaque[text] = Opaque(text)
    return known


def make_shape(tag: int, name: str, fields: tuple[str, ...]) -> Callable[..., object]:
    """A class with these fields; `ValueError` if there can be none."""
    for word in (name, *fields):
        if not word.isidentifier() or keyword.iskeyword(word) or word.startswith("__"):
            raise ValueError(word)
    if tag == _DATA:
        return make_dataclass(name, fields, frozen=True)
    return namedtuple(name, fields)


@lru_cache(_MEMBERS, typed=True)
def make_member(owner: str, name: str, value: object) -> Enum:
    """The only member of an enumeration."""
    kind = Enum(owner, {name: value})  # type: ignore[misc]  # the names come from elsewhere
    return kind[name]


_core.use_wire(
    (
        Occurrence,
        Function,
        tuple(Kind),
        Atom,
        Pid,
        Reference,
        String,
        Enum,
        make_shape,
        make_member,
        opaque,
    )
)
