"""The first instructions of a function, which run elsewhere while a hook has their place, and must do the same there.

Most do so as they are. What is named by its distance gets another one: data, and where a jump leads to, for which a
short jump becomes a long one. A call must return to where it would have, or nobody could follow the stack: so that
address is put on the stack by hand, and a jump does the rest.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate

_SHORT_BRANCHES, _LONG_BRANCHES = range(0x70, 0x80), range(0x80, 0x90)
"""First bytes of the short ones; of the long ones, those behind `_LONG`."""
_LONG = 0x0F
_JUMP, _CALL = b"\xe9", 0xE8
_RETURNS = {b"\xc3", b"\xf3\xc3", b"\xf2\xc3"}
_BY_VALUE = re.compile(rb"[\xf2\x3e]?[\x40-\x4f]?\xff[\x20-\x27\x60-\x67\xa0-\xa7\xe0-\xe7]")
"""Jumps to where a register or the memory says."""
_GOES_ELSEWHERE = re.compile(
    r"^(bnd |notrack |rep\w* )*(call|j\w+|loop\w*|ret\w*|iret\w*|sys\w+|int\w*|ud2|hlt|xbegin)\b"
)
_CALLS = re.compile(r"\bcall")
_PUSHED = b"\x48\x8d\x64\x24\xf8\xc7\x04\x24%b\xc7\x44\x24\x04%b"
"""Three instructions that put an address on the stack, of which these are the halves."""
_NEARBY = re.compile(r"\brip\b.*# 0x([0-9a-f]+)")
"""What an instruction names by its distance from itself."""
_TARGET = re.compile(r"\b0x([0-9a-f]+)\b")
_PADDING = re.compile(r"^((data16|cs) )*(nop|int3|xchg +%?ax,%?ax)")


class NoHookError(Exception):
    """Why there can be no hook, in words that complete `f: …`."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """One of them, and where it is."""

    address: int
    code: bytes
    text: str

    @property
    def end(self) -> int:
        return self.address + len(self.code)

    @property
    def is_padding(self) -> bool:
        """Does it do nothing, and is only there so that something else begins at a round address?"""
        return _PADDING.match(self.text) is not None

    def jumps(self) -> list[int]:
        """Where it may lead to, as far as it says so, unless it is a call."""
        goes = _GOES_ELSEWHERE.match(self.text) and not _CALLS.search(self.text)
        return [int(each, 16) for each in _TARGET.findall(self.text)] if goes else []


@dataclass(frozen=True, slots=True)
class _Piece:
    """An instruction for another place: what is before and behind the distance to `target`, if it has one."""

    head: bytes
    target: int | None = None
    tail: bytes = b""
    back: int | None = None
    """Where it returns to, if it is a call."""

    def __len__(self) -> int:
        return len(self.head) + (0 if self.target is None else 4) + len(self.tail)

    def at(self, address: int) -> bytes:
        if self.target is None:
            return self.head
        try:
            distance = struct.pack("<i", self.target - address - len(self))
        except struct.error:
            raise NoHookError("its first instructions need what is too far from a hook") from None
        return self.head + distance + self.tail


class Beginning:
    """The first instructions of a function. `NoHookError` if they cannot run elsewhere."""

    def __init__(self, instructions: Iterable[Instruction]) -> None:
        self._instructions = tuple(instructions)
        self._pieces = tuple(map(_piece, self._instructions))
        if any(piece.back is not None for piece in self._pieces[:-1]):
            raise NoHookError("it calls another function in its first instructions")
        self.original = b"".join(each.code for each in self._instructions)
        ends = tuple(accumulate(map(len, self._pieces), initial=0))
        self.length = ends[-1]
        """Of the instructions elsewhere."""
        starts = (each.address - self._instructions[0].address for each in self._instructions)
        self._places = tuple(zip((*starts, len(self.original)), ends, strict=True))

    def moved(self, there: int) -> bytes:
        """For another place."""
        return b"".join(self._moved(there))

    def _moved(self, there: int) -> Iterator[bytes]:
        for piece in self._pieces:
            yield piece.at(there)
            there += len(piece)

    def there(self, offset: int) -> int:
        """Where an instruction is elsewhere, by its distance from the first."""
        return dict(self._places)[offset]

    def here(self, offset: int) -> int:
        """The other way round."""
        return next(original for original, moved in self._places if moved == offset)

    def half_made(self, offset: int) -> tuple[int, int] | None:
        """Who is there, elsewhere, is in the midst of a call: where that returns to, and whom it calls."""
        last = self._pieces[-1]
        if last.back is None or last.target is None or not self.length - len(last) < offset < self.length:
            return None
        return last.back, last.target


def _piece(instruction: Instruction) -> _Piece:
    if (jump := _long_jump(instruction.code)) is not None:
        return _Piece(jump, instruction.end + _distance(instruction.code))
    if instruction.code[0] == _CALL:
        back = struct.pack("<Q", instruction.end)
        target = instruction.end + _distance(instruction.code)
        return _Piece(_PUSHED % (back[:4], back[4:]) + _JUMP, target, back=instruction.end)
    if _CALLS.search(instruction.text):
        raise NoHookError("it calls another function in its first instructions")
    goes = _GOES_ELSEWHERE.match(instruction.text) and not instruction.is_padding
    if goes and instruction.code not in _RETURNS and not _BY_VALUE.match(instruction.code):
        raise NoHookError("its first instructions depend on where they are")
    if found := _NEARBY.search(instruction.text):
        return _with_data(instruction, int(found[1], 16))
    return _Piece(instruction.code)


def _long_jump(code: bytes) -> bytes | None:
    """What a jump or branch to a certain place is without the distance, if that has four bytes."""
    match tuple(code):
        case [0xEB, _] | [0xE9, _, _, _, _]:
            return _JUMP
        case [branch, _] if branch in _SHORT_BRANCHES:
            return bytes((_LONG, _LONG_BRANCHES[branch - _SHORT_BRANCHES.start]))
        case [0x0F, branch, _, _, _, _] if branch in _LONG_BRANCHES:
            return bytes((_LONG, branch))
    return None


def _distance(code: bytes) -> int:
    return int.from_bytes(code[1:] if len(code) == 2 else code[-4:], "little", signed=True)


def _with_data(instruction: Instruction, target: int) -> _Piece:
    """Of one that names its data by the distance."""
    word = struct.pack("<i", target - instruction.end)
    at = instruction.code.find(word)
    if at < 0 or instruction.code.find(word, at + 1) >= 0:
        raise NoHookError("its first instructions depend on where they are")
    return _Piece(instruction.code[:at], target, instruction.code[at + len(word) :])
