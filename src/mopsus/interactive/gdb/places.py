"""What is wrong with a place that a property names: unknown functions and lines, missing debug information."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

import gdb

from mopsus.interactive.gdb.points import main_file
from mopsus.model import Place, PlaceKind

_FUNCTION = re.compile(r"([\w:~]+)\(|^0x[0-9a-f]+\s+(\S+)$", re.MULTILINE)


def wrong_with(place: Place) -> str | None:
    """What is wrong with a place, and what to do; None if it is there, or may still come."""
    if place.kind is PlaceKind.CALL:
        return _wrong_function(place.what)
    if place.kind is PlaceKind.LINE:
        return _wrong_line(place.what)
    return None


def _wrong_function(name: str) -> str | None:
    function = name.replace(".", "::")
    if _exists(function) or _may_come():
        return None
    if not _exists("main"):
        return f"the program has no symbols, so nobody knows where {name} is: compile it with -g, and do not strip it"
    return f"the program has no function {name}{_near(function)}"


def _wrong_line(where: str) -> str | None:
    if _exists(where if ":" in where else f"{main_file()}:{where}") or _may_come():
        return None
    if gdb.lookup_global_symbol("main") is None:
        return f"the program was compiled without debug information, so it has no line {where}: compile it with -g"
    return f"the program has no code for line {where}"


def _exists(place: str) -> bool:
    try:
        return bool(gdb.decode_line(place)[1])
    except gdb.error:
        return False


def _may_come() -> bool:
    """May a library that is loaded later have it? Not once the program runs, unless it loads libraries by itself."""
    space = gdb.current_progspace()
    program = None if space is None else space.filename
    if program is None:
        return True
    data = Path(program).read_bytes()
    if not gdb.selected_inferior().pid:
        return b"ld-linux" in data or b"ld-musl" in data
    return b"\0dlopen\0" in data


def _near(name: str) -> str:
    text = gdb.execute(f"info functions -q ^{name[0]}", to_string=True)
    names = list(dict.fromkeys(found[1] or found[2] for found in _FUNCTION.finditer(text)))
    found = difflib.get_close_matches(name, names, 3)
    return f"; did you mean {' or '.join(found)}?" if found else "; `info functions` lists those that it has"
