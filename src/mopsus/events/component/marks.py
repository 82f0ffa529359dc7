"""Stage 4: what stands in a log for values that have no form there.

Numbers, texts and containers of them are written as they are; of a text that has no form, such as the name of a file
that is not UTF-8, what Python would escape is escaped. Of a named tuple or frozen dataclass the values are
written, of a member of an enumeration its name in lower case, because properties see them so. Any other object has a
mark, which tells it from others and says nothing else.
"""

from __future__ import annotations

import dataclasses
import math
import os
import weakref
from collections.abc import Mapping
from contextlib import suppress
from enum import Enum
from itertools import count
from typing import Any, Final

from mopsus.events.component.occurrence import Function
from mopsus.model.term import Atom, Pid, Reference, String

_DEPTH: Final = 50
_BITS: Final = 10_000


class Marks:
    """Marks for objects: the same one for the same object, as long as it lives."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self._known: dict[int, tuple[weakref.ref[Any], Reference]] = {}

    def writable(self, value: Any, depth: int = _DEPTH) -> Any:  # noqa: ANN401 - whatever is sent
        """A value with marks in it for what has no form in a log."""
        if not depth:
            return Atom("too_deep")
        match value:
            case Atom() | String():
                return type(value)(whole(value))
            case None | bool() | Pid() | Reference() | bytes():
                return value
            case Enum():
                return Atom(value.name.lower())
            case Function():
                keywords = None if value.keywords is None else self.writable(dict(value.keywords), depth)
                return Function(whole(value.module), whole(value.name), self.writable(value.arguments, depth), keywords)
            case str():
                return whole(value)
            case int():
                return int(value) if abs(value).bit_length() < _BITS else self._mark(value)
            case float():
                return float(value) if math.isfinite(value) else Atom(str(value))
            case tuple():
                return tuple(self.writable(item, depth - 1) for item in value)
            case list():
                return [self.writable(item, depth - 1) for item in value]
            case bytearray():
                return bytes(value)
            case Mapping():
                return {self.writable(key, depth - 1): self.writable(item, depth - 1) for key, item in value.items()}
        if _is_frozen(value):
            return tuple(self.writable(getattr(value, field.name), depth - 1) for field in dataclasses.fields(value))
        return self._mark(value)

    def _mark(self, value: object) -> Reference:
        number = id(value)
        if number in self._known:
            return self._known[number][1]
        mark = Reference(f"#Ref<{os.getpid()}.0.0.{next(self._numbers)}>")
        with suppress(TypeError):  # nobody would say when it is gone, so it has a new mark every time
            self._known[number] = weakref.ref(value, lambda _: self._known.pop(number, None)), mark
        return mark


def whole(text: str) -> str:
    """Names of files that are not UTF-8 have halves of characters in them, which have no form."""
    return text.encode("utf-8", "backslashreplace").decode()


def _is_frozen(value: object) -> bool:
    parameters = getattr(type(value), "__dataclass_params__", None)
    return parameters is not None and bool(parameters.frozen)
