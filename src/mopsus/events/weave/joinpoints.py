"""Stage 4: what happens at a point of a program, as plain data that every mechanism of weaving serves.

A *tap* is one event of one spec at one join point: when it is sent, and where the values of its
parameters come from. Mechanisms (advice on functions, rewritten code, hooks of the interpreter) know
taps and nothing of specs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from types import ModuleType
from typing import Any, Protocol, TypeAlias, TypeVar

from mopsus._core import Classes

T = TypeVar("T")


class Moment(IntEnum):
    """When a tap is served."""

    BEFORE = 0
    RETURNING = 1
    RAISING = 2
    AFTER = 3
    """When it returns or raises."""
    AROUND = 4
    """Before, and the event may take the place of what happens."""
    GIVING = 5
    """Before, and what `emit` gives is given instead of the argument that is its last source."""
    GETTING = 6
    """When it returns, and what `emit` gives is the result instead."""


class From(IntEnum):
    """Where the value of a parameter comes from."""

    TARGET = 0
    """The object whose method, attribute, item or iteration it is."""
    ARGUMENT = 1
    """An argument of the call; the target does not count."""
    RESULT = 2
    EXCEPTION = 3
    THREAD = 4
    TASK = 5


@dataclass(frozen=True, slots=True)
class Source:
    """Where one value comes from. An argument is known by its position, and by its name when it is given by name."""

    kind: From
    index: int = 0
    name: str | None = None


Types: TypeAlias = "Classes | type | tuple[type, ...] | None"
"""What a value must be an instance of; None: anything."""

Admits: TypeAlias = "Callable[[tuple[Any, ...], Mapping[str, Any]], bool]"
"""Decides by the arguments of a call, the target first if there is one."""


@dataclass(frozen=True, slots=True)
class Tap:
    """One event of one spec at one join point."""

    spec: str
    event: str
    moment: Moment
    emit: Callable[..., object]
    """The event of the monitor: takes the values of its parameters and fields in declared order."""
    sources: tuple[Source, ...] = ()
    """By parameter of the event, in declared order."""
    types: tuple[Types, ...] = ()
    """By parameter: the event is sent only if each value has its type."""
    admits: Admits | None = None
    """Whatever else must hold; None: nothing."""
    target: Types = None
    """What the target must be an instance of, whether or not it is a parameter."""
    exact: bool = False
    """The type of the target must be (one of) `target` itself; an instance of a subclass is none."""
    entry: bool = False
    """Only if this very callable is what the type of the target has under its name: not when an override calls it
    by `super()`."""
    at_most: int | None = None
    """Only if no more arguments are given than this, by position or name; the target does not count."""
    at_least: int = 0
    """Only if no fewer are given."""


class Operation(StrEnum):
    """What can be tapped although no function stands for it: in rewritten code, unless another way is named."""

    ITER = "iter"
    NEXT = "next"
    GET_ITEM = "getitem"
    SET_ITEM = "setitem"
    DELETE_ITEM = "delitem"
    GET = "get"
    SET = "set"
    DELETE = "delete"
    ENTER = "enter"
    EXIT = "exit"
    RAISE = "raising"
    RAISED = "raised"
    """The same, where the interpreter tells."""
    HANDLE = "handling"
    AWAIT = "awaiting"
    YIELD = "yielding"
    RESUME = "resuming"
    CALL = "call"


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A tap on an operation in rewritten code.

    `names` are the attributes (of `get`, `set`, `delete`) or the called names (of `call`, dotted as they may be
    written) that it is about; empty: all. `within` are globs of modules (`pkg.*`) whose code is rewritten for it;
    empty: all that are imported while weaving and do not belong to the standard library or to installed packages.
    """

    operation: Operation
    tap: Tap | None
    """None: there is nothing to tell yet, but there may be."""
    names: frozenset[str] = frozenset()
    within: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Advised:
    """A place where a callable stands, and the taps on its calls: an attribute `name` of a module or class `holder`."""

    holder: object
    name: str
    taps: tuple[Tap, ...] = field(default=())
    operation: Operation = Operation.CALL
    """CALL; GET, SET or DELETE for what a property or slot of a class does."""
    default: Callable[..., Any] | None = None
    """What is called if `holder` has no attribute of its own by that name: the advice is put there all the same, and
    taken away in the end. None: where the attribute is inherited from is the place."""


class Weaving(Protocol):
    """What the import hook asks of whoever weaves."""

    @property
    def rewrites(self) -> tuple[Rewrite, ...]:
        """The operations that are tapped in rewritten code."""

    @property
    def definitions(self) -> frozenset[str]:
        """Names of functions and classes that the main program may define and use before it has been executed: there
        `def` at module level gets `defined` as its innermost decorator, `class` as its outermost. `*`: all names."""

    def defined(self, made: T) -> T:
        """What takes the place of a function or class that was just defined."""

    def module_loaded(self, module: ModuleType) -> None:
        """The module has been executed."""
