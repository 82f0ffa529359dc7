"""Where a function gets its arguments from and leaves its result: the System V calling convention of x86-64.

GDB knows this too, but shows it to Python only through breakpoints that cost twice as much, and not at all for
functions without debug information.
"""

from __future__ import annotations

from collections.abc import Iterator

import gdb

from mopsus.interactive.gdb.values import Word
from mopsus.model import Unavailable

_ARGUMENTS = ("$rdi", "$rsi", "$rdx", "$rcx", "$r8", "$r9")
_WORD = 8
_WORD_MASK = (1 << 64) - 1
_SAVED_STACK = 6
"""The word of a `jmp_buf` with the stack pointer."""
_SECRET = 0x30
"""Where the secret lies in what `fs` points to."""
_LARGEST_STACK = 1 << 32
_SCALARS = {
    gdb.TYPE_CODE_INT,
    gdb.TYPE_CODE_CHAR,
    gdb.TYPE_CODE_BOOL,
    gdb.TYPE_CODE_ENUM,
    gdb.TYPE_CODE_PTR,
    gdb.TYPE_CODE_REF,
    gdb.TYPE_CODE_RVALUE_REF,
}
_RECORDS = {gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION, gdb.TYPE_CODE_ARRAY}


def argument(index: int, frame: gdb.Frame) -> Word | Unavailable:
    """The argument number `index` of a function that was just entered, as a whole word: without debug information,
    nobody knows how much of it counts."""
    if (wrong := _unknown(frame)) is not None:
        return wrong
    if index <= len(_ARGUMENTS):
        return Word(gdb.parse_and_eval(f"(long) {_ARGUMENTS[index - 1]}"))
    caller = frame.older()
    if caller is None:
        return Unavailable("the stack cannot be followed here")
    address = int(caller.read_register("rsp")) + _WORD * (index - len(_ARGUMENTS) - 1)
    return Word(gdb.parse_and_eval(f"*(long *) {address}"))


def result(kind: gdb.Type | None, frame: gdb.Frame) -> gdb.Value | Word | Unavailable:
    """What the function that has just returned into `frame` gave back; `kind` is its type, None if that is not
    known."""
    if (wrong := _unknown(frame)) is not None:
        return wrong
    if kind is None:
        return Word(gdb.parse_and_eval("(long) $rax"))
    plain = kind.strip_typedefs()
    if plain.code in _SCALARS and plain.sizeof <= _WORD:
        return gdb.Value(_register("$rax")[: plain.sizeof], kind)
    if plain.code == gdb.TYPE_CODE_VOID:
        return gdb.parse_and_eval("(void) 0")
    if plain.code == gdb.TYPE_CODE_FLT:
        if plain.sizeof <= _WORD:
            return gdb.Value(_register("$xmm0.v2_int64[0]")[: plain.sizeof], kind)
        return gdb.parse_and_eval("$st0").cast(kind)
    if plain.code in _RECORDS or plain.code in _SCALARS:
        return _aggregate(kind, plain)
    return Unavailable(f"a result of type {kind} cannot be read")


def jump_target(frame: gdb.Frame) -> int | None:
    """The stack pointer that `longjmp`, just entered, will go to; None if that cannot be told.

    The C library of GNU keeps it scrambled with a secret of the thread's, others keep it as it is.
    """
    buffer = argument(1, frame)
    if isinstance(buffer, Unavailable):
        return None
    here = int(gdb.parse_and_eval("$sp"))
    kept = int(gdb.parse_and_eval(f"((unsigned long *) {int(buffer)})[{_SAVED_STACK}]"))
    secret = int(gdb.parse_and_eval(f"*(unsigned long *) ($fs_base + {_SECRET})"))
    for found in ((kept >> 17 | kept << 47) & _WORD_MASK) ^ secret, kept:
        if here < found < here + _LARGEST_STACK:
            return found
    return None


def _aggregate(kind: gdb.Type, plain: gdb.Type) -> gdb.Value | Unavailable:
    """A record or a wide integer: in two registers if it fits, else in memory that `rax` points to."""
    if plain.sizeof > 2 * _WORD:
        return gdb.parse_and_eval("$rax").cast(kind.pointer()).dereference()
    if plain.code in _RECORDS and not _is_plain(kind):
        return Unavailable(f"GDB does not say how a {kind} is returned")
    whole = iter(("$rax", "$rdx"))
    fractions = iter(("$xmm0", "$xmm1"))
    parts = list(_scalars(plain, 0))
    if any(offset % part.sizeof or (part.sizeof > _WORD and part.code == gdb.TYPE_CODE_FLT) for offset, part in parts):
        return Unavailable(f"GDB does not say how a {kind} is returned")
    data = b""
    for word in range(0, plain.sizeof, _WORD):
        here = [part for offset, part in parts if word <= offset < word + _WORD]
        floating = here and all(part.code == gdb.TYPE_CODE_FLT for part in here)
        data += _register(f"{next(fractions)}.v2_int64[0]" if floating else next(whole))[:_WORD]
    return gdb.Value(data[: plain.sizeof], kind)


def _is_plain(kind: gdb.Type) -> bool:
    """Has it neither methods nor bases? Those with a copy constructor or destructor of their own are returned in
    memory, and GDB's Python does not tell which these are."""
    plain = kind.strip_typedefs()
    if plain.code == gdb.TYPE_CODE_ARRAY:
        return True
    if any(field.is_base_class for field in plain.fields()):
        return False
    name = plain.tag or plain.name
    methods = name is not None and "(" in gdb.execute(f"ptype {plain}", to_string=True).replace("(*", "")
    return not methods and all(
        field.type is not None and (field.type.strip_typedefs().code not in _RECORDS or _is_plain(field.type))
        for field in plain.fields()
    )


def _scalars(kind: gdb.Type, offset: int) -> Iterator[tuple[int, gdb.Type]]:
    """The parts of a type that are no records, with their places in bytes."""
    kind = kind.strip_typedefs()
    if kind.code == gdb.TYPE_CODE_ARRAY:
        first, last = kind.range()
        element = kind.target()
        for index in range(last - first + 1):
            yield from _scalars(element, offset + index * element.sizeof)
    elif kind.code in _RECORDS:
        for field in kind.fields():
            if field.type is not None and (bits := getattr(field, "bitpos", None)) is not None:
                where = offset + bits // 8
                yield from _scalars(field.type, where - where % field.type.sizeof if field.bitsize else where)
    else:
        yield offset, kind


def _register(name: str) -> bytes:
    return (int(gdb.parse_and_eval(name)) & ((1 << 128) - 1)).to_bytes(16, "little")


def _unknown(frame: gdb.Frame) -> Unavailable | None:
    architecture = frame.architecture().name()
    if architecture.startswith("i386:x86-64"):
        return None
    return Unavailable(f"the calling convention of {architecture} is not known: compile with -g")
