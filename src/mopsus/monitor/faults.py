"""Stage 3: errors in the code of a spec: each told with its first traceback, and counted."""

from __future__ import annotations

import re
import traceback
from contextlib import suppress
from types import TracebackType

from mopsus import _core
from mopsus.model import Code, Fault, Faults
from mopsus.model.fault import MOST
from mopsus.model.text import printable
from mopsus.monitor.reading import read_place

_MARKS = re.compile(r"\s*[~^]+\s*")
LONGEST = 20_000
"""Characters of a traceback: messages of errors can be of any length."""
FRAMES = 30
"""How many of the innermost calls a traceback shows: code that calls itself without end has a thousand."""


class FaultBook:
    """The faults of one monitor. Telling one that is known costs next to nothing, for it may be raised by every row."""

    def __init__(self, spec: str) -> None:
        self._spec = spec
        self._known: dict[tuple[str, str, int, str], Fault] = {}
        self.total = 0
        self.all = Faults()

    def add(
        self, error: BaseException, code: str, source: Code | None, event: str | None, stamp: _core.Stamp | None
    ) -> tuple[Fault, bool]:
        """What there is to say about an error of some code, and whether it is new. Its count is 1."""
        self.total += 1
        try:
            begin, last = _frames_of(error.__traceback__, source)
            file, line = (last.tb_frame.f_code.co_filename, last.tb_lineno) if last is not None else _place_of(source)
        except Exception:  # a hook for audits of the program refuses to show frames
            begin, (file, line) = None, _place_of(source)
        key = (code, file, line, type(error).__name__)
        known = self._known.get(key)
        if known is None:
            row, _, location = read_place(stamp) if stamp is not None else (None, None, None)
            place = f"{file}:{line}" if file else None
            told = _told(error, begin)
            known = Fault(self._spec, code, place, type(error).__name__, *told, event, location, row)
            if len(self._known) < MOST:
                self._known[key] = known
        return known, self.all.add(known)


def _frames_of(trace: TracebackType | None, source: Code | None) -> tuple[TracebackType | None, TracebackType | None]:
    """Where a traceback comes into code of the user's, and where it was there last. Without such a place, its ends."""
    file = source.span.file if source is not None and source.span is not None else None
    if source is not None and source.function is not None:
        file = getattr(getattr(source.function, "__code__", None), "co_filename", file)
    begin, last, end = None, None, trace
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            begin, last = begin or trace, trace
        end, trace = trace, trace.tb_next
    return (begin, last) if begin is not None else (end, end if file is None else None)


def _place_of(source: Code | None) -> tuple[str, int]:
    return (source.span.file, source.span.line) if source is not None and source.span is not None else ("", 0)


def _told(error: BaseException, begin: TracebackType | None) -> tuple[str, str]:
    """The message of an error, and its traceback; whatever the error does when it is asked, and nothing of what a hook
    for audits refuses."""
    try:
        shown = traceback.TracebackException(type(error), error, begin, limit=-FRAMES, compact=True)
    except Exception:
        with suppress(Exception):
            return printable(str(error), 500), ""
        return "what it says cannot be read", ""
    if begin is None:
        return printable(str(shown), 500), ""
    # Columns are those of the code as it is compiled, not as it stands in the file of the spec.
    lines = [line for line in "".join(shown.format()).splitlines() if not _MARKS.fullmatch(line)]
    return printable(str(shown), 500), "\n".join(lines)[-LONGEST:]
