"""How often garbage is looked for: seldom while a command works, as often as ever in the program that it runs."""

from __future__ import annotations

import gc

OBJECTS = 50_000
"""So many objects more than were given up, before a command looks for garbage."""
_before: tuple[int, int, int] | None = None


def seldom() -> None:
    """Most objects of a short command live to its end; looking for garbage among them is a tenth of its start."""
    global _before
    _before = _before or gc.get_threshold()
    gc.set_threshold(OBJECTS)


def as_before() -> None:
    """Look for it as often as the interpreter did before, if that has been changed."""
    global _before
    if _before is not None:
        gc.set_threshold(*_before)
        _before = None
