"""Structured inputs made of a fuzzer's bytes: every decision is taken by a few of them.

What the bytes are too short for is decided as if zeros followed, so any bytes make an input, and small changes of them
make small changes of it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

T = TypeVar("T")

ODD = (
    *(None, True, False, 0, 1, -1, 7, 255, 2**31, 2**63, -(2**63) - 1, 10**30, 0.0, -0.5, 1e308, float("inf"), ""),
    *("a", "\0", "é", "\ud800", "x" * 300, "1", "-1", "{", "<0.1.0>", "__class__", "../../etc/passwd", [], {}, [[]]),
    *([None], {"": None}, {"a": {"b": []}}),
)
"""Values that a reader of plain data may not have thought of."""


class Choices:
    """Decisions, one after the other."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def left(self) -> int:
        """How many bytes no decision has used yet."""
        return max(0, len(self._data) - self._at)

    def byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1] if self._at <= len(self._data) else 0

    def below(self, limit: int) -> int:
        """A number from 0 on."""
        number = self.byte()
        if limit > 256:
            number = number << 8 | self.byte()
        return number % limit

    def flag(self) -> bool:
        return bool(self.byte() & 1)

    def pick(self, items: Sequence[T]) -> T:
        return items[self.below(len(items))]

    def some(self, most: int, make: Callable[[], T]) -> list[T]:
        """Up to so many things."""
        return [make() for _ in range(self.below(most + 1))]

    def piece(self, longest: int = 8) -> bytes:
        """Bytes as they are."""
        size = self.below(longest + 1)
        found = self._data[self._at : self._at + size]
        self._at += size
        return found

    def rest(self) -> bytes:
        """All bytes that are left."""
        found = self._data[self._at :]
        self._at = len(self._data)
        return found

    def text(self, pieces: Sequence[str], most: int = 40) -> str:
        """Some of these pieces after each other, with free text between."""
        words = []
        while self.left and len(words) < most:
            number = self.below(len(pieces) + 4)
            words.append(pieces[number] if number < len(pieces) else self.piece().decode("utf-8", "replace"))
        return "".join(words)

    def plain(self, depth: int = 3) -> Any:
        """Plain data, as JSON has it."""
        kind = self.below(8)
        if kind < 4 or depth == 0:
            return copy.deepcopy(self.pick(ODD))
        if kind == 4:
            return int.from_bytes(self.piece(9), "little", signed=True)
        if kind == 5:
            return self.piece(12).decode("utf-8", "replace")
        if kind == 6:
            return self.some(3, lambda: self.plain(depth - 1))
        return {self.pick(("a", "b", "", "$tuple", "é")): self.plain(depth - 1) for _ in range(self.below(4))}

    def damaged(self, value: T, most: int = 3) -> T:
        """A copy of plain data with up to so many changes, anywhere in it."""
        whole = [copy.deepcopy(value)]
        for _ in range(self.below(most + 1)):
            holder, key = self.pick(list(_places(whole)))
            how = self.below(6)
            if how == 0 and holder is not whole:
                del holder[key]
            elif how == 1 and isinstance(holder, list) and holder is not whole:
                holder.insert(key, copy.deepcopy(holder[key]))
            elif how == 2 and isinstance(holder[key], int) and not isinstance(holder[key], bool):
                holder[key] += self.pick((-1, 1, 2, 255, -255, 2**32))
            elif how == 3:
                other, place = self.pick(list(_places(whole)))
                holder[key] = copy.deepcopy(other[place])
            else:
                holder[key] = self.plain(2)
        return whole[0]


def _places(holder: Any) -> list[tuple[Any, Any]]:
    """Every place in plain data where something stands."""
    found: list[tuple[Any, Any]] = []
    pending = [holder]
    while pending and len(found) < 4000:
        each = pending.pop()
        keys = list(each) if isinstance(each, Mapping) else range(len(each))
        for key in keys:
            found.append((each, key))
            if isinstance(each[key], dict | list):
                pending.append(each[key])
    return found
