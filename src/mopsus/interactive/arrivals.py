"""Where the events of a property happen in a program, and how their values are got there."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import CodeType
from typing import Any

from mopsus.interactive.debugger import Read
from mopsus.model import Place, Reading, ReadingKind, Spec, Unavailable
from mopsus.spec.debugging import formal


@dataclass(frozen=True, slots=True)
class Arrival:
    """An event of a property as it happens at one place. The first `slicing` names are parameters."""

    event: str
    number: int
    names: tuple[str, ...]
    readings: tuple[Reading, ...]
    slicing: int
    computes: bool
    """Are there Python expressions among its readings?"""

    def asked(self) -> Iterable[Reading]:
        """What the debugger is asked for: Python expressions are our own affair, but not the names in them."""
        for reading in self.readings:
            if reading.kind is ReadingKind.PYTHON:
                yield from (Reading(ReadingKind.NAME, name) for name in _names(_compiled(reading.text)))
            else:
                yield reading

    def values(self, read: Read, environment: Mapping[str, object], functions: dict[str, Any]) -> dict[str, object]:
        """The values of the event, by name. Python expressions see the others, the environment of the property, its
        functions, and the variables of the program."""
        if not self.computes:
            return {name: read(reading) for name, reading in zip(self.names, self.readings, strict=True)}
        values: dict[str, object] = {}
        for name, reading in zip(self.names, self.readings, strict=True):
            if reading.kind is not ReadingKind.PYTHON:
                values[name] = read(reading)
        scope = _Scope(read, values, environment, functions)
        for name, reading in zip(self.names, self.readings, strict=True):
            if reading.kind is ReadingKind.PYTHON:
                values[name] = _evaluated(reading.text, functions, scope)
        return {name: values[name] for name in self.names}

    def lacking(self, values: Mapping[str, object]) -> tuple[str, Unavailable] | None:
        """The first parameter without a value: nobody can say whose event it is then."""
        for name in self.names[: self.slicing]:
            if isinstance(value := values[name], Unavailable):
                return name, value
        return None


def arrivals_of(spec: Spec) -> dict[Place, list[Arrival]]:
    """By place, the events that can happen there, in the order of declaration. `SpecError` for events that no debugger
    can see."""
    found: dict[Place, list[Arrival]] = {}
    for number, event in enumerate(spec.events):
        for each in formal(event):
            readings = tuple(each.readings[name] for name in event.names)
            computes = any(reading.kind is ReadingKind.PYTHON for reading in readings)
            arrival = Arrival(event.name, number, event.names, readings, len(event.parameters), computes)
            found.setdefault(each.place, []).append(arrival)
    return found


class _Scope(Mapping[str, object]):
    """What the names in a Python expression stand for: the first that knows one, and last the program."""

    def __init__(self, read: Read, *known: Mapping[str, object]) -> None:
        self._read = read
        self._known = known

    def __getitem__(self, name: str) -> object:
        for names in self._known:
            if name in names:
                return names[name]
        if hasattr(builtins, name):
            raise KeyError(name)
        value = self._read(Reading(ReadingKind.NAME, name))
        if isinstance(value, Unavailable):
            raise NameError(f"{name}: {value.why}")
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def _evaluated(text: str, functions: dict[str, Any], scope: _Scope) -> object:
    try:
        return eval(_compiled(text), functions, scope)
    except Exception as error:  # whatever the expression does wrong
        return Unavailable(f"{{{text.strip()}}}: {error}")


@cache
def _compiled(text: str) -> CodeType:
    return compile(text.strip(), "<reading>", "eval")


def _names(code: CodeType) -> Iterable[str]:
    return (name for name in code.co_names if not hasattr(builtins, name))
