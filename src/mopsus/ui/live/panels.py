"""What the panels of the live page show of a picture: rows of tables and small pieces of HTML.

All text of the program's is escaped here, and nothing here knows a browser.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from html import escape

from mopsus.interactive.live.picture import (
    Course,
    Happened,
    Monitor,
    Picture,
    Place,
    Program,
    Said,
    Saved,
    Slice,
    Source,
)
from mopsus.model.text import short_path

STYLE = """
.m-source { font: 12.5px/1.5 ui-monospace, monospace; }
.m-source div { white-space: pre-wrap; overflow-wrap: anywhere; padding: 0 12px 0 8ch; text-indent: -8ch; }
.m-source div > * { text-indent: 0; }
.m-source .number { display: inline-block; width: 5ch; text-align: right; color: var(--m-faint); user-select: none; }
.m-source .arrow { display: inline-block; width: 3ch; text-align: center; }
.m-source .here { background: var(--m-lit); font-weight: 600; }
.m-said summary { cursor: pointer; padding: 2px 0; overflow-wrap: anywhere; }
.m-said pre { font: 12px/1.5 ui-monospace, monospace; margin: 0 0 6px 4px; white-space: pre-wrap;
        overflow-wrap: anywhere; }
.m-said .violation summary { color: var(--m-false); font-weight: 600; }
.m-said .fine summary { color: var(--m-true); }
"""

AROUND = 8
"""Lines of source that are shown before and after the one where the program stands."""

WORDS: Mapping[Course, tuple[str, str]] = {
    Course.WAITING: ("hourglass_empty", "not begun"),
    Course.RUNNING: ("play_arrow", "running"),
    Course.STOPPED: ("pause", "stopped"),
    Course.ENDED: ("stop", "ended"),
}
"""Of each course, an icon and a word."""


def program_name(program: Program) -> str:
    """How it was called."""
    return short_path(program.name)


def place_text(place: Place) -> str:
    """`queue.c:12 in push, thread 2`."""
    where = "" if place.file is None else short_path(place.file) + ("" if place.line is None else f":{place.line}")
    inside = f"in {place.function}" if place.function else ""
    thread = f", thread {place.thread}" if place.thread not in (None, "1") else ""
    return " ".join(filter(None, (where, inside))) + thread


def reason_text(program: Program) -> str:
    """Why the program stands as it does, and where."""
    if program.course is Course.ENDED:
        status = program.status
        end = "" if status is None else f"with {status}" if status >= 0 else f"by signal {-status}"
        return " · ".join(filter(None, (end, program.reason)))
    where = place_text(program.place) if program.course is Course.STOPPED else ""
    return " · ".join(filter(None, (program.reason, where)))


def where_text(program: Program) -> str:
    """Of which place the source is shown."""
    place = place_text(program.place)
    if not place:
        return "No place in the source is known."
    return place if program.course is Course.STOPPED else f"last seen at {place}"


def slice_key(each: Slice) -> str:
    """What tells a slice from the others of its monitor."""
    return f"{each.property}({values_text(each.binding)})"


def slice_rows(monitor: Monitor, chosen: str | None = None) -> list[dict[str, str | bool]]:
    """The table of slices; one may be marked, by its key."""
    several = len(monitor.automata) > 1
    return [
        {
            "key": slice_key(each),
            "chosen": slice_key(each) == chosen,
            "slice": values_text(each.binding) or "no parameters",
            "state": (f"{each.property}: " if several else "") + each.state,
            "environment": values_text(each.environment),
        }
        for each in monitor.slices
    ]


def slice_note(monitor: Monitor) -> str:
    """How many there are, and how many of them are listed."""
    count = f"{monitor.slice_count:,} slice{'s' * (monitor.slice_count != 1)}"
    listed = len(monitor.slices)
    if listed == monitor.slice_count:
        return count
    # Inside of the program nobody notes when each of them moves.
    return (
        f"{count}; {listed:,} of them are listed"
        if monitor.inside
        else f"{count}; the {listed:,} that moved last are listed"
    )


def event_rows(events: Sequence[Happened]) -> list[dict[str, str | int]]:
    """The table of events, the newest first."""
    return [
        {
            "number": each.number,
            "monitor": f"#{each.monitor}" if each.monitor else "",
            "event": each.event,
            "values": values_text(each.values),
            "place": place_text(each.place),
            "time": "" if each.time is None else f"{each.time:.3f}",
        }
        for each in reversed(events)
    ]


def event_note(picture: Picture) -> str:
    """How many happened, if not all are listed, and who does not tell of them."""
    notes = []
    if len(picture.events) < picture.event_count:
        notes.append(f"the last {len(picture.events):,} of {picture.event_count:,}")
    notes += [
        f"monitor #{each.number} takes its {each.event_count:,} inside of the program"
        for each in picture.monitors
        if each.inside
    ]
    return "; ".join(notes)


def verdicts_html(verdicts: Sequence[Said]) -> str:
    """Verdicts, the newest first and open, each with the events that led to it."""
    newest = len(verdicts) - 1
    return "".join(_said(verdicts[number], number == newest) for number in range(newest, -1, -1))


def source_html(source: Source) -> str:
    """The lines of the program, with a mark at the one where it stands."""
    lines = []
    for number, text in enumerate(source.lines, source.first):
        if abs(number - source.current) > AROUND:
            continue
        here = number == source.current
        lines.append(
            f'<div{" class=here" * here}><span class="number">{number}</span>'
            f'<span class="arrow">{"▶" if here else " "}</span>{escape(text) or " "}</div>'
        )
    return f'<div class="m-source">{"".join(lines)}</div>'


def checkpoint_text(saved: Saved) -> str:
    """Where a checkpoint is."""
    return place_text(saved.place) or "a place not known"


def values_text(values: Mapping[str, str]) -> str:
    """`q=0x55, size=3`."""
    return ", ".join(f"{name}={value}" for name, value in values.items())


def _said(said: Said, is_open: bool) -> str:
    how = "violation" if said.violation else "fine"
    mark = "✗" if said.violation else "✓"
    lines = escape(textwrap.dedent("\n".join(said.explanation)))
    shown = f"<summary>{mark} {escape(said.text)}</summary><pre>{lines}</pre>"
    return f'<details class="{how}"{" open" * is_open}>{shown}</details>'
