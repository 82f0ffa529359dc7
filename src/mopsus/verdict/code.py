"""Stage 5: the line of code that an event of a program came from.

Only for events of a running program: a trace says of itself where its events happened, and what it says must not
make a report read files.
"""

from __future__ import annotations

from mopsus.model import Step, Verdict, WitnessEvent
from mopsus.model.text import file_line, printable

CODE_LIMIT = 120


def code_of(item: Verdict | WitnessEvent | Step) -> str:
    """The line of code at the item's location, on one line, cut and harmless; nothing if it cannot be had.

    The file is read when it is asked for, so a program that changes its own sources may show others.
    """
    if item.row is not None or item.location is None:
        return ""
    place = file_line(item.location)
    if place is None:
        return ""
    import linecache  # knows sources inside archives, and those of interactive sessions

    try:
        linecache.checkcache(place[0])
        line = linecache.getline(place[0], place[1])
    except Exception:  # the program has put something else in the place of what reads files
        return ""
    return printable(line.strip(), CODE_LIMIT)
