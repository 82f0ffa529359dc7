"""Stage 0: points of a program under a debugger, and what is read there.

A *place* is where an event of a debugged program happens; a *reading* is a way to a value there. Both are plain data
that name things of the program by text: only a debugger knows what they stand for.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class PlaceKind(StrEnum):
    """What happens at a place, and what `Place.what` names."""

    __hash__ = str.__hash__  # places are looked up at every arrival, and the one of enumerations is slow

    CALL = "call"
    """A function is entered, its prologue done; `after`: it returns. `what` is the function: `f`, `Class.method`,
    `ns::f`."""
    LINE = "line"
    """A line is about to run: `12` or `file.c:12`."""
    WRITE = "write"
    READ = "read"
    ACCESS = "access"
    """A variable, or what an expression stands for, is written, read, either."""
    UPDATE = "update"
    """The value of an expression changes."""
    SYSCALL = "syscall"
    """A system call is entered; `after`: it returns. `what` is its name."""
    SIGNAL = "signal"
    """The program gets a signal: `SIGUSR1`."""
    THROW = "throw"
    CATCH = "catch"
    """An exception of this type, or of any if `what` is empty, is thrown or caught."""
    END = "end"
    """The program ends; `what` is empty."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where an event happens. `after`: when the call has its result, when the variable has its new value."""

    kind: PlaceKind
    what: str = ""
    after: bool = False


class ReadingKind(StrEnum):
    """A way to a value."""

    NAME = "name"
    """An argument, local, global, member of the current object, or macro: `text`."""
    ARGUMENT = "arg"
    """The argument number `index`, counted from 1."""
    RESULT = "ret"
    """What a call returns; at a write, the old value before and the new one after."""
    POINTEE = "*"
    ADDRESS = "&"
    """What `inner` points to; where it lies."""
    CALLER = "^"
    """`inner`, in the frame of the caller."""
    EXPRESSION = "expression"
    """`text` in the language of the program."""
    PYTHON = "python"
    """`text` in Python, in the debugger, with the environment of the property."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How to get one value at a place. `type` is what it is converted to: `int`, `float`, `bool`, `str`, `bytes`."""

    kind: ReadingKind
    text: str = ""
    index: int = 0
    inner: Reading | None = None
    type: str | None = None

    def is_code(self) -> bool:
        """Does it evaluate an expression, which may do anything?"""
        code = self.kind in (ReadingKind.EXPRESSION, ReadingKind.PYTHON)
        return code or (self.inner is not None and self.inner.is_code())


class Unavailable:
    """The value of a reading that the debugger cannot give, say because it was optimised out. Not a value: whoever
    computes with it gets an error that says so."""

    __slots__ = ("why",)

    def __init__(self, why: str) -> None:
        self.why = why

    def __repr__(self) -> str:
        return "<unavailable>"

    def __bool__(self) -> bool:
        raise ValueError(f"the value is unavailable: {self.why}")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = lambda self, other: bool(self)
    __hash__ = object.__hash__
