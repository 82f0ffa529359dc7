"""Stage 4: what of a pointcut can only be decided when something happens: where, in which thread, within which call."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar, Token
from types import AsyncGeneratorType, CoroutineType, FrameType, GeneratorType
from typing import Any, TypeAlias
from weakref import ref

from mopsus import untouched
from mopsus._core import Classes
from mopsus.events.weave.patterns import Glob

Filter: TypeAlias = "Callable[[tuple[Any, ...], Mapping[str, Any], FrameType | None], bool]"
"""Decides by the arguments (the target first) and the frame in which it happens."""


class Admission:
    """Whether all filters let an event through. Called by native code, so that the frame before is the program's."""

    def __init__(self, filters: Sequence[Filter]) -> None:
        self._filters = tuple(filters)

    def __call__(self, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> bool:
        frame = untouched.frame_above().f_back
        for each in self._filters:  # noqa: SIM110 - `all` would make a generator for each event
            if not each(arguments, named, frame):
                return False
        return True


def negated(wanted: Filter) -> Filter:
    """The opposite."""
    return lambda arguments, named, frame: not wanted(arguments, named, frame)


def within(globs: Sequence[str]) -> Filter:
    """Does it happen in code of a module or function that one of the globs matches?"""
    matchers = [Glob(glob) for glob in globs]
    known: dict[tuple[object, str], bool] = {}

    def decide(arguments: tuple[Any, ...], named: Mapping[str, Any], frame: FrameType | None) -> bool:
        if frame is None:
            return False
        name, qualname = frame.f_globals.get("__name__", ""), frame.f_code.co_qualname
        try:
            return known[name, qualname]
        except (KeyError, TypeError):  # a program may call itself anything
            found = known[str(name), qualname] = any(each(str(name), qualname) for each in matchers)
            return found

    return decide


def thread_named(name: str) -> Filter:
    """Has the current thread that name?"""
    return lambda arguments, named, frame: untouched.current_thread().name == name


def thread_of(types: Classes) -> Filter:
    """Is the current thread of one of these classes?"""
    return lambda arguments, named, frame: types.holds(untouched.current_thread())


def task_of(types: Classes) -> Filter:
    """Is there a current task of asyncio, of one of these classes?"""

    def decide(arguments: tuple[Any, ...], named: Mapping[str, Any], frame: FrameType | None) -> bool:
        asyncio = sys.modules.get("asyncio")
        try:
            task = asyncio.current_task() if asyncio is not None else None
            return task is not None and types.holds(task)
        except RuntimeError:  # no loop is running here
            return False

    return decide


def target_of(types: Classes) -> Filter:
    """Is the target of one of these classes?"""
    return lambda arguments, named, frame: bool(arguments) and types.holds(arguments[0])


def argument_count(least: int, most: int | None, *, has_target: bool) -> Filter:
    """Are so many arguments given?"""

    def decide(arguments: tuple[Any, ...], named: Mapping[str, Any], frame: FrameType | None) -> bool:
        given = len(arguments) - has_target + len(named)
        return least <= given and (most is None or given <= most)

    return decide


class _Call:
    """A call within a flow."""

    __slots__ = ("token",)
    token: Token[_Call | None]


class Flow:
    """Whether the program is inside of a call that a pointcut picks; each thread and each task for itself."""

    def __init__(self) -> None:
        self._call: ContextVar[_Call | None] = ContextVar("mopsus_flow", default=None)
        self._made: dict[int, ref[Any]] = {}
        """Coroutines and generators that such calls have made, by the identity of their frames."""

    def enter(self) -> None:
        """A call begins."""
        call = _Call()
        call.token = self._call.set(call)

    def leave(self) -> None:
        """A call ends. Nothing remains of it in the context, which the program can look at."""
        call = self._call.get()
        if call is not None:
            with suppress(ValueError, RuntimeError):  # it began before anybody looked, within one of another context
                self._call.reset(call.token)

    def made(self, result: object) -> None:
        """What a call gave: a coroutine or generator goes on with it whenever it runs."""
        frame = _frame(result)
        if frame is not None:
            key, made = id(frame), self._made
            made[key] = ref(result, lambda _: made.pop(key, None) and None)

    def __call__(self, arguments: tuple[Any, ...], named: Mapping[str, Any], frame: FrameType | None) -> bool:
        if self._call.get() is not None:
            return True
        while frame is not None and self._made:
            found = self._made.get(id(frame))
            if found is not None and _frame(found()) is frame:
                return True
            frame = frame.f_back
        return False


def _frame(value: object) -> FrameType | None:
    """The frame of a coroutine or generator, until that has ended."""
    match value:
        case CoroutineType():
            return value.cr_frame
        case GeneratorType():
            return value.gi_frame
        case AsyncGeneratorType():
            return value.ag_frame
    return None
