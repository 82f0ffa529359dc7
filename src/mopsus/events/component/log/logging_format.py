"""Stage 4: events of components in what Python's `logging` writes.

A format string says where in a line the message stands, and with it time and place. A message that looks like an event
is one, as text or as JSON; all other lines of a program's log are passed over.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, TypeAlias

from mopsus.events.component.log import jsonl, text
from mopsus.events.component.log.messages import BadLineError, UnwritableError
from mopsus.events.component.marks import Marks
from mopsus.events.component.occurrence import Kind, Occurrence
from mopsus.model import MopsusError
from mopsus.model.term import Pid

Form: TypeAlias = Literal["text", "jsonl"]

_FIELD = re.compile(r"%(?:\((\w+)\)([-+ #0]*+)(\d*+)(?:\.\d+)?([sdifr])|%)")
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
_MOST_WAYS: Final = 100_000
"""In how many ways a line may be shared among the fields, so that all of them are tried."""


class FormatStringError(MopsusError):
    """A format string says not where the message stands."""

    code = "LOG-003"


class LoggingLines:
    """Reads lines that `logging` wrote with a format string."""

    def __init__(self, format: str) -> None:
        pieces = _pieces_of(format)
        self._plain = _pattern_of(pieces, plain=True)
        self._any = _pattern_of(pieces, plain=False)
        self._ends = [piece.end for piece in pieces if piece.name not in (None, "message", "asctime")]

    def parse_line(
        self, line: str, *, time: float | None = None, location: str | None = None
    ) -> tuple[Occurrence, int] | None:
        """The event in the message of a line; None if there is none. `BadLineError` if what looks like one is not."""
        found = self._plain.fullmatch(line) or (self._any.fullmatch(line) if self._is_simple(line) else None)
        if found is None:
            return None
        message, time = found["message"], _time(found, time)
        parse = jsonl.parse_line if message.lstrip().startswith("{") else text.parse_line
        try:
            return parse(message, time=time, location=location)
        except BadLineError as error:
            raise BadLineError(error.message, error.offset + found.start("message")) from None

    def _is_simple(self, line: str) -> bool:
        """Are there few ways to share it among the fields? A line made for it could have more than can be tried."""
        ways = 1
        for end in self._ends:
            ways *= max(1, line.count(end) if end else len(line))
        return ways <= _MOST_WAYS


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


@dataclass(frozen=True, slots=True)
class _Piece:
    """A field, or nothing, and the text between it and the next field."""

    name: str | None
    letter: str
    left: bool
    """Are there blanks after a short value? Otherwise they are before it."""
    padded: bool
    end: str

    def shape(self, *, plain: bool) -> str:
        """What it looks like. `plain`: a word does not contain what ends it, so there is one way to read it."""
        if (other := _SHAPES.get(self.name or "")) is not None:
            return other
        if not plain:
            return _NUMBER if self.letter in "dif" else _WORD
        before = " {0,40}+" if self.padded and not self.left else ""
        after = " {0,40}" if self.padded and self.left else ""
        if self.letter in "dif":
            return rf"{before}-?\d{{1,40}}+(?:\.\d{{1,40}}+)?+{after}"
        stop = f"(?!{re.escape(self.end)})" if self.end else ""
        return rf"{before}(?:{stop}\S){{1,300}}+{after}"


def _pieces_of(format: str) -> list[_Piece]:
    """A format in pieces, of which the first is no field. `FormatStringError` if it says not where the message is."""
    fields: list[tuple[str | None, str, bool, bool]] = [(None, "", False, False)]
    ends = [""]
    end = 0
    for match in _FIELD.finditer(format):
        ends[-1] += format[end : match.start()]
        if match[1] is None:
            ends[-1] += "%"
        else:
            fields.append((match[1], match[4], "-" in match[2], bool(match[3])))
            ends.append("")
        end = match.end()
    ends[-1] += format[end:]
    if not any(name == "message" for name, *_ in fields):
        hint = "write it as for `logging.Formatter`: '%(asctime)s %(name)s %(message)s'"
        raise FormatStringError(f"the format '{format}' has no %(message)s", hint=hint)
    return [_Piece(*each, end) for each, end in zip(fields, ends, strict=True)]


def _pattern_of(pieces: list[_Piece], *, plain: bool) -> re.Pattern[str]:
    parts: list[str] = []
    known: set[str] = set()
    for piece in pieces:
        name = piece.name
        if name is not None:
            # A pattern can only have a name once, and no number.
            new = name not in known and name.isidentifier()
            parts.append(f"(?P<{name}>{piece.shape(plain=plain)})" if new else f"(?:{piece.shape(plain=plain)})")
            known.add(name)
        parts.append(re.escape(piece.end))
    return re.compile("".join(parts), re.DOTALL)


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
