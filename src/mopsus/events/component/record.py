"""Stage 4: a log of what components of a program do, with no monitor at all.

Every line is written at once, by one call of the system: so the lines of all processes of a program go into one file,
those of a component in its order, and nothing is lost when a process is killed.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Literal, TypeAlias

from mopsus.events.component import hooks
from mopsus.events.component.hooks.wiring import Undo, is_internal
from mopsus.events.component.log.messages import UnwritableError
from mopsus.events.component.marks import Marks, whole
from mopsus.events.component.occurrence import Kind, Occurrence
from mopsus.model.term import Pid

Format: TypeAlias = Literal["hml", "jsonl"]


class Recorder:
    """Writes what components of this process do into a file, from `start` to `stop`."""

    def __init__(self, path: str, form: Format = "hml", *, append: bool = False) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | (0 if append else os.O_TRUNC), 0o666)
        self._write = _writer(form)
        self._placed = form == "jsonl"
        self._marks = Marks()
        self._undo: Undo | None = None
        self.events = 0
        self.opaque = 0
        """Events with a value that has no form in a log, in place of which there is a mark."""

    def start(self, keep: hooks.Keep | None = None, *, envelopes: bool = False) -> None:
        """Write from now on. With `keep`, messages of which it says False are left out.

        With `envelopes`, the line of a send comes before that of its recv, also in another process.
        """
        self._undo = hooks.install(self.emit, keep=keep, envelopes=envelopes)

    def stop(self) -> None:
        """Write no more. Safe to call twice."""
        undo, self._undo = self._undo, None
        if undo is not None:
            undo()
            os.close(self._file)

    def emit(self, kind: Kind, subject: Pid, other: Pid | None, data: object) -> None:
        """Write something that happened."""
        if self._placed:
            happened = Occurrence(kind, subject, other, data, time.time(), _place())
        else:
            happened = Occurrence(kind, subject, other, data)
        try:
            line = self._write(happened)
        except UnwritableError:
            self.opaque += 1
            line = self._write(happened._replace(data=self._marks.writable(data)))
        self.events += 1
        os.write(self._file, line.encode() + b"\n")


def _writer(form: Format) -> Callable[[Occurrence], str]:
    if form == "hml":
        from mopsus.events.component.log.text import format_line

        return format_line
    from mopsus.events.component.log.jsonl import format_line as format_json

    return format_json


def _place() -> str | None:
    """Where in the program it happened."""
    frame = sys._getframe(2)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if not (module.startswith("mopsus.") or is_internal(module) or module in ("threading", "queue")):
            return f"{whole(frame.f_code.co_filename)}:{frame.f_lineno}"
        if frame.f_back is None:
            return None
        frame = frame.f_back
    return None
