"""Stage 1: messages as bytes, and back, from nothing but the hints of dataclasses.

A message is an instance of a dataclass, and travels as JSON under the name of its class. `unpack` makes only objects of
the classes that were asked for and of those that their hints name, and refuses whatever does not fit the hints: nothing
that comes is executed. It needs no package, so that it works inside of debuggers, too.

Fields may be texts, numbers, truth values, None, `StrEnum`s, dataclasses, `Value`s of monitors, `Any` for plain data of
JSON, and tuples, lists, sequences and mappings of these; of several kinds by `|`, at most one that is none of JSON's
own scalars. Mappings have texts or integers as keys.
"""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from functools import cache
from typing import Any, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints, overload

from mopsus.bus.messages import BusError
from mopsus.bus.values import pack_value, unpack_value
from mopsus.model.errors import UNDECODABLE

T = TypeVar("T")
Convert: TypeAlias = "Callable[[Any], Any]"

_SCALARS = (str, int, float, bool, type(None))
_NAMES = {str: "a text", int: "an integer", float: "a number", bool: "a truth value", type(None): "nothing"}


class _AnyValue:
    """What the hint `Value` is read as: it is a union that contains itself."""


def pack(message: object) -> bytes:
    """An instance of a dataclass as ASCII. Values of monitors that nothing else knows arrive as their `repr`."""
    return _encode({type(message).__name__: message}).encode("ascii")


@overload
def unpack(kind: type[T], data: bytes | str) -> T: ...
@overload
def unpack(kind: types.UnionType, data: bytes | str) -> Any: ...  # noqa: ANN401 - one of its members
def unpack(kind: Any, data: bytes | str) -> Any:
    """What `pack` was given, if it is of this class, or of one of these: `unpack(Ready | Failed, data)`. `BusError` if
    it is anything else."""
    try:
        found = _decode(data)
    except UNDECODABLE as error:
        raise BusError(f"what came cannot be read: {error}", code="BUS-004") from None
    kinds: dict[str, Hashable] = {each.__name__: each for each in get_args(kind) or (kind,)}
    name = next(iter(found)) if isinstance(found, dict) and len(found) == 1 else ""
    if name not in kinds:
        raise BusError(f"what came is not {' or '.join(kinds)}", code="BUS-004")
    try:
        return _dataclass_reader(kinds[name])(found[name])
    except _MisfitError as error:
        raise BusError(f"what came does not fit: {'.'.join((name, *error.path))}: {error}", code="BUS-004") from None


class _MisfitError(ValueError):
    """Data that does not fit a hint, and where in the message that is."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.path: list[str] = []

    def inside(self, name: object) -> _MisfitError:
        """The same, seen from what contains it."""
        self.path.insert(0, str(name))
        return self


# ---- to plain data


def _members(part: Any) -> dict[str, Any]:  # noqa: ANN401 - any dataclass
    """Of what JSON has no form for: a dataclass. Most have no field whose type needs a form of its own."""
    names, formed = _fields(part.__class__)
    members = {name: getattr(part, name) for name in names}
    for name, form in formed:
        members[name] = form(members[name])
    return members


_encode = json.JSONEncoder(default=_members, separators=(",", ":")).encode
_decode = json.loads
"""Kept: this may run in the midst of a program, which may put something else in its place."""


@cache
def _fields(kind: Any) -> tuple[tuple[str, ...], tuple[tuple[str, Convert], ...]]:  # noqa: ANN401 - a dataclass
    """The names of a dataclass's fields, and the forms of those that contain values of monitors."""
    hints = _hints(kind)
    formed = ((name, _former(hint)) for name, hint in hints.items())
    return tuple(hints), tuple((name, form) for name, form in formed if form is not None)


def _former(hint: Any) -> Convert | None:  # noqa: ANN401 - a hint
    """What makes plain data of something with this hint; None if that has a form without it."""
    if hint is _AnyValue:
        return pack_value
    if not (inner := [form for each in get_args(hint) if (form := _former(each)) is not None]):
        return None
    (form,) = inner
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return lambda value: None if value is None else form(value)
    if issubclass(origin, Mapping):
        return lambda value: {key: form(item) for key, item in value.items()}
    return lambda value: [form(item) for item in value]


# ---- from plain data


@cache
def _reader(hint: Any) -> Convert:  # noqa: ANN401 - a hint
    """What makes something with this hint of plain data. `_MisfitError` if it does not fit."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any or hint is object:
        return lambda data: data
    if hint is _AnyValue:
        return _read_value
    if hint in _SCALARS:
        return _scalars_reader((hint,))
    if origin in (Union, types.UnionType):
        return _union_reader(inner)
    if origin is tuple and not (len(inner) == 2 and inner[1] is Ellipsis):
        return _fixed_reader(tuple(map(_reader, inner)))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping_reader(inner[0], _reader(inner[1]))
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return _items_reader(list if origin is list else tuple, _reader(inner[0]))
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return _enum_reader(hint)
    return _dataclass_reader(hint)


def _read_value(data: Any) -> Any:  # noqa: ANN401 - plain data has no narrower type
    try:
        return unpack_value(data)
    except ValueError as error:
        raise _MisfitError(str(error)) from None


def _scalars_reader(kinds: tuple[type, ...]) -> Convert:
    told = " or ".join(_NAMES[kind] for kind in kinds)
    accepted = {*kinds, int} if float in kinds else {*kinds}

    def read(data: Any) -> Any:  # noqa: ANN401 - plain data has no narrower type
        if type(data) not in accepted:
            raise _MisfitError(f"it is not {told}")
        return data

    return read


def _union_reader(kinds: tuple[Any, ...]) -> Convert:
    scalars = tuple(kind for kind in kinds if kind in _SCALARS)
    others = [kind for kind in kinds if kind not in _SCALARS]
    if not others:
        return _scalars_reader(scalars)
    (other,) = others
    reader = _reader(other)
    return lambda data: data if type(data) in scalars else reader(data)


def _fixed_reader(readers: tuple[Convert, ...]) -> Convert:
    def read(data: Any) -> Any:  # noqa: ANN401 - plain data has no narrower type
        if type(data) is not list or len(data) != len(readers):
            raise _MisfitError(f"it is not a list of {len(readers)}")
        return tuple([_inside(at, reader, item) for at, (reader, item) in enumerate(zip(readers, data, strict=True))])

    return read


def _items_reader(make: Callable[[list[Any]], Any], reader: Convert) -> Convert:
    def read(data: Any) -> Any:  # noqa: ANN401 - plain data has no narrower type
        if type(data) is not list:
            raise _MisfitError("it is not a list")
        found: list[Any] = []
        try:
            for item in data:
                found.append(reader(item))  # one by one, so that it is known which one does not fit
        except _MisfitError as error:
            raise error.inside(len(found)) from None
        return make(found)

    return read


def _mapping_reader(key: type, reader: Convert) -> Convert:
    def read(data: Any) -> Any:  # noqa: ANN401 - plain data has no narrower type
        if type(data) is not dict:
            raise _MisfitError("it is not a mapping")
        return {_key(key, name): _inside(name, reader, item) for name, item in data.items()}

    return read


def _key(kind: type, text: str) -> Any:  # noqa: ANN401 - of that kind
    try:
        return kind(text)  # of JSON, all keys are texts
    except ValueError:
        raise _MisfitError(f"{text!r} is not a key") from None


def _inside(name: object, reader: Convert, data: Any) -> Any:  # noqa: ANN401 - plain data has no narrower type
    try:
        return reader(data)
    except _MisfitError as error:
        raise error.inside(name) from None


def _enum_reader(kind: type[StrEnum]) -> Convert:
    known = {each.value: each for each in kind}

    def read(data: Any) -> Any:  # noqa: ANN401 - plain data has no narrower type
        if type(data) is not str or data not in known:
            raise _MisfitError(f"it is none of {', '.join(known)}")
        return known[data]

    return read


@cache
def _dataclass_reader(kind: Any) -> Convert:  # noqa: ANN401 - a dataclass
    readers = {name: _reader(hint) for name, hint in _hints(kind).items()}
    needed = {each.name for each in fields(kind) if each.default is MISSING and each.default_factory is MISSING}

    def read(data: Any) -> Any:  # noqa: ANN401 - plain data has no narrower type
        if type(data) is not dict:
            raise _MisfitError(f"it is not {kind.__name__}")
        given: dict[str, Any] = {}
        try:
            for name, member in data.items():
                given[name] = readers[name](member)
        except _MisfitError as error:
            raise error.inside(name) from None
        except KeyError:
            raise _MisfitError(f"{kind.__name__} has no field {name!r}") from None
        if not needed <= given.keys():
            raise _MisfitError(f"it lacks {', '.join(sorted(needed - given.keys()))}")
        return kind(**given)

    return read


def _hints(kind: Any) -> dict[str, Any]:  # noqa: ANN401 - any class
    if not is_dataclass(kind):
        raise TypeError(f"{kind} has no form as a message")
    hints = get_type_hints(kind, localns={"Value": _AnyValue})
    return {each.name: hints[each.name] for each in fields(kind)}
