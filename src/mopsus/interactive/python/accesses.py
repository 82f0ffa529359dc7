"""Where code reads and writes variables and attributes: found in its instructions, before any of them runs."""

from __future__ import annotations

import ast
import dis
import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from types import CodeType, FrameType

from mopsus.interactive.python.values import evaluate
from mopsus.model import Place, PlaceKind

_VARIABLES = frozenset({"FAST", "GLOBAL", "NAME", "DEREF", "CLASSDEREF"})
_ATTRIBUTES = frozenset({"ATTR", "METHOD"})
_WANTED = {
    PlaceKind.READ: frozenset({False}),
    PlaceKind.WRITE: frozenset({True}),
    PlaceKind.ACCESS: frozenset({False, True}),
}


@dataclass(frozen=True, slots=True)
class Access:
    """An instruction that reads or writes what stands in the source as `path`: `x`, `self.size`."""

    offset: int
    write: bool
    path: tuple[str, ...]

    def value(self, frame: FrameType) -> object:
        """What it has now; whatever that raises is raised."""
        return evaluate(".".join(self.path), frame)


@cache
def accesses(code: CodeType) -> tuple[Access, ...]:
    """All of a code object, but for attributes of what is no variable or attribute itself, as in `f().x`."""
    return tuple(_find(code))


def _find(code: CodeType) -> Iterator[Access]:
    for instruction in dis.get_instructions(code):
        words = instruction.opname.split("_")
        if words[0] not in {"LOAD", "STORE", "DELETE"} or len(words) < 2:
            continue
        if words[1] in _ATTRIBUTES:
            path = _path(code, instruction)
            if path is not None and path[-1] == instruction.argval:
                yield Access(instruction.offset, words[0] != "LOAD", path)
        elif words[1] in _VARIABLES:
            # One instruction may stand for two: LOAD_FAST_LOAD_FAST.
            names = instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
            verbs = [word for word in words if word in {"LOAD", "STORE", "DELETE"}]
            for verb, name in zip(verbs, names, strict=False):
                yield Access(instruction.offset, verb != "LOAD", (name,))


def _path(code: CodeType, instruction: dis.Instruction) -> tuple[str, ...] | None:
    """What stands in the source where the instruction comes from."""
    at = instruction.positions
    if at is None or at.lineno is None or at.lineno != at.end_lineno:
        return None
    line = linecache.getline(code.co_filename, at.lineno).encode()
    return _dotted(line[at.col_offset : at.end_col_offset].decode(errors="replace"))


@cache
def _dotted(text: str) -> tuple[str, ...] | None:
    try:
        node: ast.expr = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        return None
    if isinstance(node, ast.Call):  # a method's call is where its name comes from
        node = node.func
    path: list[str] = []
    while isinstance(node, ast.Attribute):
        path.append(node.attr)
        node = node.value
    return (*([node.id]), *reversed(path)) if isinstance(node, ast.Name) else None


def find_accesses(place: Place, code: CodeType, full_name: str) -> tuple[Access, ...]:
    """The instructions of some code that may read or write what a place names; `is_meant` knows when they run.

    A name alone is a variable of that name, in any function or module of the program. After `f.` it is a variable of
    that function, after a module that of the module, after a class an attribute of its objects; else what stands
    before the last dot is an object.
    """
    *owner, name = place.what.split(".")
    scope = ".".join(owner)
    inside = not owner or full_name == scope or full_name.endswith(f".{scope}") or full_name.startswith(f"{scope}.")
    return tuple(
        each
        for each in accesses(code)
        if each.write in _WANTED[place.kind] and each.path[-1] == name and (inside if len(each.path) == 1 else owner)
    )


def is_meant(place: Place, access: Access, frame: FrameType, main: dict[str, object]) -> bool:
    """Is what is read or written here that of the object, or of an object of the class, that the place names?"""
    if len(access.path) == 1:
        return True
    *owner, _ = place.what.split(".")
    wanted = ".".join(owner)
    try:
        holder = evaluate(".".join(access.path[:-1]), frame)
    except Exception:
        return False
    if any(wanted in {each.__name__, each.__qualname__} for each in type(holder).__mro__):
        return True
    for namespace in (frame.f_locals, frame.f_globals, main):
        try:
            if eval(wanted, dict(namespace)) is holder:
                return True
        except Exception:
            continue
    return False
