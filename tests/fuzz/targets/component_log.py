"""Logs of components, in all formats: a line is an event, nothing, or bad at a place in it; an event that is written
again and read again is the same. The first byte says which format."""

from __future__ import annotations

from fuzz.errors import check_error

from mopsus.events.component.log import jsonl, text
from mopsus.events.component.log.logging_format import FormatStringError, LoggingLines
from mopsus.events.component.log.messages import BadLineError, UnwritableError
from mopsus.events.component.log.read import detect_log_format
from mopsus.events.component.log.terms_file import TermsReader, format_term

LOGGING = (
    LoggingLines("%(asctime)s %(levelname)-8s [%(threadName)s] %(name)s: %(message)s"),
    LoggingLines("%(created)f %(process)d %(message)s"),
)


def one(data: bytes) -> None:
    detect_log_format(data)
    kind, lines = data[:1], data[1:].decode("utf-8", "replace").split("\n")
    terms = TermsReader()
    if kind == b"f":
        check_format(lines)
        return
    for line in lines:
        try:
            match kind:
                case b"j":
                    again(jsonl.parse_line(line), jsonl.parse_line, jsonl.format_line)
                case b"e":
                    again(terms.parse_line(line), lambda written: TermsReader().parse_line(written), format_term)
                case b"l":
                    for reader in LOGGING:
                        reader.parse_line(line)
                case _:
                    again(text.parse_line(line), text.parse_line, text.format_line)
        except BadLineError as error:
            check_place(error, line)


def check_format(lines: list[str]) -> None:
    """The first line is the format of the others."""
    try:
        reader = LoggingLines(lines[0])
    except FormatStringError as error:
        check_error(error)
        return
    for line in lines[1:]:
        try:
            reader.parse_line(line)
        except BadLineError as error:
            check_place(error, line)


def check_place(error: BadLineError, line: str) -> None:
    assert error.message
    assert 0 <= error.offset <= len(line), "the place is not in the line"


def again(found, parse, format) -> None:
    if found is None:
        return
    event = found[0]
    try:
        written = format(event._replace(time=None, location=None))
    except UnwritableError:
        return
    read = parse(written)
    assert read is not None
    assert repr(read[0][:4]) == repr(event[:4]), (read[0], event)
