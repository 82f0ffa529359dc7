"""Stage 4: how hooks are put on functions of a library, and taken away again.

They stand on the same native advice that weaving puts: what is called stays what it was in signature, result,
errors and tracebacks; an error in a hook is told and forgotten; what a hook does is nobody's event.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

from mopsus import _core
from mopsus.events.component.occurrence import Kind
from mopsus.events.weave.joinpoints import Advised, From, Moment, Source, Tap
from mopsus.events.weave.place import Placements
from mopsus.model.term import Pid

Emit: TypeAlias = "Callable[[Kind, Pid, Pid | None, object], object]"
"""Takes what happened: kind, subject, the other component if there is one, data."""
Undo: TypeAlias = "Callable[[], None]"

SELF: Final = Source(From.TARGET)
RESULT: Final = Source(From.RESULT)
ERROR: Final = Source(From.EXCEPTION)

INTERNAL: Final = ("asyncio", "concurrent", "multiprocessing", "pykka")
"""Packages whose own threads, tasks and messages are not the program's."""


def argument(index: int, name: str) -> Source:
    """An argument of a call, by position or by name."""
    return Source(From.ARGUMENT, index, name)


def before(told: Callable[..., object], *sources: Source) -> Tap:
    """Tell a function of a call that is about to be made."""
    return _tap(Moment.BEFORE, told, sources)


def returning(told: Callable[..., object], *sources: Source) -> Tap:
    """Tell a function of a call that has given a result."""
    return _tap(Moment.RETURNING, told, sources)


def raising(told: Callable[..., object], *sources: Source) -> Tap:
    """Tell a function of a call that has raised an exception."""
    return _tap(Moment.RAISING, told, sources)


def spying(told: Callable[[tuple[Any, ...], Mapping[str, Any]], object]) -> Tap:
    """Tell a function of all arguments of a call that is about to be made."""
    return Tap("", told.__name__, Moment.BEFORE, _nothing, admits=lambda given, named: bool(told(given, named)))


def _nothing() -> None:
    pass


def giving(other: Callable[..., object], *sources: Source) -> Tap:
    """Give a call what a function makes of the last source, one of its arguments."""
    return _tap(Moment.GIVING, other, sources)


def getting(other: Callable[..., object], *sources: Source) -> Tap:
    """Get from a call what a function makes of the last source, its result."""
    return _tap(Moment.GETTING, other, sources)


def _tap(moment: Moment, told: Callable[..., object], sources: tuple[Source, ...]) -> Tap:
    code = getattr(told, "__code__", None) or getattr(getattr(told, "__func__", None), "__code__", None)
    if code is not None:
        _core.hide(code)  # what is told happened in the program
    return Tap("", told.__name__, moment, told, sources, (None,) * len(sources))


def hide(*functions: Any) -> None:  # noqa: ANN401 - functions and methods
    """Let what is told of during a call of these have happened where they were called."""
    for function in functions:
        _core.hide(function.__code__)


def put(advised: Iterable[Advised]) -> Undo:
    """Put taps on functions; gives what takes them away."""
    placements = Placements()
    placements.put(advised)
    return placements.undo


def advise(function: Callable[..., Any], *taps: Tap) -> Callable[..., Any]:
    """A function that does and looks like another, with taps on its calls."""
    return _core.Advice(function, taps, "function", getattr(function, "__name__", "call"))


def is_internal(module: str | None) -> bool:
    """Does a module belong to a library that runs components, and not to the program?"""
    return module is not None and module.partition(".")[0] in INTERNAL


def called_internally(but: str | None = None) -> bool:
    """Is what a hook was called for done by such a library, on its own account? To be asked by the hook itself.

    `but` is a module of such a library that acts for the program.
    """
    module = sys._getframe(2).f_globals.get("__name__")
    return is_internal(module) and module != but
