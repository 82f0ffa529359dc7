"""What is wrong with a place that a property names: unknown functions and lines, missing debug information."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

import gdb

from mopsus.interactive.gdb.points import main_file
from mopsus.model import Place, PlaceKind

_FUNCTION = re.compile(r"([\w:~]+)\(|^0x[0-9a-f]+\s+(\S+)$", re.MULTILINE)

_OPTIMIZED = re.compile(r"\s(-O(?:[1-3sz]|fast)?)(?:\s|$)")


def wrong_with(place: Place) -> str | None:
    """What is wrong with a place, and what to do; None if it is there, or may still come."""
    if place.kind not in (PlaceKind.CALL, PlaceKind.LINE) or _exists(_linespec(place)) or may_come():
        return None
    return why_missing(place)


def why_missing(place: Place) -> str:
    """The same of a function or a line that is known not to be there."""
    if place.kind is PlaceKind.LINE:
        if gdb.lookup_global_symbol("main") is None:
            lacks = "the program was compiled without debug information"
            return f"{lacks}, so it has no line {place.what}: compile it with -g"
        return f"the program has no code for line {place.what}"
    if not has_symbols():
        lacks = f"the program has no symbols, so nobody knows where {place.what} is"
        return f"{lacks}: compile it with -g, and do not strip it"
    return f"the program has no function {place.what}{_near(_linespec(place))}"


def why_doubtful(place: Place) -> str | None:
    """Why a call may have gone unseen: of a function that was compiled with optimization, some calls leave no trace."""
    if place.kind is not PlaceKind.CALL:
        return None
    try:
        found = gdb.decode_line(_linespec(place))[1]
    except gdb.error:
        return None
    for each in found or ():
        level = _OPTIMIZED.search(each.symtab.producer or "") if each.symtab is not None else None
        if level is not None:
            unseen = "calls that the compiler has folded away, or whose code it has taken to another place"
            return f"{place.what} was compiled with {level[1]}, and {unseen}, are not seen; -O0 shows all"
    return None


def _linespec(place: Place) -> str:
    """As GDB calls it."""
    if place.kind is PlaceKind.CALL:
        return place.what.replace(".", "::")
    return place.what if ":" in place.what else f"{main_file()}:{place.what}"


def _exists(place: str) -> bool:
    try:
        return bool(gdb.decode_line(place)[1])
    except gdb.error:
        return False


def has_symbols() -> bool:
    """Does anybody know where the program has what?"""
    return _exists("main")


def may_come() -> bool:
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
