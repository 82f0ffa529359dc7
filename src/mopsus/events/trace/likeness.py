"""Stage 4: what a file looks like that is no trace, so that an error can say so.

Nothing is read differently for it: a guess is only ever part of a message.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mopsus.events.trace.sources import BOM

HEAD = 4096
"""Bytes of a file that are looked at."""
PATIENCE = 2000
"""Characters of a line that are looked at."""

_CONVERT = "write its records as CSV with a header or as JSON lines, with a column for each part"
_TIME = re.compile(r"^\d{4}-\d\d-\d\d[ T]\d\d:\d\d")
_TEXTS = (
    (re.compile(r"\[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d"), "an access log of a web server"),
    (re.compile(r"\[\d+\][^A-Z]{0,40}(?:LOG|ERROR|FATAL|WARNING|STATEMENT|DETAIL|HINT): "), "a log of PostgreSQL"),
    (re.compile(r"^(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|<\d{1,3}>)"), "a log of syslog or journald"),
    (re.compile(r"^(?:\d+ +)?(?:[\d.:]+ +)?[a-z_][a-z_0-9]{1,30}\("), "the output of strace"),
    (_TIME, "a log of text"),
)
"""What the lines of some logs have in them, and what the log is then called."""
_DATA = re.compile(r"-?\d+(?:\.\d+)?|\d{4}-\d\d-\d\d.*|")
"""What is rather a value than the name of a column."""
_TELEMETRY = (b'"resourceSpans"', b'"resourceLogs"', b'"resourceMetrics"', b'"scopeSpans"')
_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}


def likeness(head: bytes) -> str:
    """What a file that begins like this looks like, if it is rather no CSV file and no JSON lines; else empty."""
    head = head[:HEAD].removeprefix(BOM)
    if head.startswith((b"\xff\xfe", b"\xfe\xff")) or _every_other_is_zero(head):
        return "it looks like text in UTF-16: convert it to UTF-8"
    if b"\0" in head:
        return "it looks like binary data, neither text nor Parquet nor Arrow: check that this is a trace"
    text = head.lstrip(b" \t\r\n")
    if text.startswith(b"["):
        if text[1:].lstrip(b" \t\r\n")[:1] in (b"{", b"]", b"["):
            return "it looks like a JSON array, which is not read: write one object to a line, as `jq -c '.[]'` does"
    elif text.startswith(b"<?xml"):
        return "it looks like XML: write its records as CSV with a header or as JSON lines"
    elif text.startswith(b"{"):
        return _like_json(text)
    return _like_text(text.decode(errors="replace"))


def _every_other_is_zero(head: bytes) -> bool:
    return len(head) >= 4 and (not any(head[1:64:2]) or not any(head[:64:2]))


def _like_json(text: bytes) -> str:
    line, newline, _ = text.partition(b"\n")
    if any(name in text for name in _TELEMETRY):
        return "it looks like OTLP/JSON, in which a line holds many spans or records: write each as a line of its own"
    if newline and line.count(b"{") > line.count(b"}"):
        return "it looks like JSON over several lines: write one object to a line, as `jq -c .` does"
    return ""


def _like_text(text: str) -> str:
    line = text.partition("\n")[0].rstrip("\r")[:PATIENCE]
    fields = [field.strip(' "') for field in line.split(",")]
    if len(fields) >= 20 and _TIME.search(fields[0]):
        return "it looks like the csvlog of PostgreSQL, which has no header: put the names of its columns before it"
    for separator, name in _SEPARATORS.items():
        if line.count(separator) > line.count(","):
            return f"its fields seem to be separated by {name}: use commas"
    if len(fields) == 1 or any(sign in fields[0] for sign in " (<="):
        for pattern, what in _TEXTS:
            if pattern.search(line):
                return f"it looks like {what}: {_CONVERT}"
        if line.count(" ") > 2:
            return f"it looks like a log of text: {_CONVERT}"
    return _like_rows(fields)


def _like_rows(fields: Sequence[str]) -> str:
    values = sum(_DATA.fullmatch(field) is not None for field in fields)
    if values > len(fields) / 3 or len(set(fields)) < len(fields) > 2:
        return "it seems to have no header: its first line must name the columns"
    return ""
