"""Readings at a point: names, arguments, results and expressions, as GDB evaluates them in the selected frame.

Expressions in Python are not for a debugger to evaluate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache

import gdb

from mopsus.interactive.gdb import convention
from mopsus.interactive.gdb.interrupts import uninterrupted
from mopsus.interactive.gdb.values import Word, to_python
from mopsus.model import Reading, ReadingKind, Unavailable

Result = Callable[[], "gdb.Value | Word | Unavailable"]


class Hit:
    """What is read at one arrival at a place: each reading once. `result` gives what `ret` stands for there."""

    __slots__ = ("_result", "_values")

    def __init__(self, result: Result | None = None) -> None:
        self._values: list[tuple[Reading, object]] = []  # a handful: to hash a reading costs more than to look
        self._result = result

    def __call__(self, reading: Reading) -> object:
        for known, value in self._values:
            if known is reading or known == reading:
                return value
        value = uninterrupted(self._read, reading)
        self._values.append((reading, value))
        return value

    def know(self, reading: Reading, value: object) -> None:
        """Somebody else has read this."""
        self._values.append((reading, value))

    def keep(self, readings: Sequence[Reading]) -> None:
        """Read all that does not need the result now, for later."""
        for reading in readings:
            if not needs_result(reading):
                self(reading)

    def returned(self, result: Result) -> None:
        self._result = result

    def _read(self, reading: Reading) -> object:
        try:
            value = self._raw(reading)
        except (gdb.error, RuntimeError) as error:
            return Unavailable(str(error))
        if isinstance(value, gdb.Value):
            return to_python(value, reading.type)
        return value.to_python(reading.type) if isinstance(value, Word) else value

    def _raw(self, reading: Reading) -> object:
        """The value as GDB has it; `Unavailable` or a value of Python where it has none."""
        kind = reading.kind
        if kind is ReadingKind.NAME or kind is ReadingKind.EXPRESSION:
            return gdb.parse_and_eval(reading.text)
        if kind is ReadingKind.ARGUMENT:
            return argument(reading.index)
        if kind is ReadingKind.RESULT:
            return Unavailable("there is no result here") if self._result is None else self._result()
        assert reading.inner is not None
        if kind is ReadingKind.CALLER:
            with _in_caller() as there:
                return self._raw(reading.inner) if there else Unavailable("there is no caller")
        value = self._raw(reading.inner)
        if isinstance(value, Word):
            return Unavailable("nobody knows its type: compile with -g")
        if not isinstance(value, gdb.Value):
            return value
        if kind is ReadingKind.POINTEE:
            return value.dereference()
        return Unavailable("it has no address") if value.address is None else value.address


def program_counter() -> int:
    """Of the selected frame. To ask GDB for the frame itself costs ten times as much."""
    return int(gdb.parse_and_eval("$pc"))


def needs_result(reading: Reading) -> bool:
    return reading.kind is ReadingKind.RESULT or (reading.inner is not None and needs_result(reading.inner))


def argument(index: int) -> object:
    """The argument number `index` of the function of the selected frame: by its debug information, or else by the
    calling convention."""
    names = _parameters(program_counter())
    if names is None:
        return convention.argument(index, gdb.selected_frame())
    if index > len(names):
        return Unavailable(f"{gdb.selected_frame().name()} has {len(names)} arguments")
    return gdb.parse_and_eval(names[index - 1])


@lru_cache(maxsize=1024)
def _parameters(address: int) -> tuple[str, ...] | None:
    """The names of the parameters of the function that the code at an address belongs to. `this` is no argument that
    anybody wrote."""
    block = gdb.block_for_pc(address)
    while block is not None and block.function is None:
        block = block.superblock
    if block is None:
        return None
    return tuple(symbol.name for symbol in block if symbol.is_argument and symbol.name != "this")


@contextmanager
def _in_caller() -> Iterator[bool]:
    frame = gdb.selected_frame()
    caller = frame.older()
    if caller is None:
        yield False
        return
    caller.select()
    try:
        yield True
    finally:
        frame.select()


def forget_functions() -> None:
    """Code was loaded: an address may belong to another function now."""
    _parameters.cache_clear()
