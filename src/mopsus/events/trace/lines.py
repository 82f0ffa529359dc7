"""Stage 4: the line of a text file on which a row stands, for programs that go to lines.

Counted only when asked for: monitoring needs the numbers of rows and nothing else, and those of a
file are its lines only where it has no header, no blank lines and no line breaks in quotes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain
from pathlib import Path

from mopsus.events.trace.blocks import cut_blocks
from mopsus.events.trace.rows import record_lines
from mopsus.events.trace.sources import BOM, Format, Source, UnreadableError, detect_format, open_source, read_pieces
from mopsus.model import TraceError


def find_lines(name: str, rows: Collection[int], format: Format | None = None) -> dict[int, int]:
    """The lines of these rows of a trace, as far as it is an uncompressed text file that can still be read."""
    path = Path(name)
    if not rows or not path.is_file():
        return {}
    wanted, last = frozenset(rows), max(rows)
    found: dict[int, int] = {}
    try:
        for row, line in _lines(path, format):
            if row in wanted:
                found[row] = line
            if row >= last:
                break
    except (TraceError, UnreadableError):
        pass  # it has changed since; what is certain is still of use
    return found


def _lines(path: Path, format: Format | None) -> Iterator[tuple[int, int]]:
    """The number and the line of each row; the header of a CSV file is row 0."""
    with open_source(Source(str(path), path)) as file:
        pieces, compressed = read_pieces(file, lambda count: None)
        first = next(pieces, b"")
        format = format or detect_format(first, str(path))
        if compressed or format not in (Format.CSV, Format.JSONL):
            return
        csv = format is Format.CSV
        row, line = 0 if csv else 1, 1
        for block in cut_blocks(chain([first.removeprefix(BOM)], pieces), quotes=csv):
            for offset in record_lines(block, quotes=csv):
                yield row, line + offset
                row += 1
            line += block.count(b"\n")
