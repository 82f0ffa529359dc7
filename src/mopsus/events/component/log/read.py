"""Stage 4: logs of components as blocks of whole lines, and the events on them, whatever their format.

Files, compression and growing logs are read by what reads traces; here is only what the lines mean.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Protocol, cast

import mopsus.monitor.symbolic  # noqa: F401 - tells the core which classes its terms are of
from mopsus import _core
from mopsus.events.component.log import jsonl, text
from mopsus.events.component.log.logging_format import LoggingLines
from mopsus.events.component.log.messages import BadLineError, LogError
from mopsus.events.component.log.terms_file import TermsReader
from mopsus.events.component.occurrence import Function, Kind, Occurrence
from mopsus.events.trace.blocks import cut_blocks
from mopsus.events.trace.follow import Follower
from mopsus.events.trace.read import placed
from mopsus.events.trace.sources import Format, Source, UnreadableError, open_source, read_pieces
from mopsus.model import TraceError
from mopsus.model.term import Pid

_JSON = re.compile(rb'\{\s*["}]')
_TERM = re.compile(rb"\{\s*[a-z']")


class LogFormat(StrEnum):
    """How events stand on the lines of a log."""

    TEXT = "text"
    JSONL = "jsonl"
    TERMS = "terms"


@dataclass(frozen=True, slots=True)
class LogBlock:
    """Whole lines of a log; the first of them has the number `line`."""

    source: str
    line: int
    data: bytes
    begins: bool
    """Is it the first of a file, or of one that was truncated?"""


class ParseLine(Protocol):
    """What reads one line."""

    def __call__(
        self, line: str, *, time: float | None = None, location: str | None = None
    ) -> tuple[Occurrence, int] | None: ...


def detect_log_format(head: bytes) -> LogFormat:
    """The format of a log that begins with these bytes."""
    for line in head.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        stripped = line.strip()
        if stripped and not stripped.startswith(b"%"):
            if _JSON.match(stripped):
                return LogFormat.JSONL
            return LogFormat.TERMS if _TERM.match(stripped) else LogFormat.TEXT
    return LogFormat.TEXT


def read_blocks(sources: Sequence[Source], note: Callable[[int], None]) -> Generator[LogBlock, None, None]:
    """The lines of some logs, one log after the other. `note` hears how many bytes were read."""
    for source in sources:
        line = 1
        try:
            with ExitStack() as closing:
                file = open_source(source)
                if source.path is not None:
                    closing.enter_context(file)
                for block in cut_blocks(read_pieces(file, note)[0], quotes=False):
                    yield LogBlock(source.name, line, block, line == 1)
                    line += block.count(b"\n")
        except UnreadableError as error:
            raise placed(error, source.name, line) from None


def find_roots(sources: Sequence[Source]) -> Callable[[Pid], bool] | None:
    """Who has neither fork nor init in these logs, if all of them are plain text files, which can be read twice."""
    introduced = _core.Introduced()
    for source in sources:
        if source.path is None or not source.path.is_file():
            return None
        try:
            for block in _plain_blocks(source):
                if not introduced.add(block):
                    return None
        except (TraceError, UnreadableError):
            return None  # it is told when its turn comes
    return lambda component: not introduced.has(component)


def _plain_blocks(source: Source) -> Iterator[bytes]:
    with open_source(source) as file:
        pieces, compressed = read_pieces(file, lambda count: None)
        for number, block in enumerate(cut_blocks(pieces, quotes=False)):
            if compressed or (number == 0 and detect_log_format(block) is not LogFormat.TEXT):
                raise UnreadableError("not a plain text log")
            yield block


def follow_blocks(log: Path, stop: threading.Event | None, poll_s: float) -> Generator[LogBlock, None, None]:
    """The lines that a log has and gets, until `stop` is set."""
    line = 1
    try:
        for whole in Follower(log, format=Format.JSONL, stop=stop, poll_s=poll_s):
            line = 1 if whole.begins else line
            yield LogBlock(str(log), line, whole.rows, whole.begins)
            line += whole.rows.count(b"\n")
    except (UnreadableError, OSError) as error:
        reason = error if isinstance(error, UnreadableError) else UnreadableError(error.strerror or str(error))
        raise placed(reason, str(log), line) from None


def live_blocks(name: str, pieces: Iterable[bytes]) -> Generator[LogBlock, None, None]:
    """The lines that come in pieces, as soon as they are whole; the last one may lack its end."""
    line, rest = 1, b""
    for piece in pieces:
        whole, end, rest = (rest + piece).rpartition(b"\n")
        if end:
            yield LogBlock(name, line, whole + end, line == 1)
            line += whole.count(b"\n") + 1
    if rest:
        yield LogBlock(name, line, rest, line == 1)


class EventReader:
    """The events in blocks of lines. With `skip`, lines that cannot be used are left out and counted.

    `format` is found out for each log from its first lines, if it is not given; `log_format` is the format string of
    logs that `logging` writes.
    """

    MOST = 5
    """How many of the bad lines are kept, as examples."""

    def __init__(self, format: LogFormat | None = None, log_format: str | None = None, *, skip: bool = False) -> None:
        self._format = format
        self._logging = LoggingLines(log_format) if log_format is not None else None
        self._skip = skip
        self._parse: ParseLine = text.parse_line
        self._terms: TermsReader | None = None
        self.text = False
        """Is the current log in text, which the core can read?"""
        self.lines = 0
        self.passed_over = 0
        """Lines without an event."""
        self.bad_lines = 0
        self.bad: list[LogError] = []

    def begin(self, block: LogBlock) -> None:
        """A log begins with this block."""
        self.finish()
        format = self._format or detect_log_format(block.data)
        self._terms = None
        self.text = False
        if self._logging is not None:
            self._parse = self._logging.parse_line
        elif format is LogFormat.TEXT:
            self._parse, self.text = text.parse_line, True
        elif format is LogFormat.JSONL:
            self._parse = jsonl.parse_line
        else:
            self._terms = TermsReader()
            self._parse = self._terms.parse_line

    def events(self, block: LogBlock) -> Iterator[tuple[Occurrence, int]]:
        """The events of a block, each with the milliseconds by which it says it is delayed."""
        data = block.data.removeprefix(b"\xef\xbb\xbf") if block.begins else block.data
        lines = data.split(b"\n")
        if not lines[-1]:
            del lines[-1]
        for number, line in enumerate(lines, block.line):
            found = self.event(line, block.source, number)
            if found is not None:
                yield found

    def event(self, line: bytes, source: str, number: int) -> tuple[Occurrence, int] | None:
        """The event of a line, if it has one that can be used; `LogError` if bad lines stop the run."""
        self.lines += 1
        plain = _core.read_log_line(line.removesuffix(b"\r")) if self.text else None
        if plain is not None:
            if plain is False:
                self.passed_over += 1
                return None
            return _plain_occurrence(plain, source, number), plain[4]
        try:
            try:
                found = self._parse(line.removesuffix(b"\r").decode())
            except UnicodeDecodeError as error:
                raise BadLineError("expected UTF-8 text", len(line[: error.start].decode(errors="replace"))) from None
        except BadLineError as error:
            self._reject(error, source, number)
            return None
        if found is None:
            self.passed_over += 1
            return None
        occurrence, delay = found
        return occurrence._replace(location=occurrence.location or source, row=number), delay

    def finish(self) -> None:
        """The log is over."""
        if self._terms is not None and self._terms.open:
            self._terms = None
            self._reject(BadLineError("expected the rest of the event, and a period", 0), "the end of the log", 0)

    def _reject(self, error: BadLineError, source: str, number: int) -> None:
        hint = "correct the line, or leave such lines out with `--bad-rows skip`"
        failure = LogError(error.message, file=source, line=number, column=error.offset + 1, hint=hint)
        if not self._skip:
            raise failure
        self.bad_lines += 1
        if len(self.bad) < self.MOST:
            self.bad.append(failure)


_KINDS: Final = (Kind.FORK, Kind.INIT, Kind.EXIT, Kind.SEND, Kind.RECV)


def _plain_occurrence(found: tuple[int, str, str | None, Any, int], source: str, number: int) -> Occurrence:
    """An event that the core has read."""
    kind, subject, other, data, _ = found
    if kind <= 1:
        module, name, arguments = data
        data = Function(str(module), str(name), tuple(arguments))
    return Occurrence(_KINDS[kind], cast(Pid, subject), cast("Pid | None", other), data, None, source, number)
