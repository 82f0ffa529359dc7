"""Stage 4: where a place in a log is now, and which files came after it, whatever has become of their names since.

A file is known again by its identity or, where it was copied or compressed, by what stood before the place. Files that
were rotated away are told from others by their names, and put in order by when they were last written to.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from mopsus.events.trace.sources import PIECE, UnreadableError, read_pieces

TAIL = 64
"""Bytes before a place that are compared to notice that a file is another one, or was truncated and has grown again."""
HEAD = 256
"""Bytes at the beginning of a file that are compared, too."""

_NUMBERED = re.compile(r"\d{1,4}")
_TIME = re.compile(r"[.\-_][0-9][0-9TZ:.\-_]*")
_COMPRESSED = (".gz", ".zst")
_LOOKS = 5
"""How often a folder is looked at in which files come and go meanwhile."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in a log."""

    identity: tuple[int, int]
    offset: int
    head: bytes
    """The first bytes of the file."""
    tail: bytes
    """The bytes before the place."""
    modified_ns: int
    """When the file was last written to, as far as was known."""

    def to_data(self) -> dict[str, Any]:
        """As data that JSON has."""
        return {
            "identity": list(self.identity),
            "offset": self.offset,
            "head": self.head.hex(),
            "tail": self.tail.hex(),
            "modified_ns": self.modified_ns,
        }

    @classmethod
    def of_data(cls, data: dict[str, Any]) -> Mark:
        """What `to_data` gave."""
        device, inode = data["identity"]
        head, tail = bytes.fromhex(data["head"]), bytes.fromhex(data["tail"])
        return cls((int(device), int(inode)), int(data["offset"]), head, tail, int(data["modified_ns"]))


class LogFile:
    """An open file of a log, read from its beginning or from a mark on; decompressed if it was compressed."""

    def __init__(self, file: BinaryIO, *, compressed: bool = False) -> None:
        self._file = file
        status = os.fstat(file.fileno())
        self.identity = (status.st_dev, status.st_ino)
        self.modified_ns = status.st_mtime_ns
        """When it was last written to before our last look."""
        self._compressed = compressed
        self._tail = b""
        self.rewind()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    @property
    def size(self) -> int:
        """How many bytes there are now, as far as that is known without reading them."""
        return os.fstat(self._file.fileno()).st_size if self._pieces is None else self.offset

    @property
    def is_empty(self) -> bool:
        """Is there nothing in it yet?"""
        return not os.fstat(self._file.fileno()).st_size

    def read(self) -> bytes:
        """The next bytes, if there are any by now."""
        handle = self._file.fileno()
        modified_ns = os.fstat(handle).st_mtime_ns
        piece = os.pread(handle, PIECE, self.offset) if self._pieces is None else next(self._pieces, b"")
        if piece:
            self.modified_ns = modified_ns
        self.offset += len(piece)
        self._tail = (self._tail + piece)[-TAIL:]
        return piece

    def was_truncated(self) -> bool:
        """Is what was read no longer there? Seen by the size or, if the file has grown again, by the last bytes."""
        if self._pieces is not None:
            return False
        handle = self._file.fileno()
        if os.fstat(handle).st_size < self.offset:
            return True
        return os.pread(handle, len(self._tail), self.offset - len(self._tail)) != self._tail

    def rewind(self) -> None:
        """Read it from its beginning."""
        self.offset, self._tail = 0, b""
        self._pieces: Iterator[bytes] | None = None
        if self._compressed:
            self._file.seek(0)
            self._pieces, self._compressed = read_pieces(self._file, lambda count: None)
            if not self._compressed:
                self._pieces = None

    def go_to(self, mark: Mark) -> bool:
        """Go on at the mark, if this file has before it what was there; only once, unless it is rewound."""
        if self._pieces is not None:
            return self._skip_to(mark)
        handle = self._file.fileno()
        head = os.pread(handle, len(mark.head), 0)
        tail = os.pread(handle, len(mark.tail), mark.offset - len(mark.tail))
        self.offset, self._tail = mark.offset, mark.tail
        return head == mark.head and tail == mark.tail

    def _skip_to(self, mark: Mark) -> bool:
        assert self._pieces is not None
        head = tail = b""
        while self.offset < mark.offset:
            piece = next(self._pieces, b"")
            if not piece:
                return False
            head += piece[: HEAD - len(head)]
            used = piece[: mark.offset - self.offset]
            tail = (tail + used)[-TAIL:]
            self.offset += len(used)
            if len(used) < len(piece):
                self._pieces = _chain(piece[len(used) :], self._pieces)
        self._tail = tail
        return head.startswith(mark.head) and tail == mark.tail


def _chain(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


def open_log(path: Path) -> LogFile | None:
    """The log of that name; None if it is not there yet, or not ours yet."""
    try:
        return LogFile(path.open("rb", buffering=0))
    except (FileNotFoundError, PermissionError):
        return None


def beginning(path: Path) -> Mark:
    """Where a run begins that knows nothing yet: after all that has been rotated away."""
    nowhere = Mark((0, 0), 0, b"", b"", 0)
    before = [entry.modified_ns for entry in _entries(path, nowhere) if not entry.live]
    return replace(nowhere, modified_ns=max(before, default=0))


@dataclass(frozen=True, slots=True)
class _Entry:
    path: Path
    identity: tuple[int, int]
    modified_ns: int
    number: int
    """Of `log.3`, which is older than `log.2`."""
    live: bool
    named: bool
    """Is its name one of the log's? Otherwise it may be the file that the mark is in, under another name, or anything
    that has got the number of a file that was removed."""

    @property
    def age(self) -> tuple[bool, int, int, str]:
        """What comes first in this order is older."""
        return (self.live, self.modified_ns, -self.number, self.path.name)

    def came_after(self, mark: Mark) -> bool:
        """Was it written to after the mark was made, and is it not the file that the mark is in?"""
        return self.modified_ns > mark.modified_ns and self.identity != mark.identity

    def open(self) -> LogFile:
        compressed = not self.live and self.path.name.endswith(_COMPRESSED)
        return LogFile(self.path.open("rb", buffering=0), compressed=compressed)


def succession(path: Path, mark: Mark) -> tuple[LogFile | None, list[LogFile]]:
    """The file that the mark is in, at the mark, and all that came after it, the log itself being the last one.

    None for the first if it is nowhere to be found. `UnsettledError` if names change all the time.
    """
    for _ in range(_LOOKS):
        # Names may move on while we look: what was opened must be what was listed.
        entries = _entries(path, mark)
        try:
            return _open_all(entries, mark)
        except (FileNotFoundError, _MovedError):
            continue
    raise UnsettledError


class UnsettledError(Exception):
    """Which files there are cannot be said just now: look again later."""


class _MovedError(Exception):
    """A name stands for another file than a moment ago."""


def _open_all(entries: Sequence[_Entry], mark: Mark) -> tuple[LogFile | None, list[LogFile]]:
    opened: list[LogFile] = []
    try:
        own = None
        for place in _candidates(entries, mark):
            file = _open_listed(entries[place])
            opened.append(file)
            with suppress(UnreadableError):
                if file.go_to(mark):
                    own = file
                    break
        if own is not None:
            later = [entry for entry in entries[place + 1 :] if entry.named]
        else:
            later = [entry for entry in entries if entry.live or entry.came_after(mark)]
        rest = []
        for entry in later:
            file = _open_listed(entry)
            opened.append(file)
            rest.append(file)
    except BaseException:
        for file in opened:
            file.close()
        raise
    for file in opened:
        if file is not own and file not in rest:
            file.close()
    return own, rest


def _candidates(entries: Sequence[_Entry], mark: Mark) -> list[int]:
    """Where the mark may be: in the very file, or else in a copy, which cannot be older."""
    same = [k for k, entry in enumerate(entries) if entry.identity == mark.identity]
    if not mark.offset:
        return []  # there is nothing before it that it could be known by
    return same + [k for k, entry in enumerate(entries) if k not in same and entry.modified_ns >= mark.modified_ns]


def _open_listed(entry: _Entry) -> LogFile:
    if _is_being_packed(entry):  # asked first: what is whole now was whole when it is opened, if it is the same file
        raise _MovedError
    file = entry.open()
    if file.identity != entry.identity:
        file.close()
        raise _MovedError
    return file


def _is_being_packed(entry: _Entry) -> bool:
    """May a compressed file not be whole yet? As long as the one that it is made of is there."""
    plain = next((plain for suffix in _COMPRESSED if (plain := _without(entry.path.name, suffix))), None)
    return not entry.live and plain is not None and entry.path.with_name(plain).is_file()


def _entries(path: Path, mark: Mark) -> list[_Entry]:
    """The files of the log that are there, the oldest first."""
    found: dict[str, _Entry] = {}
    with suppress(FileNotFoundError, PermissionError), os.scandir(path.parent) as folder:
        for each in folder:
            live = each.name == path.name
            # A neighbour may be a link that leads back to itself, which is no concern of ours.
            with suppress(FileNotFoundError if live else OSError):
                status = each.stat()
                identity = (status.st_dev, status.st_ino)
                if live and not stat.S_ISREG(status.st_mode):
                    raise _no_file(path, status.st_mode)
                named = live or is_rotated(each.name, path.name)
                if stat.S_ISREG(status.st_mode) and (named or identity == mark.identity):
                    place, number = path.parent / each.name, _number(each.name)
                    found[each.name] = _Entry(place, identity, status.st_mtime_ns, number, live, named)
    # What is being compressed is there twice, and one of the two is not whole.
    whole = [each for name, each in found.items() if not any(_without(name, suffix) in found for suffix in _COMPRESSED)]
    return sorted(whole, key=lambda entry: entry.age)


def _no_file(path: Path, mode: int) -> OSError:
    if stat.S_ISDIR(mode):
        return IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    what = "not a regular file; `mopsus check SPEC -` reads what comes through a pipe"
    return OSError(errno.EINVAL, what, str(path))


def _without(name: str, suffix: str) -> str | None:
    return name.removesuffix(suffix) if name.endswith(suffix) else None


def is_rotated(name: str, log: str) -> bool:
    """Is a file of that name what became of the log? So `log.1`, `log-20260131.gz`, `app.2.log`; `@4…` of `current`."""
    name = next((name.removesuffix(suffix) for suffix in _COMPRESSED if name.endswith(suffix)), name)
    if log == "current" and name.startswith("@"):
        return True
    stem, dot, suffix = log.rpartition(".")
    if name.startswith(log):
        return _TIME.fullmatch(name, len(log)) is not None
    end = len(name) - len(dot + suffix)
    return (
        bool(stem)
        and name.startswith(stem)
        and name.endswith(dot + suffix)
        and bool(_TIME.fullmatch(name, len(stem), end))
    )


def _number(name: str) -> int:
    numbers = [part for part in name.split(".")[1:] if _NUMBERED.fullmatch(part)]
    return int(numbers[-1]) if numbers else 0
