"""Which functions can have a hook: what is at their beginning, and where their arguments and results are.

A hook replaces the first instructions by a jump, and, where a function is shorter than that, what is only there to fill
up to the next one. Nobody may jump into the midst of them. Where a function cannot have a hook, or a value needs the
debugger to be read, it is said why, and a trap does the work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile

import gdb

from mopsus.interactive.gdb.agent.layout import Base, SourceLayout
from mopsus.interactive.gdb.agent.library import read
from mopsus.interactive.gdb.agent.moving import Beginning, Instruction, NoHookError
from mopsus.interactive.stepper import signed
from mopsus.model import Address, Reading, ReadingKind

JUMP = 5
"""Bytes of a jump to a hook."""
LONGEST = 64
"""Bytes of instructions that may have a copy."""
_REGISTERS = 6
_FRACTIONS = 8
_WORD = 8
_INTEGERS = {gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_ENUM, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_PTR}
_REFERENCES = {gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF}


@dataclass(frozen=True, slots=True)
class Source:
    """Where the agent finds a value, and what that is to Python."""

    base: Base
    index: int = 0
    follow: bool = False
    width: int = _WORD
    is_signed: bool = False
    address: int = 0
    kind: type[int] = int

    @property
    def kept(self) -> bool:
        """Must it be read before the function changes it?"""
        return self.base is not Base.RESULT and self.follow

    def layout(self) -> SourceLayout:
        return SourceLayout(
            base=self.base,
            index=self.index,
            follow=self.follow,
            width=self.width,
            is_signed=self.is_signed,
            address=self.address,
        )

    @property
    def value(self) -> Callable[[int], int]:
        """What makes a value of Python of a word of the agent's."""
        return signed if self.is_signed else self.kind

    def of_register(self, word: int) -> int:
        """The value of Python in a register, of which it need not be the whole."""
        bits = 8 * self.width
        word &= (1 << bits) - 1
        return word - (1 << bits) if self.is_signed and word >> (bits - 1) else self.kind(word)


class Function:
    """A function of the program, which has code at this address. `NoHookError` if it can have no hook."""

    def __init__(self, address: int) -> None:
        block = gdb.block_for_pc(address)
        while block is not None and block.function is None:
            block = block.superblock
        if block is None or block.function is None or block.function.type is None:
            raise NoHookError("it has no debug information: compile with -g")
        self._block = block
        self._type = block.function.type
        self.entry, self._end = int(block.start), int(block.end)
        self._check_whole()
        self.beginning = Beginning(self._first(address))
        """Its first instructions, with the one where it has a trap: whoever goes on behind them never comes there."""
        if self.beginning.length > LONGEST:
            raise NoHookError("it takes long to begin")

    # ---- its code

    def _check_whole(self) -> None:
        if not _begins(self.entry):
            raise NoHookError("its code does not begin where the function does: it is inlined or split")
        name = gdb.execute(f"info symbol {self.entry}", to_string=True).partition(" in section")[0]
        if "[clone " in name or "." in name.split()[0].partition("(")[0]:
            raise NoHookError("the compiler has changed how it is called")

    def _first(self, trap: int) -> list[Instruction]:
        """Those up to the one where the trap is, which a hook can do without."""
        own = list(_instructions(self.entry, self._end))
        first = list(takewhile(lambda each: each.address < self.entry + JUMP or each.address <= trap, own))
        if first[-1].end < self.entry + JUMP:
            first += self._padding()
        if first[-1].end < self.entry + JUMP:
            raise NoHookError("it is shorter than a hook")
        window = range(self.entry, first[-1].end)
        if any(target in window for each in own for target in each.jumps()):
            raise NoHookError("it jumps back to its first instructions")
        return first

    def _padding(self) -> Iterator[Instruction]:
        """What is behind a function that is shorter than a hook, as long as nobody needs it."""
        for each in _instructions(self._end, self.entry + JUMP):
            if not each.is_padding or any(map(_begins, range(each.address, each.end))):
                return
            yield each

    # ---- its values

    def source(self, reading: Reading, after: bool) -> Source:
        """Where a value is when it is entered, or when it returns."""
        found = self._source(reading, after)
        if reading.type not in (None, "int") or (reading.type == "int" and found.kind is not int):
            raise NoHookError(f"a {reading.type} is read by the debugger")
        return found

    def _source(self, reading: Reading, after: bool) -> Source:
        match reading.kind:
            case ReadingKind.RESULT if after:
                return self._scalar(Source(Base.RESULT), self._type.target())
            case ReadingKind.ARGUMENT:
                names = [name for name in self._parameters if name != "this"]
                if reading.index > len(names):
                    raise NoHookError(f"it has {len(names)} arguments")
                return self._argument(names[reading.index - 1])
            case ReadingKind.NAME if reading.text in self._parameters:
                return self._argument(reading.text)
            case ReadingKind.NAME:
                return self._variable(reading.text)
            case ReadingKind.POINTEE if reading.inner is not None:
                return self._pointee(reading.inner)
        raise NoHookError(f"`{reading.text or reading.kind}` is read by the debugger")

    def _argument(self, name: str) -> Source:
        register, kind = self._parameters[name]
        if register is None:
            raise NoHookError(f"`{name}` is in no register for integers")
        return self._scalar(Source(Base.ARGUMENT, register), kind)

    def _variable(self, name: str) -> Source:
        symbol = gdb.lookup_symbol(name, self._block)[0]
        if symbol is None or symbol.type is None or symbol.addr_class != gdb.SYMBOL_LOC_STATIC:
            raise NoHookError(f"`{name}` is read by the debugger")
        address = symbol.value().address
        assert address is not None
        return self._scalar(Source(Base.FIXED, follow=True, address=int(address)), symbol.type)

    def _pointee(self, inner: Reading) -> Source:
        if inner.kind is ReadingKind.RESULT:
            result = self._type.target().strip_typedefs()
            if result.code == gdb.TYPE_CODE_PTR:
                return self._scalar(Source(Base.RESULT, follow=True), result.target())
        name = inner.text
        if inner.kind is ReadingKind.ARGUMENT:
            names = [each for each in self._parameters if each != "this"]
            name = names[inner.index - 1] if inner.index <= len(names) else ""
        register, kind = self._parameters.get(name, (None, None))
        plain = kind.strip_typedefs() if kind is not None else None
        if register is None or plain is None or plain.code != gdb.TYPE_CODE_PTR:
            raise NoHookError(f"what `{inner.text or inner.kind}` points to is read by the debugger")
        return self._scalar(Source(Base.ARGUMENT, register, follow=True), plain.target())

    def _scalar(self, source: Source, kind: gdb.Type) -> Source:
        plain = kind.strip_typedefs()
        if plain.code in _REFERENCES and not source.follow and source.base is Base.ARGUMENT:
            return self._scalar(Source(Base.ARGUMENT, source.index, follow=True), plain.target())
        if plain.code not in _INTEGERS or plain.sizeof > _WORD:
            raise NoHookError(f"a value of type {kind} is read by the debugger")
        python = Address if plain.code == gdb.TYPE_CODE_PTR else bool if plain.code == gdb.TYPE_CODE_BOOL else int
        return Source(
            source.base,
            source.index,
            source.follow,
            plain.sizeof,
            plain.code in {gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_ENUM} and plain.is_signed,
            source.address,
            python,
        )

    @cached_property
    def _parameters(self) -> dict[str, tuple[int | None, gdb.Type]]:
        """By name, the register of each, None if it is in none for integers, and the type."""
        registers = fractions = 0
        found: dict[str, tuple[int | None, gdb.Type]] = {}
        if _is_large(self._type.target()):
            registers = 1  # where the result is to be put
        for symbol in self._block:
            if not symbol.is_argument or symbol.type is None:
                continue
            plain = symbol.type.strip_typedefs()
            if plain.code in _INTEGERS | _REFERENCES and (plain.sizeof <= _WORD or plain.code in _REFERENCES):
                found[symbol.name] = (registers if registers < _REGISTERS else None, symbol.type)
                registers += 1
            elif plain.code == gdb.TYPE_CODE_FLT and plain.sizeof <= _WORD:
                found[symbol.name] = (None, symbol.type)
                fractions += 1
            else:
                raise NoHookError(f"an argument of type {symbol.type} is passed in a way that GDB does not tell")
        self._on_stack = registers > _REGISTERS or fractions > _FRACTIONS
        return found

    def check_calls(self) -> None:
        """`NoHookError` if a hook cannot call it, because not all that it is given is in registers."""
        _ = self._parameters
        if self._on_stack or "..." in str(self._type):
            raise NoHookError("it takes arguments from the stack, so its return is seen by the debugger")


def _instructions(begin: int, end: int) -> Iterator[Instruction]:
    for each in gdb.selected_inferior().architecture().disassemble(begin, end - 1):
        yield Instruction(each["addr"], read(each["addr"], each["length"]), each["asm"])


def _begins(address: int) -> bool:
    """Does something begin there that has a name?"""
    text = gdb.execute(f"info symbol {address}", to_string=True)
    return not text.startswith("No symbol") and " + " not in text.partition(" in section")[0]


def _is_large(kind: gdb.Type) -> bool:
    """Is a result of this type put where the caller says?"""
    plain = kind.strip_typedefs()
    if plain.code in _INTEGERS | _REFERENCES | {gdb.TYPE_CODE_VOID, gdb.TYPE_CODE_FLT}:
        return False
    if plain.sizeof > 2 * _WORD:
        return True
    raise NoHookError(f"how it returns a {kind} is not told by GDB")
