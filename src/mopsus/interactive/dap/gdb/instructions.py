"""The instructions of a compiled program, for an editor that shows them before and behind an address.

Where one begins is known where a line of source does, and where a symbol does. Between the two, and where there is
neither, it is decoded from there: instructions of x86 soon fall into step, wherever one begins with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import gdb

from mopsus.interactive.dap.workbench import Instruction, Source

_LONGEST = 15
_FAR = 1 << 12
"""A symbol that is farther away says nothing: it may be of something else."""
_GUESSED = 32
"""So many are looked for at once where nothing says where one begins."""
_END = 1 << 64
_SYMBOL = re.compile(r"(.+?)(?: \+ (\d+))? in section \S")

Decoded = tuple[int, int, str]
"""Where it is, how many bytes it has, and how it is written."""


def instructions(address: int, start: int, count: int) -> list[Instruction]:
    """So many, from one on that is counted from an address; whatever cannot be read is invalid."""
    found: list[Instruction] = []
    if start < 0:
        before = _before(address, -start)
        first = before[0][0] if before else address
        missing = -start - len(before)
        found = [_invalid(max(0, first - missing + at)) for at in range(min(missing, count))]
        found += map(_shown, before[: count - len(found)])
    if len(found) < count:
        skipped = max(0, start)
        here = list(_behind(address, skipped + count - len(found)))
        found += map(_shown, here[skipped:])
        end = here[-1][0] + here[-1][1] if here else address
        end += max(0, skipped - len(here))
        found += [_invalid(min(end + at, _END - 1)) for at in range(count - len(found))]
    return found


def _behind(address: int, count: int) -> Iterator[Decoded]:
    """So many, as far as they can be read."""
    while count:
        if address >= _END or not (decoded := _decode(address, count)):
            return
        yield from decoded
        count -= len(decoded)
        last, length, _ = decoded[-1]
        address = last + length


def _before(address: int, count: int) -> list[Decoded]:
    """The last ones that end at an address, as far as they can be read."""
    found: list[Decoded] = []
    while len(found) < count and (part := _reaching(address, count - len(found))):
        found, address = [*part, *found], part[0][0]
    return found[-count:]


def _reaching(end: int, count: int) -> list[Decoded]:
    """Some of those that end there."""
    begin = _beginning(end - 1) if end > 0 else None
    if begin is not None:
        return list(_until(begin, end))
    if end <= 0 or not _decode(end - 1, 1):  # nor could anything before be read to there
        return []
    for begin in range(max(0, end - _LONGEST * (min(count, _GUESSED) + 1)), end):
        part = list(_until(begin, end))
        if part and part[-1][2] and sum(part[-1][:2]) == end:
            return part[1:] or part  # with the first one it may not yet be in step
    return []


def _until(begin: int, end: int) -> Iterator[Decoded]:
    """From one address to another; a last one that would go beyond it is bytes and no instruction."""
    for address, length, text in _behind(begin, end - begin):
        if address + length > end:
            yield address, end - address, ""
        else:
            yield address, length, text
        if address + length >= end:
            return


def _beginning(address: int) -> int | None:
    """An instruction begins here, at or before an address and not far from it."""
    line = gdb.find_pc_line(address)
    if line.symtab is not None and line.pc <= address:
        return int(line.pc)
    found = _SYMBOL.match(gdb.execute(f"info symbol {address}", to_string=True))
    offset = int(found[2] or 0) if found is not None else _FAR
    return address - offset if offset < _FAR else None


def _decode(address: int, count: int) -> list[Decoded]:
    """At most so many; none if the first one cannot be read."""
    architecture = gdb.selected_inferior().architecture()
    while count:
        try:
            decoded = architecture.disassemble(address, count=count)
        except gdb.error:
            count //= 2  # one of them cannot be
            continue
        return [(each["addr"], each["length"], " ".join(each["asm"].split())) for each in decoded]
    return []


def _shown(decoded: Decoded) -> Instruction:
    address, length, text = decoded
    if not text:
        return _invalid(address, length)
    line = gdb.find_pc_line(address)
    path = Path(line.symtab.fullname()) if line.symtab is not None else None
    known = path is not None and path.exists()
    return Instruction(
        address,
        text,
        bytes(gdb.selected_inferior().read_memory(address, length)),
        _symbol(address),
        Source(path.name, str(path)) if known and path is not None else None,
        line.line if known else None,
    )


def _invalid(address: int, length: int = 0) -> Instruction:
    return Instruction(address, "", bytes(gdb.selected_inferior().read_memory(address, length)) if length else b"")


def _symbol(address: int) -> str | None:
    """Of the function that it is in."""
    block = gdb.block_for_pc(address)
    while block is not None and block.function is None:
        block = block.superblock
    if block is not None:
        return str(block.function)
    found = _SYMBOL.match(gdb.execute(f"info symbol {address}", to_string=True))
    return found[1] if found is not None else None
