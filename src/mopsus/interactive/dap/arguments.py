"""The arguments of a request, read with care: an editor may send anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from mopsus.interactive.debugger import DebuggerError

T = TypeVar("T")

_MOST = 2**31 - 1
"""The largest number that the protocol has room for."""

_NAMES: dict[type, str] = {int: "a number", str: "a text", bool: "true or false", list: "a list", dict: "an object"}


class RequestError(DebuggerError):
    """A request that makes no sense, or not now."""

    code = "DEBUG-011"


class Arguments:
    """Members by name, each of the type that it must have."""

    def __init__(self, given: object, place: str = "") -> None:
        if not isinstance(given, Mapping):
            raise RequestError(f"{place or 'the arguments'} must be an object")
        self._given: Mapping[str, Any] = given
        self._place = place

    def number(self, name: str) -> int:
        return self._needed(name, int)

    def text(self, name: str) -> str:
        return self._needed(name, str)

    def maybe_number(self, name: str) -> int | None:
        return self._maybe(name, int)

    def count(self, name: str) -> int:
        self.number(name)  # it is needed
        return self.maybe_count(name) or 0

    def maybe_count(self, name: str) -> int | None:
        """A number of things, or of the place of one."""
        found = self.maybe_number(name)
        if found is not None and not 0 <= found <= _MOST:
            raise RequestError(f"`{self._path(name)}` must be a number from 0 to {_MOST}")
        return found

    def maybe_text(self, name: str) -> str | None:
        return self._maybe(name, str) or None

    def flag(self, name: str, default: bool = False) -> bool:
        found = self._maybe(name, bool)
        return default if found is None else found

    def maybe_flag(self, name: str) -> bool | None:
        return self._maybe(name, bool)

    def within(self, name: str) -> Arguments:
        """An object among them; empty if it is not there."""
        return Arguments(self._maybe(name, dict) or {}, self._path(name))

    def each(self, name: str) -> list[Arguments]:
        """The objects of a list; none if it is not there."""
        return [Arguments(each, f"{self._path(name)}[{at}]") for at, each in enumerate(self._maybe(name, list) or ())]

    def texts(self, name: str) -> list[str]:
        """The texts of a list; none if it is not there."""
        found: list[Any] = self._maybe(name, list) or []
        if not all(isinstance(each, str) for each in found):
            raise RequestError(f"`{self._path(name)}` must be a list of texts")
        return found

    def items(self, name: str) -> list[object]:
        """Whatever is in a list; none if it is not there."""
        return self._maybe(name, list) or []

    def anything(self, name: str) -> object:
        """Whatever it is; None if it is not there."""
        return self._given.get(name)

    def table(self, name: str) -> Mapping[str, Any]:
        """An object as it is; empty if it is not there."""
        return self._maybe(name, dict) or {}

    def _needed(self, name: str, kind: type[T]) -> T:
        found = self._maybe(name, kind)
        if found is None:
            raise RequestError(f"`{self._path(name)}` is missing: it must be {_NAMES[kind]}")
        return found

    def _maybe(self, name: str, kind: type[T]) -> T | None:
        found = self._given.get(name)
        if found is not None and (not isinstance(found, kind) or (kind is int and isinstance(found, bool))):
            raise RequestError(f"`{self._path(name)}` must be {_NAMES[kind]}")
        return found

    def _path(self, name: str) -> str:
        return f"{self._place}.{name}" if self._place else name
