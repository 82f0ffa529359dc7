"""C++ exceptions as the C++ library knows them: the object, and what its type is called and derived from.

The library describes each type by records in the program, which are there without debug information, too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import gdb

from mopsus.model import Unavailable

_WORD = 8
_ONE_BASE = "__si_class_type_info"
_SEVERAL_BASES = "__vmi_class_type_info"
_STRINGS = {
    "std::string": "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >",
    "std::wstring": "std::__cxx11::basic_string<wchar_t, std::char_traits<wchar_t>, std::allocator<wchar_t> >",
}
"""Names that every program knows, for those without debug information."""


@dataclass(frozen=True, slots=True)
class Thrown:
    """An exception. `names`: of its type, and of all that it is derived from."""

    address: int
    names: tuple[str, ...]
    has_several_bases: bool

    @classmethod
    def at_probe(cls) -> Thrown:
        """The one that the library is busy with."""
        address, description = (int(gdb.parse_and_eval(f"(long) $_probe_arg{index}")) for index in (0, 1))
        return cls(address, *_described(description, gdb.selected_inferior().pid))

    def is_a(self, name: str) -> bool:
        """Is its type, or one that it is derived from, called so, by whatever name?"""
        return name in self.names or _whole(name) in self.names

    def value(self, whole: bool) -> gdb.Value | Unavailable:
        """The exception itself. Not `whole`: only a part of it may be at the address."""
        if not whole and self.has_several_bases:
            return Unavailable("it is caught as one of its several bases")
        try:
            kind = gdb.lookup_type(self.names[0])
        except gdb.error:
            return Unavailable(f"nobody knows what is in {self.names[0]}: compile with -g")
        return gdb.Value(self.address).cast(kind.pointer()).dereference()


@lru_cache(maxsize=1024)
def _described(description: int, process: int) -> tuple[tuple[str, ...], bool]:
    """What a type's description says; the same program may lie elsewhere in another process."""
    text = gdb.Value(_word(description + _WORD)).cast(gdb.lookup_type("char").pointer()).string()
    names = [gdb.execute(f"demangle -- _ZTI{text.lstrip('*')}", to_string=True).strip().removeprefix("typeinfo for ")]
    kind = gdb.execute(f"info symbol {_word(description)}", to_string=True)
    bases = []
    if _ONE_BASE in kind:
        bases = [_word(description + 2 * _WORD)]
    elif _SEVERAL_BASES in kind:
        count = _word(description + 2 * _WORD) >> 32
        bases = [_word(description + (3 + 2 * index) * _WORD) for index in range(count)]
    several = _SEVERAL_BASES in kind
    for base in bases:
        inherited, more = _described(base, process)
        names += [name for name in inherited if name not in names]
        several = several or more
    return tuple(names), several


def is_known(name: str) -> bool:
    """Is there a type of that name that can be thrown, in the program or in a library of its?"""
    whole = f"typeinfo for {_whole(name)}"  # not `info address`: a command that fails here ends more than itself
    return f"  {whole}\n" in gdb.execute(f"info variables -q ^{re.escape(whole)}$", to_string=True)


def _whole(name: str) -> str:
    """What the compiler calls a type that has a name of its own for it."""
    try:
        return gdb.lookup_type(name).strip_typedefs().name or name
    except gdb.error:
        return _STRINGS.get(name, name)


def _word(address: int) -> int:
    return int.from_bytes(bytes(gdb.selected_inferior().read_memory(address, _WORD)), "little")
