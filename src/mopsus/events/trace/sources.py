"""Stage 4: from the names on a command line to streams of bytes: files, folders, patterns, standard input.

A stream is decompressed here, in pieces of bounded size, whatever the compression ratio.
"""

from __future__ import annotations

import difflib
import glob
import io
import os
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from mopsus.events.trace.arrow import require
from mopsus.model import TraceError
from mopsus.model.text import STANDARD_INPUT

STDIN = "-"

BOM = b"\xef\xbb\xbf"
"""What some programs put before text in UTF-8."""

PIECE = 1 << 20
"""Bytes read from a file at once."""


class Format(StrEnum):
    """The formats of a trace file; `arrow` stands for both the file and the stream format."""

    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"
    ARROW = "arrow"


@dataclass(frozen=True, slots=True)
class Source:
    """One trace: a file, or standard input when `path` is None. `name` is how reports call it."""

    name: str
    path: Path | None


class UnreadableError(Exception):
    """The bytes of a trace end before their time, or are no bytes of that format."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def expand(arguments: Sequence[str], *, exclude: tuple[str, ...] = (".mop", ".hml", ".prop")) -> list[Source]:
    """The traces that the arguments name, in order.

    A folder stands for the files in it at any depth, sorted, without hidden ones and without those whose
    name ends in one of `exclude`; a pattern for the files that match it, sorted. `TraceError` for an argument that
    names nothing.
    """
    found: list[Source] = []
    for argument in arguments:
        path = Path(argument)
        if argument == STDIN:
            found.append(Source(STANDARD_INPUT, None))
        elif not argument:
            raise TraceError("a trace without a name", hint="is a variable empty?", code="TRACE-002")
        elif path.is_dir():
            found += [Source(str(file), file) for file in _files_below(path, exclude)]
        elif path.exists():
            found.append(Source(argument, path))
        elif glob.has_magic(argument):
            found += _matches(argument)
        else:
            raise TraceError("no such file", file=argument, hint=_near_miss(path), code="TRACE-002")
    return found


def _files_below(folder: Path, exclude: tuple[str, ...]) -> list[Path]:
    files: list[Path] = []
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        files += [Path(parent, name) for name in names if not name.startswith(".") and not name.endswith(exclude)]
    if not files:
        raise TraceError("the folder has no trace in it", file=str(folder), code="TRACE-002")
    return sorted(files)


def _matches(pattern: str) -> list[Source]:
    names = sorted(name for name in glob.glob(pattern, recursive=True) if os.path.isfile(name))
    if not names:
        raise TraceError("no file matches the pattern", file=pattern, code="TRACE-002")
    return [Source(name, Path(name)) for name in names]


def _near_miss(path: Path) -> str:
    if path.is_symlink():
        return f"it is a link to `{os.readlink(path)}`, which is not there or leads back to it"
    try:
        names = os.listdir(path.parent)
    except OSError:
        return f"there is no folder `{path.parent}`"
    close = difflib.get_close_matches(path.name, names, n=1)
    return f"did you mean `{path.with_name(close[0])}`?" if close else "check the path"


def open_source(source: Source) -> BinaryIO:
    """The raw bytes of a trace; `TraceError` if they cannot be had."""
    # Unbuffered: a thread that waits for input inside a buffer's lock cannot be left behind when the program ends.
    try:
        if source.path is not None:
            return cast(BinaryIO, source.path.open("rb", buffering=0))
        return cast(BinaryIO, open(sys.stdin.fileno(), "rb", buffering=0, closefd=False))
    except (AttributeError, io.UnsupportedOperation):
        return sys.stdin.buffer  # replaced by something that is no file
    except OSError as error:
        raise TraceError(error.strerror or str(error), file=source.name, code="TRACE-002") from None


def read_pieces(file: BinaryIO, note: Callable[[int], None]) -> tuple[Iterator[bytes], bool]:
    """The bytes of a file, decompressed if they are gzip or zstd, and whether they were.

    `note` hears how many raw bytes were read. The pieces end in `UnreadableError` where the file is damaged.
    """
    raw = _raw_pieces(file, note)
    first = next(raw, b"")
    compression = _compression_of(first)
    pieces = _chain(first, raw)
    return (pieces, False) if compression is None else (_decompress(pieces, compression), True)


def _raw_pieces(file: BinaryIO, note: Callable[[int], None]) -> Iterator[bytes]:
    while True:
        try:
            piece = file.read(PIECE)
        except OSError as error:
            raise UnreadableError(f"reading failed: {error.strerror or error}") from None
        if not piece:
            return
        note(len(piece))
        yield piece


def _chain(first: bytes, rest: Iterable[bytes]) -> Iterator[bytes]:
    if first:
        yield first
        yield from rest


class Decompressor(Protocol):
    """What decompresses one gzip member or one zstd frame."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, /) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Compression:
    """A kind of compression. No `step` compressed bytes give more than 32 MiB."""

    name: str
    step: int
    start: Callable[[], Decompressor]
    error: type[Exception]


def is_compressed(head: bytes) -> bool:
    """Is a file that starts with these bytes compressed in a way that is known here?"""
    return _is_gzip(head) or _is_zstd(head)


def _is_gzip(head: bytes) -> bool:
    return head.startswith(b"\x1f\x8b")


def _is_zstd(head: bytes) -> bool:
    return head.startswith(b"\x28\xb5\x2f\xfd") or (head[1:4] == b"\x2a\x4d\x18" and head[0] & 0xF0 == 0x50)


def _compression_of(head: bytes) -> Compression | None:
    if _is_gzip(head):
        return Compression("gzip", 1 << 14, lambda: zlib.decompressobj(wbits=31), zlib.error)
    if _is_zstd(head):
        zstd = require("zstandard", "a zstd-compressed trace")
        return Compression("zstd", 1 << 10, zstd.ZstdDecompressor().decompressobj, zstd.ZstdError)
    return None


def _decompress(pieces: Iterable[bytes], compression: Compression) -> Iterator[bytes]:
    decompressor: Decompressor | None = None
    for piece in pieces:
        position = 0
        while position < len(piece):
            if decompressor is None:
                if not piece[position:].strip(b"\0"):
                    break  # tape blocks are padded with zeros
                decompressor = compression.start()
            step = piece[position : position + compression.step]
            try:
                data = decompressor.decompress(step)
            except compression.error as error:
                raise UnreadableError(
                    f"the {compression.name} data is damaged: {error}", "get an undamaged copy of the file"
                ) from None
            if data:
                yield data
            position += len(step)
            if decompressor.eof:
                position -= len(decompressor.unused_data)
                decompressor = None
    if decompressor is not None:
        raise UnreadableError(
            f"the {compression.name} data ends too early", "the file is truncated: get the whole of it"
        )


def detect_format(head: bytes, name: str) -> Format:
    """The format of a trace that starts with these (decompressed) bytes; `TraceError` for one that we cannot read."""
    if head.startswith((b"PAR1", b"PARE")):
        return Format.PARQUET
    if head.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return Format.ARROW
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise TraceError("the text is in UTF-16", file=name, hint="convert it to UTF-8", code="TRACE-004")
    if head.startswith(b"FEA1"):
        raise TraceError("Feather version 1 is not read", file=name, hint="write it as Arrow IPC", code="TRACE-004")
    text = head.removeprefix(BOM).lstrip(b" \t\r\n")
    return Format.JSONL if text.startswith(b"{") else Format.CSV
