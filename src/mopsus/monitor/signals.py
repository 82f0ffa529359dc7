"""Stage 3: exceptions of the program that are raised while code of a spec runs, because a signal came just then."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
from collections.abc import Iterator
from types import CodeType, TracebackType

from mopsus import _core


def is_for_the_program(error: BaseException) -> bool:
    """Return whether an exception that code of a spec has let through is to reach the program."""
    return _core.is_wish(error) or is_of_a_signal(error)


def is_of_a_signal(error: BaseException) -> bool:
    """Return whether a handler of a signal has raised this.

    The interpreter runs handlers between any two instructions, also those of a spec. What one raises is for the
    program: a timeout that is meant to end a loop must not be taken for an error of the spec.
    """
    trace = error.__traceback__
    if trace is None or trace.tb_next is None:  # a handler is called by what it interrupts
        return False
    try:
        handlers = {_code_of(_signal.getsignal(number)) for number in _signal.valid_signals()} - {None}
        return bool(handlers) and any(code in handlers for code in _codes(trace))
    except Exception:  # a hook for audits of the program refuses to show frames
        return False


def _codes(trace: TracebackType | None) -> Iterator[CodeType]:
    while trace is not None:
        yield trace.tb_frame.f_code
        trace = trace.tb_next


def _code_of(handler: object) -> CodeType | None:
    """The code that runs when a handler is called: of a function, a method, a partial function or an object."""
    function = getattr(handler, "func", handler)
    function = getattr(function, "__func__", function)
    if not hasattr(function, "__code__"):
        function = vars(type(function)).get("__call__")
    code = getattr(function, "__code__", None)
    return code if isinstance(code, CodeType) else None
