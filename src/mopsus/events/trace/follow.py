"""Stage 4: follow a growing text file through rotation and truncation.

Rotation is noticed by the file's identity, truncation by its size or, when it has already grown
again, by the bytes before the place where we are. A file that has been renamed is read to its end
before its successor is begun, and so is a copy of one that has been truncated.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mopsus.events.trace.blocks import LONGEST_ROW, endless_row, last_row_end
from mopsus.events.trace.rotation import HEAD, TAIL, LogFile, Mark, UnsettledError, beginning, open_log, succession
from mopsus.events.trace.rows import parse_header
from mopsus.events.trace.sources import PIECE, Format, detect_format, is_compressed
from mopsus.model import TraceError
from mopsus.stopping import STOPPING

POLL_S = 0.1


@dataclass(frozen=True, slots=True)
class Whole:
    """Some whole rows. `begins`: they are the first of a file, or of one that was truncated. `mark`: where they end."""

    rows: bytes
    begins: bool
    mark: Mark


class Follower:
    """The rows that a file has and gets, until `stop` is set or a signal comes.

    A row is given once its newline is there, or when its file has been rotated away. Nothing is given twice. What
    a writer puts into a file between our last look and its truncation is lost, unless there is a copy of it.
    `idle` is called whenever there is nothing new.
    """

    def __init__(
        self,
        path: Path,
        *,
        format: Format | None = None,
        stop: threading.Event | None = None,
        poll_s: float = POLL_S,
        idle: Callable[[], object] = lambda: None,
    ) -> None:
        self.path = path
        self.format = format
        """Found out from the first bytes if it is not given; CSV and JSON lines end their rows differently."""
        self.header: tuple[str, ...] = ()
        """Of CSV: what files may begin with, once it is known."""
        self.lost = False
        """Was the place to resume at nowhere to be found?"""
        self.unread = 0
        """How many bytes there were that were not given, when it was left."""
        self._stop = stop
        self._poll_s = poll_s
        self.start = beginning(path)
        """Where it begins."""
        self._idle = idle
        self._current: LogFile | None = None
        self._later: deque[LogFile] = deque()
        """Files that came and went while we were not looking, and the log."""
        self._pending = bytearray()
        self._known = self.start
        """The last place before the current file that can be found again, wherever it is by then."""
        self._passed: set[tuple[int, int]] = set()
        """Files after it that had nothing by which they could be known again."""
        self._begin()
        self._at_end = False

    def __iter__(self) -> Iterator[Whole]:
        try:
            while True:
                # Asked before looking, so that everything written before it was set is still given.
                last_look = self._stopping()
                found = False
                for whole in self._look():
                    found = True
                    yield whole
                    if STOPPING.is_overdue():
                        return
                if last_look:
                    self._at_end = True
                    return
                if not found:
                    self._idle()
                    STOPPING.wait(self._poll_s) if self._stop is None else self._stop.wait(self._poll_s)
        finally:
            if self._current is not None and not self._at_end:
                self.unread = max(0, self._current.size - self._given) + sum(file.size for file in self._later)
            _close(self._current, *self._later)

    def _stopping(self) -> bool:
        return STOPPING.is_set() or (self._stop is not None and self._stop.is_set())

    def _look(self) -> Iterator[Whole]:
        """Everything that is there now; while files are being rotated, what is sure."""
        with suppress(UnsettledError):
            yield from self._read_on()

    def _read_on(self) -> Iterator[Whole]:
        if self._current is None:
            self._current = self._first()
        while self._current is not None:
            yield from self._drain()
            if not self._has_successor(self._current):
                return
            # Between the last read and the rename the writer may have added to the file.
            yield from self._drain()
            yield from self._finish()
            self._current.close()
            self._current = self._later.popleft()

    def _first(self) -> LogFile | None:
        self._known = mark = self.start
        found, later = succession(self.path, mark)
        self._later.extend(_begun(later))
        if found is not None:
            self._begin(mark)
            return found
        self.lost = mark.offset > 0
        return self._later.popleft() if self._later else None

    def _drain(self) -> Iterator[Whole]:
        while self._current is not None:
            if self._current.was_truncated():
                yield from self._go_on_in_copy(self._current)
            piece = self._current.read()
            if not piece:
                return
            if self._is_nowhere and self._go_back(self._current):
                continue
            self._pending += piece
            yield from self._cut()

    def _go_on_in_copy(self, current: LogFile) -> Iterator[Whole]:
        """The file was truncated, and may have been copied before: what we have not read is there."""
        if self._is_nowhere:
            if not self._go_back(current):
                yield from self._finish()
                current.rewind()
            return
        found, later = succession(self.path, self._mark(current))
        if found is None or found.identity == current.identity:
            _close(found, *later)
            yield from self._finish()
            current.rewind()
            return
        self._pending.clear()  # the copy has it, too
        current.close()
        self._current = found
        self._later.extendleft(reversed(later))

    @property
    def _is_nowhere(self) -> bool:
        """Was nothing given of the current file by which it could be known again? All begin with the same header."""
        return self._given <= self._opening

    def _go_back(self, current: LogFile) -> bool:
        """Go back to the first of the copies that were made of the current file, and truncated, while it was nowhere.

        It looks as if nothing had happened. Returns whether there are any.
        """
        own, later = succession(self.path, self._known)
        here = next((k for k, file in enumerate(later) if file.identity == current.identity), 0)
        missed = [file for file in later[:here] if file.identity not in self._passed]
        _close(own, *(file for file in later[:here] if file not in missed))
        if not missed:
            _close(*later[here:])
            return False
        later = missed + later[here:]
        _close(current, *self._later)
        self._current, self._later = later[0], deque(later[1:])
        self._pending.clear()
        if not (self._given and later[0].go_to(self._mark(later[0]))):
            later[0].rewind()
            self._begin()
        return True

    def _has_successor(self, current: LogFile) -> bool:
        """Has a file come after the current one, with something in it?"""
        if self._later:
            return True
        following = open_log(self.path)
        if following is None:
            return False
        same = following.identity == current.identity
        following.close()
        if same:
            return False
        own, later = succession(self.path, self._mark(current))
        _close(own)
        self._later.extend(_begun(later))
        return bool(self._later)

    def _mark(self, current: LogFile) -> Mark:
        return Mark(current.identity, self._given, self._head, self._tail, current.modified_ns)

    def _cut(self) -> Iterator[Whole]:
        if not self._given:
            self._look_at_head(bytes(self._pending[:PIECE]))
        end = last_row_end(self._pending, self.format is Format.CSV)
        if end:
            rows = bytes(self._pending[:end])
            del self._pending[:end]
            yield self._whole(rows)
        elif len(self._pending) > LONGEST_ROW:
            raise endless_row(quotes=self.format is Format.CSV)

    def _look_at_head(self, head: bytes) -> None:
        """What no row will ever come of is refused at once."""
        self.format = self.format or detect_format(head, str(self.path))
        compressed = is_compressed(head)
        if compressed or self.format not in (Format.CSV, Format.JSONL):
            message = (
                "a compressed file cannot be followed" if compressed else "only CSV and JSON lines can be followed"
            )
            raise TraceError(message, file=str(self.path), hint="use `mopsus check`", code="TRACE-004")

    def _finish(self) -> Iterator[Whole]:
        """The file is over: what is left of it is its last row."""
        if self._pending:
            rows = bytes(self._pending)
            self._pending.clear()
            yield self._whole(rows)
        if self._current is not None and self._is_nowhere:
            self._passed.add(self._current.identity)
        elif self._current is not None:
            self._known = self._mark(self._current)
            self._passed.clear()
        self._begin()

    def _begin(self, mark: Mark | None = None) -> None:
        """Nothing is given of the current file yet, or all up to the mark."""
        self._begins = mark is None or mark.offset == 0
        self._head, self._tail, self._given = (b"", b"", 0) if mark is None else (mark.head, mark.tail, mark.offset)
        self._opening = 0  # bytes of its header

    def _whole(self, rows: bytes) -> Whole:
        begins, self._begins = self._begins, False
        if begins and self.format is Format.CSV:
            columns, rest = parse_header(rows)
            self.header = self.header or columns
            self._opening = len(rows) - len(rest) if columns == self.header else 0
        self._head += rows[: HEAD - len(self._head)]
        self._tail = (self._tail + rows)[-TAIL:]
        self._given += len(rows)
        assert self._current is not None
        return Whole(rows, begins, self._mark(self._current))


def _begun(files: list[LogFile]) -> list[LogFile]:
    """Up to the last file with something in it: until something is in the next, its writer may still be in this one."""
    while files and files[-1].is_empty:
        files.pop().close()
    return files


def _close(*files: LogFile | None) -> None:
    for file in files:
        if file is not None:
            file.close()
