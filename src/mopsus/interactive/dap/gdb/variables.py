"""Values of a program under GDB, as an editor opens them: members, elements, what pretty printers show."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import gdb

from mopsus.interactive.dap.workbench import Inside, Variable
from mopsus.interactive.debugger import DebuggerError

_TEXT_MOST = 200
"""Elements and characters in the line that shows a value: the rest is inside."""
_PRINTED_MOST = 10_000
"""Children that a pretty printer is asked for: it may find as many as it likes in memory that is not what it thinks."""
_STRUCTURED = (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION)
_REFERRING = (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF)
_MEMBER = re.compile(r"(.+)(?:\.|->)\s*(\w+)\s*", re.DOTALL)
_CHARACTERS = {"char", "signed char", "unsigned char", "wchar_t", "char8_t", "char16_t", "char32_t"}


@dataclass(frozen=True, slots=True)
class Origin:
    """Where in the program a value is from: for what is evaluated when it is set."""

    frame: Callable[[], AbstractContextManager[object]]
    """Meanwhile GDB has selected the frame that it was found in."""
    expression: str | None = None
    """What stands for it there, if anything does."""

    def part(self, pattern: str | None) -> Origin:
        """Of what the pattern makes of the expression."""
        known = self.expression is not None and pattern is not None
        return replace(self, expression=f"({self.expression}){pattern}" if known else None)

    def pointee(self) -> Origin:
        return replace(self, expression=None if self.expression is None else f"*({self.expression})")


def shown(name: str, value: gdb.Value, origin: Origin) -> Variable:
    """A value with all that an editor may want to know of it. What cannot be read says why."""
    try:
        text = text_of(value)
        inside = inside_of(value, origin)
    except gdb.error as error:
        text, inside = f"<{error}>", None
    pointing = value.type.strip_typedefs().code == gdb.TYPE_CODE_PTR
    return Variable(
        name,
        text,
        str(value.type),
        inside,
        origin.expression,
        address=_number(value) if pointing else None,
    )


def text_of(value: gdb.Value) -> str:
    """The line that shows a value."""
    return value.format_string(max_elements=_TEXT_MOST, max_depth=2, styling=False)


def address_of(value: gdb.Value, expression: str | None) -> gdb.Value | None:
    """Where it lies in memory, if it does; GDB has selected the frame that it was found in, by an expression if there
    is one."""
    if value.is_optimized_out or (expression is not None and _is_bits(expression)):
        return None
    return value.address


def _is_bits(expression: str) -> bool:
    """Is it a member that shares its bytes with others? GDB would say that it lies where they lie."""
    member = _MEMBER.fullmatch(expression)
    if member is None:
        return False
    try:
        kind = gdb.parse_and_eval(member[1]).type.strip_typedefs()
    except gdb.error:
        return False
    if kind.code in (gdb.TYPE_CODE_PTR, *_REFERRING):
        kind = kind.target().strip_typedefs()
    return kind.code in _STRUCTURED and any(each.name == member[2] and each.bitsize for each in kind.fields())


def set_value(target: gdb.Value, text: str, origin: Origin) -> None:
    """Give what is in the program a value, written as an expression. Its own name is not always one."""
    with origin.frame():
        address = address_of(target, origin.expression)
        if address is not None:
            gdb.set_convenience_variable("_mopsus_target", address)
        elif origin.expression is None:
            raise DebuggerError("this value is nowhere in the program", hint="set what it was computed from")
        evaluated(f"{'*$_mopsus_target' if address is not None else origin.expression} = ({text})")


def evaluated(expression: str) -> gdb.Value:
    """The value of an expression; `DebuggerError` if it has none."""
    try:
        value = gdb.parse_and_eval(expression)
        if value.type.code != gdb.TYPE_CODE_VOID:
            value.fetch_lazy()
        return value
    except gdb.error as error:
        raise DebuggerError(str(error)) from error


def inside_of(value: gdb.Value, origin: Origin) -> Inside | None:
    """What there is to open in a value, if anything."""
    if value.is_optimized_out:
        return None
    printer = gdb.default_visualizer(value)
    if printer is not None:
        return Printed(printer, origin) if hasattr(printer, "children") else None
    kind = value.type.strip_typedefs()
    if kind.code in _REFERRING:
        return inside_of(value.referenced_value(), origin)
    if kind.code == gdb.TYPE_CODE_ARRAY:
        return Elements(value, origin)
    if kind.code in _STRUCTURED:
        return Members(value, origin)
    if kind.code == gdb.TYPE_CODE_PTR and _number(value):
        return _pointee(value, kind.target().strip_typedefs(), origin)
    return None


def _pointee(value: gdb.Value, target: gdb.Type, origin: Origin) -> Inside | None:
    """What a pointer leads to; texts and functions show all that they are already."""
    if target.code in (gdb.TYPE_CODE_VOID, gdb.TYPE_CODE_FUNC, gdb.TYPE_CODE_METHOD) or target.name in _CHARACTERS:
        return None
    pointed = value.dereference()
    if target.code in _STRUCTURED and gdb.default_visualizer(pointed) is None:
        return Members(pointed, origin.pointee())
    return Pointee(pointed, origin.pointee())


def _number(value: gdb.Value) -> int | None:
    try:
        return int(value)
    except gdb.error:
        return None


def _fresh(value: gdb.Value) -> gdb.Value:
    """As it is now: what was read before may have been set since."""
    return value.address.dereference() if value.address is not None else value


class Holder(Inside):
    """What consists of values of the program."""

    @abstractmethod
    def find(self, name: str) -> tuple[gdb.Value, Origin]:
        """One of them, as it is now; `DebuggerError` if there is none of that name."""

    def set(self, name: str, text: str) -> Variable:
        value, origin = self.find(name)
        set_value(value, text, origin)
        return shown(name, *self.find(name))


class _Within(Holder):
    """Parts of a value that have names."""

    def _parts(self) -> Sequence[tuple[str, gdb.Value, Origin]]:
        raise NotImplementedError

    def members(self) -> Sequence[Variable]:
        return [shown(*each) for each in self._parts()]

    def find(self, name: str) -> tuple[gdb.Value, Origin]:
        for part, value, origin in self._parts():
            if part == name:
                return value, origin
        raise DebuggerError(f"there is no {name} here")


@dataclass(frozen=True, slots=True)
class Pointee(_Within):
    """The one thing that a pointer leads to."""

    value: gdb.Value
    origin: Origin

    def _parts(self) -> Sequence[tuple[str, gdb.Value, Origin]]:
        return [("*", _fresh(self.value), self.origin)]


@dataclass(frozen=True, slots=True)
class Members(_Within):
    """Of a structure, with those that it has from its bases."""

    value: gdb.Value
    origin: Origin

    def _parts(self) -> Sequence[tuple[str, gdb.Value, Origin]]:
        return list(self._found())

    def _found(self) -> Iterator[tuple[str, gdb.Value, Origin]]:
        value = _fresh(self.value)
        for field in value.type.strip_typedefs().fields():
            if field.is_base_class:
                yield f"<{field.name}>", value[field], self.origin.part(None)
            elif field.name and hasattr(field, "bitpos"):  # others are of the class, not of the object
                yield field.name, value[field], self.origin.part(f".{field.name}")
            elif not field.name:
                yield "<anonymous>", value[field], self.origin.part(None)


class Elements(Holder):
    """Of an array."""

    def __init__(self, value: gdb.Value, origin: Origin) -> None:
        self._value, self._origin = value, origin
        self._first, last = value.type.strip_typedefs().range()
        self.indexed = max(0, last - self._first + 1)

    def members(self) -> Sequence[Variable]:
        return ()

    def elements(self, start: int, count: int) -> Sequence[Variable]:
        indices = range(self._first + start, self._first + start + count)
        return [shown(f"[{index}]", *self._element(index)) for index in indices]

    def find(self, name: str) -> tuple[gdb.Value, Origin]:
        index = name.strip("[]")
        if not index.isdecimal() or not self._first <= int(index) < self._first + self.indexed:
            raise DebuggerError(f"there is no element {name}")
        return self._element(int(index))

    def _element(self, index: int) -> tuple[gdb.Value, Origin]:
        return _fresh(self._value)[index], self._origin.part(f"[{index}]")


class Printed(Holder):
    """What a pretty printer shows inside: elements if it calls them an array, pairs if it calls them a map."""

    def __init__(self, printer: Any, origin: Origin) -> None:  # noqa: ANN401 - whatever people register
        self._printer, self._origin = printer, origin.part(None)
        self._hint = printer.display_hint() if hasattr(printer, "display_hint") else None
        self._children: list[tuple[str, object]] | None = None
        if self._hint == "array":
            self.indexed = len(self._all())
        elif self._hint == "map":
            self.indexed = len(self._all()) // 2

    def members(self) -> Sequence[Variable]:
        return () if self.indexed else [self._child(*each) for each in self._named(0, len(self._all()))]

    def elements(self, start: int, count: int) -> Sequence[Variable]:
        return [self._child(*each) for each in self._named(start, count)]

    def find(self, name: str) -> tuple[gdb.Value, Origin]:
        self._children = None
        for child, value in self._named(0, len(self._all())):
            if child == name and isinstance(value, gdb.Value):
                return value, self._origin
        raise DebuggerError(f"there is no {name} here")

    def _named(self, start: int, count: int) -> Iterator[tuple[str, object]]:
        """Some of them, as they are called in the editor."""
        found = self._all()
        if self._hint != "map":
            yield from found[start : start + count]
            return
        for at in range(start, min(start + count, len(found) // 2)):
            yield f"[{_text(found[2 * at][1])}]", found[2 * at + 1][1]

    def _child(self, name: str, value: object) -> Variable:
        if isinstance(value, gdb.Value):
            return shown(name, value, self._origin)
        return Variable(name, str(value), constant=True)

    def _all(self) -> list[tuple[str, object]]:
        if self._children is None:
            try:
                self._children = list(islice(self._printer.children(), _PRINTED_MOST))
            except (gdb.error, RuntimeError, ValueError) as error:  # of an object that is not there yet, say
                raise DebuggerError(f"this cannot be read: {error}") from error
        return self._children


def _text(value: object) -> str:
    return value.format_string(styling=False) if isinstance(value, gdb.Value) else str(value)
