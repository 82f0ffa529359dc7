"""Stage 4: the traces of a run as one sequence of batches, read ahead of what is being monitored.

A reader thread opens the files, cuts them into blocks and hands the blocks to a few parsing threads;
a short queue keeps their results in order and memory bounded.
"""

from __future__ import annotations

import os
import queue
import stat
import threading
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from mopsus.events.trace.batches import BatchBuilder, Origin, TraceBatch
from mopsus.events.trace.binary import BinaryReader, Decoding
from mopsus.events.trace.blocks import cut_blocks
from mopsus.events.trace.likeness import likeness
from mopsus.events.trace.needs import OPTIONAL, ColumnTypes, Needs
from mopsus.events.trace.rows import Parsed, parse_header
from mopsus.events.trace.sources import (
    BOM,
    STDIN,
    Format,
    Source,
    UnreadableError,
    detect_format,
    open_source,
    read_pieces,
)
from mopsus.events.trace.survey import Survey
from mopsus.events.trace.text import CsvReader, JsonReader, TextReader
from mopsus.model import TraceError

PARSERS = max(1, min(4, os.cpu_count() or 1))
READ_AHEAD = PARSERS + 2
"""Blocks that may be waiting or under way."""


@dataclass(frozen=True, slots=True)
class _Failed:
    """Nothing more comes, because of this."""

    error: BaseException


_Item: TypeAlias = "Origin | Future[Parsed] | _Failed | None"
"""What the reader thread says: a trace begins, a block is on its way, reading failed, all is read."""


class TraceReader:
    """Iterates over the batches of some traces, once; close it, or use it in a `with` statement.

    A bad row raises `TraceError` after everything before it was given, or, with `skip`, is left out and
    counted. The bytes read so far and in all are in `bytes_done` and `bytes_total` (None if a trace has no
    known size); `empty` names the traces without a single byte.
    """

    def __init__(
        self, sources: Sequence[Source], needs: Needs, *, format: Format | None = None, skip: bool = False
    ) -> None:
        if sum(source.path is None for source in sources) > 1:
            raise TraceError("standard input can be read only once", file=STDIN, code="TRACE-002")
        self.types = ColumnTypes(needs)
        self.builder = BatchBuilder(skip=skip)
        self.survey = Survey(needs)
        self.empty: list[str] = []
        self.bytes_done = 0
        self.bytes_total = total_size(sources)
        self._before = 0  # bytes of the traces before the current one
        self._sources = sources
        self._needs = needs
        self._format = format
        self._skip = skip
        self._queue: queue.Queue[_Item] = queue.Queue(READ_AHEAD)
        self._stopping = threading.Event()
        self._parsers = ThreadPoolExecutor(PARSERS, "mopsus-parse")
        self._thread = threading.Thread(target=self._read_all, name="mopsus-read", daemon=True)
        self._thread.start()

    def __enter__(self) -> TraceReader:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop reading; safe to call at any time and more than once."""
        self._stopping.set()
        # Nothing can interrupt a read from a pipe that stays silent; the thread is a daemon and dies with the process.
        self._thread.join(timeout=0.3)
        self._parsers.shutdown(wait=False, cancel_futures=True)

    def __iter__(self) -> Iterator[TraceBatch]:
        origin = Origin("")
        row = 1
        while (item := self._queue.get()) is not None:
            if isinstance(item, Origin):
                origin, row = item, 1
            elif isinstance(item, _Failed):
                raise placed(item.error, origin.name, row)
            else:
                parsed = item.result()
                yield from self.builder.build(parsed, origin, row)
                row += parsed.count

    # What follows runs in the reader thread.

    def _read_all(self) -> None:
        with suppress(InterruptedError):
            try:
                for source in self._sources:
                    self._read(source)
                self._put(None)
            except InterruptedError:
                raise
            except BaseException as error:  # whatever it is, the monitoring thread raises it
                self._put(_Failed(error))

    def _put(self, item: _Item) -> None:
        while not self._stopping.is_set():
            with suppress(queue.Full):
                self._queue.put(item, timeout=0.1)
                return
        raise InterruptedError

    def _note(self, count: int) -> None:
        self.bytes_done += count

    def _read(self, source: Source) -> None:
        with ExitStack() as closing:
            self._put(Origin(source.name))
            self._before = self.bytes_done
            file = open_source(source)
            if source.path is not None:
                closing.enter_context(file)
            pieces, compressed = read_pieces(file, self._note)
            first = next(pieces, b"")
            if not first:
                self.empty.append(source.name)
                return
            format = self._format or detect_format(first, source.name)
            pieces = _after(first, pieces)
            if format in (Format.PARQUET, Format.ARROW):
                self._read_binary(source, format, None if compressed else source.path, pieces)
            else:
                self._read_text(source, format, pieces, likeness(first))

    def _read_text(self, source: Source, format: Format, pieces: Iterator[bytes], like: str) -> None:
        pieces = _after(next(pieces).removeprefix(BOM), pieces)
        blocks = cut_blocks(pieces, quotes=format is Format.CSV)
        reader: TextReader
        if format is Format.CSV:
            header, rest = parse_header(next(blocks, b""))
            self.survey.see_table(source.name, header, like)
            reader = CsvReader(header, self._needs, self.types, like)
            blocks = _after(rest, blocks)
        else:
            reader = JsonReader(self._needs, self.types)
        self._put(Origin(source.name, absent_columns(self._needs, reader.present), like))
        for block in blocks:
            if format is Format.JSONL:
                self.survey.see_objects(source.name, block, like)
            reader.sample(block)
            self._put(self._parsers.submit(reader.parse, block, stop=not self._skip))

    def _read_binary(self, source: Source, format: Format, path: Path | None, pieces: Iterator[bytes]) -> None:
        path = path if path is not None and path.is_file() else None
        size = path.stat().st_size if path is not None else 0
        decoding = Decoding(format, path, pieces, self._needs.columns)
        try:
            reader = BinaryReader(decoding, self._needs, self.types)
            self.survey.see_table(source.name, decoding.columns)
            self._put(Origin(source.name, absent_columns(self._needs, reader.present)))
            seen = 0
            for batch in decoding:
                done: Future[Parsed] = Future()
                done.set_result(reader.parse(batch, stop=not self._skip))
                self._put(done)
                seen += batch.num_rows
                if size and decoding.rows:
                    self.bytes_done = self._before + size * seen // decoding.rows
        finally:
            decoding.close()


def absent_columns(needs: Needs, present: Collection[str]) -> frozenset[str]:
    """The needed columns that a trace with these columns lacks."""
    return frozenset(needs.columns) - frozenset(present) - OPTIONAL


def placed(error: BaseException, file: str, row: int) -> BaseException:
    """An error of reading, with the place where it happened: after `row - 1` rows of the file."""
    if isinstance(error, UnreadableError):
        at = row if row > 1 else None
        return TraceError(error.message, file=file, row=at, hint=error.hint, code="TRACE-002")
    if isinstance(error, TraceError) and not error.file:
        return TraceError(error.reason, file=file, hint=error.hint, code=error.code)
    return error


def _after(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from rest


def total_size(sources: Sequence[Source]) -> int | None:
    """The bytes of all of them together; None if one has no known size."""
    total = 0
    for source in sources:
        try:
            status = os.stat(source.path) if source.path is not None else os.fstat(0)
        except OSError:
            return None
        if not stat.S_ISREG(status.st_mode):
            return None
        total += status.st_size
    return total
