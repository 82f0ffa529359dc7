"""Stage 1: values of parameters and fields as plain data, which JSON can carry, and back.

What JSON has is itself, and an array is a tuple. Anything else is an object with one member, whose name says what it
is. A value of a type that is not known here arrives as its `repr`, and so does nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mopsus.model.term import Atom, Pid, Reference, String
from mopsus.model.value import Address, ObjectRef, Value

DEEPEST = 64
"""Values that are nested deeper than this arrive as `…`, as do those that contain themselves."""
_INT_BITS = 64
"""Larger integers travel as text: reading decimal digits takes time that grows with their square."""
_TERMS: dict[str, type[str]] = {each.__name__: each for each in (Atom, Pid, Reference, String)}
_ITSELF = (str, bool, float, type(None))


def pack_value(value: Value, inside: tuple[int, ...] = ()) -> Any:  # noqa: ANN401 - plain data has no narrower type
    """A value as plain data. `inside`: what contains it, by identity."""
    kind = type(value)
    if kind in _ITSELF:
        return value
    if isinstance(value, int) and kind in (int, Address):
        plain = kind is int and value.bit_length() < _INT_BITS
        return value if plain else {"int" if kind is int else "address": hex(value)}
    if isinstance(value, bytes) and kind is bytes:
        return {"bytes": value.hex()}
    if isinstance(value, str) and kind.__name__ in _TERMS and kind is _TERMS[kind.__name__]:
        return {kind.__name__: str(value)}
    if kind in (tuple, list, dict) and (len(inside) == DEEPEST or id(value) in inside):
        value = ObjectRef(kind.__name__, 0, "…")
    within = (*inside, id(value))
    if isinstance(value, tuple) and kind is tuple:
        return [pack_value(item, within) for item in value]
    if isinstance(value, list) and kind is list:
        return {"list": [pack_value(item, within) for item in value]}
    if isinstance(value, dict) and kind is dict:
        return {"map": [[pack_value(key, within), pack_value(item, within)] for key, item in value.items()]}
    if not isinstance(value, ObjectRef):
        value = ObjectRef(kind.__name__, 0, repr(value))
    return {"object": [value.type, value.serial, value.text]}


def unpack_value(data: Any) -> Value:  # noqa: ANN401 - plain data has no narrower type
    """What `pack_value` was given. `ValueError` if it cannot have given this."""
    return _unpack(data, DEEPEST)


def _unpack(data: Any, depth: int) -> Value:  # noqa: ANN401 - plain data has no narrower type
    if type(data) in _ITSELF or type(data) is int:
        plain: Value = data
        return plain
    if depth < 0:
        raise ValueError("values are nested too deeply")
    if type(data) is list:
        return tuple([_unpack(item, depth - 1) for item in data])
    if type(data) is dict and len(data) == 1:
        ((kind, content),) = data.items()
        if kind in _TERMS:
            return _TERMS[kind](_text(content))
        if kind in _READERS:
            return _READERS[kind](content, depth)
    raise ValueError("what stands for a value is not known")


def _text(content: Any) -> str:  # noqa: ANN401 - plain data has no narrower type
    if type(content) is not str:
        raise ValueError("a value lacks its text")
    return content


def _list(content: Any) -> list[Any]:  # noqa: ANN401 - plain data has no narrower type
    if type(content) is not list:
        raise ValueError("a value lacks its items")
    return content


def _map(content: Any, depth: int) -> Value:  # noqa: ANN401 - plain data has no narrower type
    found = {}
    for pair in _list(content):
        if len(_list(pair)) != 2:
            raise ValueError("a mapping has something that is not a pair")
        key = _unpack(pair[0], depth - 1)
        try:
            found[key] = _unpack(pair[1], depth - 1)
        except TypeError:
            raise ValueError("a mapping has a key that cannot be one") from None
    return found


def _object(content: Any, depth: int) -> Value:  # noqa: ANN401 - as its neighbours
    match content:
        case [str(kind), int(serial), str(text)]:
            return ObjectRef(kind, serial, text)
    raise ValueError("an object lacks its type, its number or its text")


_READERS: dict[str, Callable[[Any, int], Value]] = {
    "int": lambda content, _: int(_text(content), 16),
    "address": lambda content, _: Address(_text(content), 16),
    "bytes": lambda content, _: bytes.fromhex(_text(content)),
    "list": lambda content, depth: [_unpack(item, depth - 1) for item in _list(content)],
    "map": _map,
    "object": _object,
}
