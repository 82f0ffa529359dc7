"""The memory of a process as its tracer sees it: what is mapped, and which pages were ever touched.

Everything here is plain data and files of the kernel's; nothing knows GDB.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

PAGE = os.sysconf("SC_PAGE_SIZE")
_TOUCHED = 0b11 << 62
"""In memory, or swapped out."""


@dataclass(frozen=True, slots=True)
class Mapping:
    """A range of addresses with one protection and one origin."""

    start: int
    end: int
    protection: str
    """`rw-p`: as the kernel writes it."""
    file: tuple[str, int] | None
    """Device and number of the file; None for memory of the program's own."""
    offset: int
    name: str

    @property
    def writable(self) -> bool:
        return "w" in self.protection

    @property
    def is_saved(self) -> bool:
        """Can its contents become others? What is shared with our agent is for us to set right."""
        return not self.name.startswith(("[v", "[uprobes", "/memfd:mopsus-agent")) and (
            self.writable or self.file is None
        )


def mappings(process: int) -> list[Mapping]:
    """All of a process, by address."""
    with open(f"/proc/{process}/maps") as lines:
        return [_mapping(line) for line in lines]


def _mapping(line: str) -> Mapping:
    addresses, protection, offset, device, number, *name = line.split(maxsplit=5)
    start, end = (int(text, 16) for text in addresses.split("-"))
    file = (device, int(number)) if int(number) else None
    return Mapping(start, end, protection, file, int(offset, 16), name[0].strip() if name else "")


def lost(saved: Sequence[Mapping], now: Sequence[Mapping]) -> Mapping | None:
    """The first saved mapping of which a part is gone, stands for something else now, or may be used for less."""
    for old in saved:
        reached = old.start
        for new in now:
            if new.start <= reached < new.end and _continues(old, new):
                reached = new.end
        if reached < old.end:
            return old
    return None


def _continues(old: Mapping, new: Mapping) -> bool:
    """Is the new mapping, where both are, as good as the old one?"""
    if old.file != new.file or not set(old.protection) - {"-"} <= set(new.protection):
        return False
    return old.file is None or old.offset - old.start == new.offset - new.start


def touched(process: int, mapping: Mapping) -> Iterator[tuple[int, int]]:
    """The ranges of it whose contents are not simply what they were when it was mapped: zeros. Of a file, all of it."""
    if mapping.file is not None:
        yield mapping.start, mapping.end
        return
    pages = array("Q")
    with open(f"/proc/{process}/pagemap", "rb", buffering=0) as pagemap:
        pagemap.seek(mapping.start // PAGE * pages.itemsize)
        pages.frombytes(pagemap.read((mapping.end - mapping.start) // PAGE * pages.itemsize))
    begin: int | None = None
    for index, page in enumerate(pages):
        if page & _TOUCHED:
            if begin is None:
                begin = index
        elif begin is not None:
            yield mapping.start + begin * PAGE, mapping.start + index * PAGE
            begin = None
    if begin is not None:
        yield mapping.start + begin * PAGE, mapping.end


def outside(ranges: Sequence[tuple[int, int]], known: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The parts of some ranges that lie in none of the others; both by address."""
    position = 0
    for start, end in ranges:
        while position < len(known) and known[position][1] <= start:
            position += 1
        for low, high in known[position:]:
            if low >= end:
                break
            if start < low:
                yield start, low
            start = max(start, high)
        if start < end:
            yield start, end


class Memory:
    """The contents of a process's memory, whatever its protection."""

    def __init__(self, process: int) -> None:
        self._file = os.open(f"/proc/{process}/mem", os.O_RDWR | os.O_CLOEXEC)

    def read(self, start: int, end: int) -> bytearray:
        data = bytearray(end - start)
        view = memoryview(data)
        while view:
            count = os.preadv(self._file, [view], start)
            if not count:
                raise OSError(f"nothing can be read at {start:#x}")
            start, view = start + count, view[count:]
        return data

    def write(self, start: int, data: bytes | bytearray) -> None:
        view = memoryview(data)
        while view:
            count = os.pwrite(self._file, view, start)
            start, view = start + count, view[count:]

    def close(self) -> None:
        os.close(self._file)
