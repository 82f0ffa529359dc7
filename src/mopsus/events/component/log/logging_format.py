"""Stage 4: events of components in what Python's `logging` writes.

A format string says where in a line the message stands, and with it time and place. A message that looks like an event
is one, as text or as JSON; all other lines of a program's log are passed over.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from datetime import datetime
from typing import Final, Literal, TypeAlias

from mopsus.events.component.log import jsonl, text
from mopsus.events.component.log.messages import BadLineError, UnwritableError
from mopsus.events.component.marks import Marks
from mopsus.events.component.occurrence import Kind, Occurrence
from mopsus.model import MopsusError
from mopsus.model.term import Pid

Form: TypeAlias = Literal["text", "jsonl"]

_FIELD = re.compile(r"%(?:\((\w+)\)[-+ #0]*+\d*+(?:\.\d+)?([sdifr])|%)")
# Everything has a bound, so that a line that fits nearly takes no longer than others.
_NUMBER: Final = r" {0,40}-?\d{1,40}(?:\.\d{1,40})?"
_WORD: Final = r" {0,40}\S{1,300} {0,40}"
_SHAPES: Final = {
    "asctime": r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?",
    "message": r"\s{0,40}(?:(?:fork|init|exit|send|recv)\s*\(|\{\s*\"event\"\s*:).*",
    "threadName": ".{1,100}?",
    "processName": ".{1,100}?",
    "taskName": ".{1,100}?",
}
"""What stands for fields that are no plain words or numbers. A message counts only if it looks like an event."""


class FormatStringError(MopsusError):
    """A format string says not where the message stands."""

    code = "LOG-003"


class LoggingLines:
    """Reads lines that `logging` wrote with a format string."""

    def __init__(self, format: str) -> None:
        self._pattern = _pattern_of(format)

    def parse_line(
        self, line: str, *, time: float | None = None, location: str | None = None
    ) -> tuple[Occurrence, int] | None:
        """The event in the message of a line; None if there is none. `BadLineError` if what looks like one is not."""
        found = self._pattern.fullmatch(line)
        if found is None:
            return None
        message, time = found["message"], _time(found, time)
        parse = jsonl.parse_line if message.lstrip().startswith("{") else text.parse_line
        try:
            return parse(message, time=time, location=location)
        except BadLineError as error:
            raise BadLineError(error.message, error.offset + found.start("message")) from None


def _time(found: re.Match[str], default: float | None) -> float | None:
    fields = found.groupdict()
    created, asctime = fields.get("created"), fields.get("asctime")
    if created is not None:
        return float(created)
    if asctime is None:
        return default
    try:
        return datetime.fromisoformat(asctime.replace(",", ".")).timestamp()
    except (ValueError, OverflowError):
        raise BadLineError("there is no such time", found.start("asctime")) from None


def _pattern_of(format: str) -> re.Pattern[str]:
    parts: list[str] = []
    known: set[str] = set()
    end = 0
    for match in _FIELD.finditer(format):
        parts.append(re.escape(format[end : match.start()]))
        parts.append("%" if match[1] is None else _group(match[1], match[2], known))
        end = match.end()
    parts.append(re.escape(format[end:]))
    if "message" not in known:
        hint = "write it as for `logging.Formatter`: '%(asctime)s %(name)s %(message)s'"
        raise FormatStringError(f"the format '{format}' has no %(message)s", hint=hint)
    return re.compile("".join(parts), re.DOTALL)


def _group(name: str, letter: str, known: set[str]) -> str:
    shape = _SHAPES.get(name) or (_NUMBER if letter in "dif" else _WORD)
    if name in known or not name.isidentifier():  # a pattern can only have a name once, and no number
        return f"(?:{shape})"
    known.add(name)
    return f"(?P<{name}>{shape})"


# ---- writing ---------------------------------------------------------------------------------


class EventFormatter(logging.Formatter):
    """Formats what components do as events, and all other messages as ever.

    An event is a record whose message is an `Occurrence`, such as `emitter` logs.
    """

    def __init__(self, fmt: str | None = None, datefmt: str | None = None, *, form: Form = "text") -> None:
        super().__init__(fmt, datefmt)
        self._format_line = text.format_line if form == "text" else jsonl.format_line
        self._marks = Marks()

    def format(self, record: logging.LogRecord) -> str:
        event: object = record.msg
        if isinstance(event, Occurrence):
            record = logging.makeLogRecord(record.__dict__)
            record.msg, record.args = self._line(event), None
        return super().format(record)

    def _line(self, event: Occurrence) -> str:
        try:
            return self._format_line(event)
        except UnwritableError:
            return self._format_line(event._replace(data=self._marks.writable(event.data)))


def emitter(logger: logging.Logger, level: int = logging.INFO) -> Callable[[Kind, Pid, Pid | None, object], None]:
    """A function that logs what components do; hooks take it as their `emit`."""

    def emit(kind: Kind, subject: Pid, other: Pid | None, data: object) -> None:
        logger.log(level, Occurrence(kind, subject, other, data))

    return emit
