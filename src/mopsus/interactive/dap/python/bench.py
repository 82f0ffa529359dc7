"""A Python program that stands still, for an editor: its threads, frames and variables, and what can be evaluated."""

from __future__ import annotations

import linecache
import os
import re
import rlcompleter
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from inspect import CO_OPTIMIZED
from signal import Signals
from types import FrameType, TracebackType
from typing import Protocol
from weakref import WeakKeyDictionary

from mopsus.events.weave.origin import is_ours
from mopsus.interactive.commands import completions
from mopsus.interactive.dap.python.points import Points
from mopsus.interactive.dap.python.variables import (
    Globals,
    Result,
    Variables,
    arguments_of,
    assigned,
    execute,
    namespace,
    value_of,
    variable,
)
from mopsus.interactive.dap.workbench import (
    Answer,
    Completion,
    Data,
    Filtered,
    Frame,
    Inside,
    Placed,
    Scope,
    Source,
    Thread,
    Variable,
    Wanted,
    Workbench,
)
from mopsus.interactive.debugger import DebuggerError
from mopsus.interactive.python.atlas import Atlas
from mopsus.model import Place, PlaceKind

_NOTHING = Variable("", "")
_NO_DATA = "the interpreter does not tell when data is used: set breakpoints with a condition where that may be"
_FAMILY = re.compile(r"\s*+(verde|mopsus)(\s++(?P<rest>.*)|\s*+$)", re.DOTALL)
_LAST_WORD = re.compile(r"[\w.]*$")


class Debugged(Protocol):
    """The debugger, as far as the workbench needs it."""

    atlas: Atlas

    def known(self, place: Place) -> str | None: ...
    def command(self, line: str) -> bool: ...


class PythonBench(Workbench):
    """Stands where the program was last stopped. Other threads of the program run on until they come to a point of
    their own; what is shown of them is how they were when they were looked at."""

    def __init__(self, debugger: Debugged, say: Callable[[str], object]) -> None:
        """`say` is for what breakpoints say instead of stopping."""
        self.points = Points(debugger.atlas, say)
        self._debugger = debugger
        self._frame: FrameType | None = None
        self._bottom: FrameType | None = None
        self._raised: Sequence[TracebackType] = ()
        self._thread: threading.Thread | None = None
        self._returned: Result | None = None
        self._numbers: WeakKeyDictionary[threading.Thread, int] = WeakKeyDictionary()

    def stand(
        self, frame: FrameType, bottom: FrameType | None, trace: TracebackType | None, returned: Result | None
    ) -> None:
        """The program stands in a frame, or where an exception was raised. What lies below its bottom is none of its
        own. Maybe a function has just returned something there."""
        raised = list(_traces(trace))
        self._frame = raised[-1].tb_frame if raised else frame
        self._bottom, self._raised, self._returned = bottom, raised, returned
        self._thread = threading.current_thread()

    def leave(self) -> None:
        """It goes on."""
        self._frame, self._bottom, self._raised, self._returned = None, None, (), None

    @property
    def thread(self) -> int:
        """The number of the thread that was stopped."""
        return self._number(self._thread or threading.main_thread())

    def stack_lines(self) -> list[str]:
        """The stack as a traceback has it."""
        return traceback.StackSummary.extract(reversed(self._frames(self.thread))).format()

    # ---- looking

    def threads(self) -> Sequence[Thread]:
        return [Thread(self._number(each), each.name) for each in threading.enumerate()]

    def stack(self, thread: int, start: int, count: int | None) -> tuple[Sequence[Frame], int | None]:
        frames = self._frames(thread)
        some = frames[start:] if count is None else frames[start : start + count]
        return [self._shown(*each) for each in some], len(frames)

    def scopes(self, frame: Frame) -> Sequence[Scope]:
        where = _frame(frame)
        scopes = []
        if where is self._frame and self._returned is not None:
            scopes.append(Scope("Returned", self._returned))
        code = where.f_code
        if code.co_flags & CO_OPTIMIZED:
            arguments = arguments_of(code)
            others = [name for name in where.f_locals if name not in arguments]
            scopes.append(Scope("Locals", Variables(where, others), "locals"))
            if arguments:
                scopes.append(Scope("Arguments", Variables(where, arguments), "arguments"))
        elif where.f_locals is not where.f_globals:  # the body of a class
            scopes.append(Scope("Locals", Variables(where, list(where.f_locals)), "locals"))
        scopes.append(Scope("Globals", Globals(where), expensive=bool(scopes)))
        return scopes

    def evaluate(self, text: str, frame: Frame | None) -> Variable:
        where = self._where(frame)
        return variable("", value_of(text, where), where, expression=text)

    def assign(self, text: str, value: str, frame: Frame | None) -> Variable:
        where = self._where(frame)
        return variable("", assigned(text, value_of(value, where), where), where, expression=text)

    def command(self, text: str, frame: Frame | None) -> Answer:
        family = _FAMILY.fullmatch(text)
        if family is not None:
            return Answer(_NOTHING, self._debugger.command(family["rest"] or ""))
        where = self._where(frame)
        try:
            compile(text.strip(), "<editor>", "eval")
        except SyntaxError:
            execute(text, where)
            return Answer(_NOTHING)
        found = self.evaluate(text.strip(), frame)
        return Answer(_NOTHING if found.type == "NoneType" else found)

    def completions(self, text: str, frame: Frame | None) -> Sequence[Completion]:
        family = _FAMILY.fullmatch(text)
        if family is not None:
            typed = family["rest"] or ""
            return [Completion(each, len(text) - len(typed), len(typed)) for each in completions(typed)]
        found = _LAST_WORD.search(text)
        word = found[0] if found is not None else ""
        completer = rlcompleter.Completer(namespace(self._where(frame)))
        names = dict.fromkeys(_completed(completer, word)) if word else {}
        return [Completion(each, len(text) - len(word), len(word)) for each in names]

    def signal(self, number: Signals) -> None:
        os.kill(os.getpid(), number)

    # ---- points

    def set_breakpoints(self, path: str, wanted: Sequence[Wanted]) -> Sequence[Placed]:
        return self.points.set_lines(path, wanted)

    def set_function_breakpoints(self, wanted: Sequence[Wanted]) -> Sequence[Placed]:
        return self.points.set_functions(wanted, self._check_function)

    def set_filters(self, filters: Sequence[Filtered]) -> Sequence[Placed]:
        return self.points.set_filters(filters)

    def set_data_breakpoints(self, wanted: Sequence[Wanted]) -> Sequence[Placed]:
        return [Placed(None, False, message=_NO_DATA) for _ in wanted]

    def data(self, name: str, inside: Inside | None, frame: Frame | None) -> Data:
        return Data(None, _NO_DATA)

    # ---- how it works

    def _check_function(self, name: str) -> None:
        wrong = self._debugger.known(Place(PlaceKind.CALL, name))
        if wrong is not None:
            raise DebuggerError(wrong)

    def _number(self, thread: threading.Thread) -> int:
        """The main one is always 1; no number is given twice."""
        if thread is threading.main_thread():
            return 1
        return self._numbers.setdefault(thread, max(self._numbers.values(), default=1) + 1)

    def _frames(self, thread: int) -> list[tuple[FrameType, int]]:
        """Innermost first, each with its line."""
        found = next((each for each in threading.enumerate() if self._number(each) == thread), None)
        if found is None:
            raise DebuggerError(f"there is no thread {thread}", hint="it may have ended")
        if found is not self._thread:
            frames = self._callers(sys._current_frames().get(found.ident or 0))
        elif self._raised:
            frames = ((each.tb_frame, each.tb_lineno) for each in reversed(self._raised))
        else:
            frames = self._callers(self._frame)
        return [each for each in frames if not is_ours(each[0].f_globals.get("__name__"))]

    def _callers(self, frame: FrameType | None) -> Iterator[tuple[FrameType, int]]:
        while frame is not None:
            yield frame, frame.f_lineno
            frame = None if frame is self._bottom else frame.f_back

    def _shown(self, frame: FrameType, line: int) -> Frame:
        code = frame.f_code
        spot = self._debugger.atlas[code]
        name = code.co_qualname.replace(".<locals>", "")
        return Frame(frame, name, _source(frame), line, 1, subtle=spot is not None and not spot.own)

    def _where(self, frame: Frame | None) -> FrameType:
        if frame is not None:
            return _frame(frame)
        if self._frame is None:
            raise DebuggerError("the program is not there", hint="start it, or wait until it stops")
        return self._frame


def _frame(frame: Frame) -> FrameType:
    assert isinstance(frame.handle, FrameType)
    return frame.handle


def _traces(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _source(frame: FrameType) -> Source:
    """A file, or what the interpreter remembers of a text that never was one."""
    path = frame.f_code.co_filename
    name = os.path.basename(path)
    if os.path.isfile(path):
        return Source(name, os.path.abspath(path))
    return Source(name, text="".join(linecache.getlines(path, frame.f_globals)) or None)


def _completed(completer: rlcompleter.Completer, word: str) -> Iterator[str]:
    number = 0
    while (found := completer.complete(word, number)) is not None:
        yield found.strip()
        number += 1
