"""Values as text for a picture.

A picture may be made while the program is anywhere, with any lock held. The `repr` of its own classes is not for then:
it is asked for where a monitor is told of an event, and where the program stands.
"""

from __future__ import annotations

from collections.abc import Mapping

from mopsus.interactive.debugger import Where
from mopsus.interactive.live.picture import Place
from mopsus.model import Address, ObjectRef, Unavailable
from mopsus.model.text import file_line, printable, show_value

_PLAIN = (int, float, complex, bool, str, bytes, type(None), Address, ObjectRef, Unavailable)
_MOST = 8
"""Of what a container holds."""


def show_harmless(value: object) -> str:
    """`17`, `'x'`, `{1, 2}`; of an object of a class, only the class and its address."""
    kind = type(value)
    if kind in _PLAIN:
        return show_value(value)  # type: ignore[arg-type]  # one of those by the line above
    if kind in (list, tuple, set, frozenset, dict):
        return printable(_container(value))
    return printable(f"<{kind.__name__} at {id(value):#x}>")


def show_values(values: Mapping[str, object], *, harmless: bool = False) -> dict[str, str]:
    """Each by name; `harmless`: without running any code of the program's."""
    show = show_harmless if harmless else _show
    return {printable(name): show(value) for name, value in values.items() if not name.startswith("__")}


def _show(value: object) -> str:
    try:
        return show_value(value)  # type: ignore[arg-type]  # whatever it is, it has a `repr`
    except Exception:  # which may fail
        return show_harmless(value)


def place_of(where: Where | None) -> Place:
    """Where the program stands, taken apart."""
    if where is None:
        return Place()
    found = file_line(where.location) if where.location is not None else None
    file, line, _ = found if found is not None else (where.location, None, None)
    return Place(file, line, where.function, None if where.thread is None else str(where.thread))


def _container(value: object) -> str:
    items = list(value.items()) if isinstance(value, dict) else list(value)  # type: ignore[call-overload]  # as above
    shown = [
        f"{show_harmless(item[0])}: {show_harmless(item[1])}" if isinstance(value, dict) else show_harmless(item)
        for item in items[:_MOST]
    ]
    inside = ", ".join([*shown, "…"] if len(items) > _MOST else shown)
    match value:
        case list():
            return f"[{inside}]"
        case tuple():
            return f"({inside},)" if len(items) == 1 else f"({inside})"
        case frozenset():
            return f"frozenset({{{inside}}})"
        case set() if not items:
            return "set()"
    return f"{{{inside}}}"
