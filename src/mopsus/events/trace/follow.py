"""Stage 4: follow a growing text file through rotation and truncation.

Rotation is noticed by the file's identity, truncation by its size or, when it has already grown
again, by the bytes before the place where we are. A file that has been renamed is read to its end
before its successor is begun.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from mopsus.events.trace.blocks import LONGEST_ROW, endless_row, last_row_end
from mopsus.events.trace.sources import PIECE, Format, detect_format
from mopsus.stopping import STOPPING

POLL_S = 0.1
TAIL = 64
"""Bytes before our place that are compared to notice a file that was truncated and has grown past it."""


@dataclass(frozen=True, slots=True)
class Whole:
    """Some whole rows. `begins`: they are the first of a file, or of one that was truncated."""

    rows: bytes
    begins: bool


@dataclass(slots=True)
class _Open:
    file: BinaryIO
    identity: tuple[int, int]
    offset: int = 0
    tail: bytes = b""


class Follower:
    """The rows that a file has and gets, until `stop` is set or a signal comes.

    A row is given once its newline is there, or when its file has been rotated away. Nothing is given twice. What
    a writer puts into a file between our last look and its truncation is lost, as it is to every reader.
    """

    def __init__(
        self,
        path: Path,
        *,
        format: Format | None = None,
        stop: threading.Event | None = None,
        poll_s: float = POLL_S,
    ) -> None:
        self.path = path
        self.format = format
        """Found out from the first bytes if it is not given; CSV and JSON lines end their rows differently."""
        self._stop = stop
        self._poll_s = poll_s
        self._current: _Open | None = None
        self._pending = bytearray()
        self._begins = True
        self._at_end = False
        self.unread = 0
        """How many bytes there were that were not given, when it was left."""

    def __iter__(self) -> Iterator[Whole]:
        try:
            while True:
                # Asked before looking, so that everything written before it was set is still given.
                last_look = self._stopping()
                found = False
                for whole in self._look():
                    found = True
                    yield whole
                if last_look:
                    self._at_end = True
                    return
                if not found:
                    STOPPING.wait(self._poll_s) if self._stop is None else self._stop.wait(self._poll_s)
        finally:
            if self._current is not None:
                self.unread = 0 if self._at_end else self._left(self._current)
                self._current.file.close()

    def _stopping(self) -> bool:
        return STOPPING.is_set() or (self._stop is not None and self._stop.is_set())

    def _look(self) -> Iterator[Whole]:
        """Everything that is there now."""
        if self._current is None:
            self._current = self._open(self.path)
        while self._current is not None:
            yield from self._drain(self._current)
            successor = self._successor(self._current)
            if successor is None:
                return
            # Between the last read and the rename the writer may have added to the file.
            yield from self._drain(self._current)
            yield from self._finish()
            self._current.file.close()
            self._current = successor

    def _left(self, current: _Open) -> int:
        return os.fstat(current.file.fileno()).st_size - current.offset + len(self._pending)

    def _open(self, path: Path) -> _Open | None:
        try:
            file = path.open("rb", buffering=0)
        except (FileNotFoundError, PermissionError):  # not there yet, or not ours yet
            return None
        status = os.fstat(file.fileno())
        return _Open(file, (status.st_dev, status.st_ino))

    def _drain(self, current: _Open) -> Iterator[Whole]:
        while True:
            if self._was_truncated(current):
                yield from self._finish()
                current.offset, current.tail = 0, b""
            piece = os.pread(current.file.fileno(), PIECE, current.offset)
            if not piece:
                return
            current.offset += len(piece)
            current.tail = (current.tail + piece)[-TAIL:]
            self._pending += piece
            yield from self._cut()

    @staticmethod
    def _was_truncated(current: _Open) -> bool:
        handle = current.file.fileno()
        if os.fstat(handle).st_size < current.offset:
            return True
        return os.pread(handle, len(current.tail), current.offset - len(current.tail)) != current.tail

    def _successor(self, current: _Open) -> _Open | None:
        """The file that has taken the place of the current one, once there is something in it."""
        following = self._open(self.path)
        if following is None:
            return None
        if following.identity == current.identity or os.fstat(following.file.fileno()).st_size == 0:
            following.file.close()
            return None
        missed = self._rotated_since(current)
        if missed is None:
            return following
        following.file.close()
        return missed

    def _rotated_since(self, current: _Open) -> _Open | None:
        """The oldest file that came and went while we were not looking, if rotation numbers its files."""
        missed: _Open | None = None
        for number in range(1, 100):
            older = self._open(self.path.with_name(f"{self.path.name}.{number}"))
            if older is None:
                break
            if older.identity == current.identity:
                older.file.close()
                return missed
            if missed is not None:
                missed.file.close()
            missed = older
        if missed is not None:
            missed.file.close()
        return None

    def _cut(self) -> Iterator[Whole]:
        if self.format is None:
            self.format = detect_format(bytes(self._pending[:PIECE]), str(self.path))
        end = last_row_end(self._pending, self.format is Format.CSV)
        if end:
            yield self._whole(bytes(self._pending[:end]))
            del self._pending[:end]
        elif len(self._pending) > LONGEST_ROW:
            raise endless_row(quotes=self.format is Format.CSV)

    def _finish(self) -> Iterator[Whole]:
        """The file is over: what is left of it is its last row."""
        if self._pending:
            yield self._whole(bytes(self._pending))
            self._pending.clear()
        self._begins = True

    def _whole(self, rows: bytes) -> Whole:
        begins, self._begins = self._begins, False
        return Whole(rows, begins)
