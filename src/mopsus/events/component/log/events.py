"""Stage 4: the events on the lines of logs of components, whatever their format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, cast

import mopsus.monitor.symbolic  # noqa: F401 - tells the core which classes its terms are of
from mopsus import _core
from mopsus.events.component.log import jsonl, text
from mopsus.events.component.log.logging_format import LoggingLines
from mopsus.events.component.log.messages import BadLineError, LogError
from mopsus.events.component.log.read import LogBlock, LogFormat, detect_log_format, read_blocks
from mopsus.events.component.log.terms_file import TermsReader
from mopsus.events.component.occurrence import Function, Kind, Occurrence
from mopsus.events.trace.sources import Source, UnreadableError
from mopsus.model import TraceError
from mopsus.model.term import Pid

EXAMPLES: Final = 5


class ParseLine(Protocol):
    """What reads one line."""

    def __call__(
        self, line: str, *, time: float | None = None, location: str | None = None
    ) -> tuple[Occurrence, int] | None: ...


@dataclass(slots=True)
class Tally:
    """What was not used of the logs of a run."""

    passed_over: int = 0
    """Lines without an event."""
    bad_lines: int = 0
    bad: list[LogError] = field(default_factory=list)
    """The first few of them."""


class EventReader:
    """The events in blocks of lines. With `skip`, lines that cannot be used are left out and counted. If a log is
    `shared` with specs about rows, objects with other events are for these, and passed over.

    `format` is found out for each log from its first lines, if it is not given; `log_format` is the format string of
    logs that `logging` writes.
    """

    def __init__(
        self,
        format: LogFormat | None = None,
        log_format: str | None = None,
        *,
        skip: bool = False,
        shared: bool = False,
        tally: Tally | None = None,
    ) -> None:
        self._format = format
        self._log_format = log_format
        self._logging = LoggingLines(log_format) if log_format is not None else None
        self._skip = skip
        self._shared = shared
        self.tally = tally or Tally()
        self._place = ("", 0)
        """The log and the line that was read last."""
        self._parse: ParseLine = text.parse_line
        self._terms: TermsReader | None = None
        self.text = False
        """Is the current log in text, which the core can read?"""

    def sibling(self, tally: Tally | None = None) -> EventReader:
        """A reader of another log of the same run."""
        return EventReader(
            self._format, self._log_format, skip=self._skip, shared=self._shared, tally=tally or self.tally
        )

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
        self._place = (source, number)
        plain = _core.read_log_line(line.removesuffix(b"\r")) if self.text else None
        if plain is not None:
            if plain is False:
                self.tally.passed_over += 1
                return None
            return _plain_occurrence(plain, source, number), plain[4]
        try:
            try:
                found = self._parse(line.removesuffix(b"\r").decode())
            except UnicodeDecodeError as error:
                raise BadLineError("expected UTF-8 text", len(line[: error.start].decode(errors="replace"))) from None
        except BadLineError as error:
            if self._shared and isinstance(error, jsonl.OtherEventError):
                self.tally.passed_over += 1
            else:
                self._reject(error)
            return None
        if found is None:
            self.tally.passed_over += 1
            return None
        occurrence, delay = found
        if occurrence.location is None:
            occurrence = occurrence._replace(location=source, row=number)
        return occurrence, delay

    def finish(self) -> None:
        """The log is over."""
        if self._terms is not None and self._terms.open:
            self._terms = None
            self._reject(BadLineError("expected the rest of the event, and a period", 0))

    def _reject(self, error: BadLineError) -> None:
        source, number = self._place
        hint = "correct the line, or leave such lines out with `--bad-rows skip`"
        failure = LogError(error.message, file=source, line=number, column=error.offset + 1, hint=hint)
        if not self._skip:
            raise failure
        self.tally.bad_lines += 1
        if len(self.tally.bad) < EXAMPLES:
            self.tally.bad.append(failure)


_KINDS: Final = (Kind.FORK, Kind.INIT, Kind.EXIT, Kind.SEND, Kind.RECV)


def _plain_occurrence(found: tuple[int, str, str | None, Any, int], source: str, number: int) -> Occurrence:
    """An event that the core has read."""
    kind, subject, other, data, _ = found
    if kind <= 1:
        module, name, arguments = data
        data = Function(str(module), str(name), tuple(arguments))
    return Occurrence(_KINDS[kind], cast(Pid, subject), cast("Pid | None", other), data, None, source, number)


def functions_in(sources: Sequence[Source], reader: EventReader) -> Iterator[tuple[Pid, Function]]:
    """Who runs what in logs that can be read twice. What cannot be used is told when its turn comes."""
    ahead = reader.sibling(Tally())
    with suppress(TraceError, UnreadableError):
        for block in read_blocks([each for each in sources if each.path is not None and each.path.is_file()], _unnoted):
            if block.begins:
                ahead.begin(block)
            for occurrence, _ in ahead.events(block):
                if isinstance(occurrence.data, Function):
                    whose = occurrence.other if occurrence.kind is Kind.FORK else occurrence.subject
                    yield cast(Pid, whose), occurrence.data


def _unnoted(count: int) -> None:
    """Nobody wants to hear how much is read ahead."""
