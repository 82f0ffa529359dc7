"""Stage 2: a machine as plain data (numbers, texts, lists), for JSON and for programs in other languages.

The form is described by `docs/reference/machine.schema.json`.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from mopsus.model import Machine, symbolic
from mopsus.model.term import Atom, Pid, Reference, String

VERSION = 1

_COMMON = tuple(field.name for field in fields(Machine))


def machine_data(machine: Machine) -> dict[str, Any]:
    """The machine as data: what all kinds have in common, and under `machine` what its own kind adds.

    Sets become sorted lists. An event without an enable set, which may come after anything, has null.
    """
    data: dict[str, Any] = {
        "version": VERSION,
        "kind": type(machine).__name__.removesuffix("Machine").lower(),
        **{name: _plain(getattr(machine, name)) for name in _COMMON},
    }
    for families in data["enable"].values():
        for event in machine.alphabet:
            families.setdefault(event, None)
    data["machine"] = {
        field.name: _plain(getattr(machine, field.name)) for field in fields(machine) if field.name not in _COMMON
    }
    return data


def _plain(value: object) -> Any:  # noqa: ANN401 - JSON data has no narrower type
    if isinstance(value, Enum):
        return _plain(value.value)
    if isinstance(value, Atom | Pid | Reference | String):
        return {type(value).__name__.lower(): str(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {_key(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Set):
        return sorted(map(_plain, value), key=_order)
    if isinstance(value, bytes | bytearray):
        return list(value)
    if is_dataclass(value):
        # The parts of a symbolic machine are told apart by their kinds alone.
        kind = {"kind": type(value).__name__.strip("_").lower()} if type(value).__module__ == symbolic.__name__ else {}
        named = {field.name: getattr(value, field.name) for field in fields(value)}
        return kind | {name: _plain(each) for name, each in named.items() if not callable(each)}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return str(value)


def _key(key: object) -> str:
    return key if isinstance(key, str) else ",".join(map(str, key)) if isinstance(key, tuple) else str(key)


def _order(item: object) -> tuple[Any, ...]:
    """Small sets before large ones, then by name, so that the data is the same whenever the machine is."""
    return (len(item), *map(_order, item)) if isinstance(item, list) else (str(item),)
