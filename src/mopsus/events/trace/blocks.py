"""Stage 4: cut a stream of text into blocks of whole rows.

The cuts depend on the bytes alone, never on how they arrive or on what parses them, because the
types of undeclared columns are decided by the first block.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from mopsus._core import count_byte
from mopsus.events.trace.sources import UnreadableError

BLOCK = 1 << 20
"""Bytes in a block, unless a row is longer; the default of pyarrow's CSV reader as well."""

LONGEST_ROW = 64 << 20
"""A longer row is an error: it is almost always an unclosed quote, and memory must stay bounded."""

COUNTINGS = 16
"""How many cuts to try by counting quotes; a file that needs more is an odd one."""

_QUOTED = re.compile(rb'(?:(?<=[,\n\r])|\A)"(?:[^"]+|"")*+(?:"(?!")|\Z)')


def cut_blocks(pieces: Iterable[bytes], *, quotes: bool) -> Iterator[bytes]:
    """Blocks that end where a row ends; only the last may lack its newline.

    With `quotes`, a newline in a quoted field ends no row. When the pieces break off with an error, the
    whole rows before it come first and the started row does not come at all.
    """
    pending = bytearray()
    end_of_stream = False
    stream = iter(pieces)
    while not end_of_stream:
        wanted = BLOCK if len(pending) < BLOCK else 2 * len(pending)
        try:
            end_of_stream = _fill(pending, stream, wanted)
        except UnreadableError:
            cut = last_row_end(pending, quotes)
            if cut:
                yield _taken(pending, cut)
            raise
        while len(pending) >= BLOCK and (cut := last_row_end(pending, quotes, BLOCK)):
            yield _taken(pending, cut)
        if len(pending) > LONGEST_ROW:
            raise endless_row(quotes=quotes)
    if pending:
        yield bytes(pending)


def endless_row(*, quotes: bool) -> UnreadableError:
    """The error for a row beyond all measure."""
    hint = "look for a quote that is not closed" if quotes else "is this really a file of JSON lines?"
    return UnreadableError(f"a row is longer than {LONGEST_ROW >> 20} MiB", hint)


def _taken(pending: bytearray, end: int) -> bytes:
    with memoryview(pending) as view:
        taken = bytes(view[:end])
    del pending[:end]
    return taken


def _fill(pending: bytearray, stream: Iterator[bytes], wanted: int) -> bool:
    while len(pending) < wanted:
        piece = next(stream, None)
        if piece is None:
            return True
        pending += piece
    return False


def last_row_end(text: bytearray, quotes: bool, limit: int | None = None) -> int:
    """The end of the last whole row within the first `limit` bytes (or the first row after them); 0 if none ends.

    Without stray quotes, a newline is outside quotes exactly if the number of quotes before it is even, and
    counting is far quicker than parsing. Where counting finds no cut, the quoted fields are looked at one by one.
    """
    end = len(text) if limit is None else min(limit, len(text))
    cut = text.rfind(b"\n", 0, end) + 1
    if not quotes or (cut and text.find(b'"', 0, cut) < 0):
        return cut or text.find(b"\n", end) + 1
    for _ in range(COUNTINGS):
        if count_byte(text, '"', cut) % 2 == 0:
            break
        cut = text.rfind(b"\n", 0, text.rfind(b'"', 0, cut)) + 1
    else:
        cut = 0
    return cut or _scan_row_end(text, end)


def _scan_row_end(text: bytearray, end: int) -> int:
    cut = position = 0
    quoted = [match.span() for match in _QUOTED.finditer(text)]
    for start, stop in (*quoted, (len(text), len(text))):
        cut = max(cut, text.rfind(b"\n", position, min(start, end)) + 1)
        if start >= end:
            # What lies further on must not matter, because more of it may be there another time.
            beyond = cut or text.find(b"\n", max(position, end), start) + 1
            if beyond:
                return beyond
        position = stop
    return cut
