"""What a test expects: exceptions that `pytest.raises` and `assertRaises` of `unittest` have caught.

A finding and an exception belong together if the exception has left a frame by the very instruction at which the event
of the finding happened: then what was refused is what the test asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from importlib import import_module
from types import FrameType, TracebackType
from typing import Any, TypeAlias

from mopsus import untouched
from mopsus.events.weave.origin import is_ours

Point: TypeAlias = "tuple[int, int, int]"
"""The identities of a frame and its code, and the instruction. Nothing is kept alive for it."""

_CONTEXTS = (
    ("unittest.case", "_AssertRaisesContext"),
    ("_pytest.raises", "RaisesExc"),
    ("_pytest.raises", "RaisesGroup"),
    ("_pytest.python_api", "RaisesContext"),  # until pytest 8.3
)


def running_point() -> Point | None:
    """Where the program, and not its monitor, is."""
    frame: FrameType | None = untouched.frame_above(1)
    while frame is not None and is_ours(frame.f_globals.get("__name__")):
        frame = frame.f_back
    return None if frame is None else (id(frame), id(frame.f_code), frame.f_lasti)


def points_of(error: BaseException, trace: TracebackType | None) -> Iterator[Point]:
    """The points at which an exception has left frames, or one that was being handled when it was raised, or that it is
    a group of."""
    known = {id(error)}
    pending = [(error, trace)]
    while pending:
        error, trace = pending.pop()
        while trace is not None:
            yield id(trace.tb_frame), id(trace.tb_frame.f_code), trace.tb_lasti
            trace = trace.tb_next
        members = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
        for each in (error.__cause__, error.__context__, *members):
            if each is not None and id(each) not in known:
                known.add(id(each))
                pending.append((each, each.__traceback__))


class Expectations:
    """Tells, from `start` to `stop`, what tests expect and get.

    `met` is called with an exception that was expected, and then, in any case, `over`, when nothing more is expected.
    """

    def __init__(
        self, met: Callable[[BaseException, TracebackType | None], object], over: Callable[[], object]
    ) -> None:
        self._met, self._over = met, over
        self._before: list[tuple[Any, str, Any]] = []
        self.open = 0
        """How many exceptions are being waited for, in all threads."""

    def start(self) -> None:
        """Listen to the context managers that expect exceptions, as far as there are any."""
        for module, name in _CONTEXTS:
            try:
                context: Any = getattr(import_module(module), name, None)
            except ImportError:
                continue
            if context is not None and {"__enter__", "__exit__"} <= vars(context).keys():
                self._put(context, "__enter__", self._entering)
                self._put(context, "__exit__", self._leaving)

    def stop(self) -> None:
        """Put everything back."""
        while self._before:
            setattr(*self._before.pop())

    def _put(self, context: Any, name: str, around: Callable[..., Any]) -> None:  # noqa: ANN401 - a class of others
        method = getattr(context, name)
        self._before.append((context, name, method))
        setattr(context, name, around(method))

    def _entering(self, enter: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(enter)
        def __enter__(context: object) -> Any:  # noqa: ANN401 - as it is
            self.open += 1
            return enter(context)

        return __enter__

    def _leaving(self, leave: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(leave)
        def __exit__(context: object, *given: Any) -> Any:  # noqa: ANN401 - as it is
            __tracebackhide__ = True
            _, error, trace = given
            expected = False
            try:
                expected = leave(context, *given)
            finally:
                self.open -= 1
                if expected and error is not None:
                    self._met(error, trace)
                if self.open <= 0:
                    self._over()
            return expected

        return __exit__
