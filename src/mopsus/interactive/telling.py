"""What a session says to the developer, as text: events, states, stops, checkpoints."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Protocol

from mopsus.interactive.crash import Crash
from mopsus.interactive.debugger import Where
from mopsus.interactive.watch import Move, Watch
from mopsus.model import Acceptance, MopsusError, Verdict, WitnessEvent
from mopsus.model.text import printable, short_path, show_binding, show_place, show_value
from mopsus.spec import render_all
from mopsus.verdict import Explanation, explain

_OURS = f"{Path(__file__).parent}/"

MOST_SLICES = 20
"""More than these are only counted: a dump at every event must stay readable."""


class Saved(Protocol):
    """A checkpoint, as far as it is told."""

    @property
    def number(self) -> int: ...

    @property
    def where(self) -> Where | None: ...

    @property
    def states(self) -> str: ...


def event_line(event: str, values: Mapping[str, Any]) -> str:
    """`Event: push{'q': 17}`."""
    inside = ", ".join(f"{name!r}: {show_value(value)}" for name, value in values.items())
    return f"Event: {printable(event)}{{{inside}}}"


def initial_state(watch: Watch) -> str:
    """The environment that a monitor begins with."""
    lines = [f"[{_clock()}] Initialization (monitor #{watch.number}, {printable(watch.spec.name)}):"]
    return "\n".join([*lines, *_environment(watch.environment(), "    ")])


def current_state(watch: Watch, moves: Sequence[Move] = ()) -> str:
    """Where every slice of a monitor stands, and whence those came that have just moved."""
    origins = {_key(move.binding): move.old for move in moves}
    states = watch.states()
    slices = [(watch.shown(each.binding), each) for each in watch.monitor.slices()]
    shown = sorted(enumerate(slices), key=lambda each: _key(each[1][0]) not in origins)[:MOST_SLICES]
    lines = [f"[{_clock()}] Current state (monitor #{watch.number}):"]
    for number, (binding, each) in sorted(shown, key=lambda pair: pair[0]):
        origin = origins.get(_key(binding))
        mark = states.get(each.state, Acceptance.NEUTRAL).value
        parts = [
            f"  Slice {number} {show_binding(binding) or None}: {printable(each.state)}",
            f"(from {printable(origin)})" if origin is not None else "",
            f"[{mark}]" if mark else "",
        ]
        lines.append(" ".join(part for part in parts if part))
        lines += _environment(each.environment, "    ")
    if not slices:
        lines.append("  no slice")
    if len(slices) > MOST_SLICES:
        lines.append(f"  and {len(slices) - MOST_SLICES:,} more slices")
    return "\n".join(lines)


def states_line(watch: Watch) -> str:
    """`queue: ready x2, init`: how many slices are in each state."""
    counts: dict[str, int] = {}
    for each in watch.monitor.slices():
        counts[each.state] = counts.get(each.state, 0) + 1
    shown = ", ".join(printable(state) + (f" x{count}" if count > 1 else "") for state, count in counts.items())
    return f"{printable(watch.spec.name)}: {shown or 'no slice'}"


def events_line(count: int) -> str:
    """`12 events`: two checkpoints at one place are told apart by them."""
    return f"{count:,} event{'' if count == 1 else 's'}"


def stop_text(
    reason: str,
    where: Where,
    verdicts: Iterable[tuple[Watch, Verdict]],
    watches: Iterable[Watch],
    checkpoints: Sequence[Saved],
    history: int,
) -> str:
    """Why the program stands still, where, how it came to that, in which states the monitors are, what can be done."""
    lines = [f"Stopped: {reason}", f"  at {where_text(where)}"]
    for watch, verdict in verdicts:
        explained = explain(verdict, watch.machine(verdict.property), history, watch.spec)
        lines += [f"  {explained.message}"] if explained.message != reason else []
        lines += explanation_lines(explained)
    return "\n".join([*lines, *_standing(watches, checkpoints)])


def crash_text(crash: Crash, watches: Sequence[Watch], checkpoints: Sequence[Saved], history: int) -> str:
    """What the program dies of, and where, what was open then, in which states the monitors are, what can be done."""
    lines = [f"Crash: the program {printable(crash.cause)}", f"  at {where_text(crash.where)}"]
    lines += [f"  {printable(line)}" for line in crash.detail.splitlines()]
    by_name = {watch.spec.name: watch for watch in watches}
    for verdict in crash.open:
        watch = by_name[verdict.spec]
        explained = explain(verdict, watch.machine(verdict.property), history, watch.spec)
        lines += [f"  {explained.message}", *explanation_lines(explained)]
    if crash.more_open:
        lines.append("  and more slices were open")
    return "\n".join([*lines, *_standing(watches, checkpoints)])


def _standing(watches: Iterable[Watch], checkpoints: Sequence[Saved]) -> list[str]:
    """The states of monitors, the checkpoints, and what can be done."""
    lines = [f"  monitor #{watch.number} {states_line(watch)}" for watch in watches]
    lines += [f"  {checkpoint_line(each)}" for each in checkpoints]
    advice = "Go on, step, or look around as ever"
    if checkpoints:
        advice += f"; `verde checkpoint-restart {checkpoints[-1].number}` goes back"
    return [*lines, f"{advice}; `verde help` lists the commands for monitors."]


def explanation_lines(explained: Explanation) -> list[str]:
    """The witness of a verdict, and what there is to remark."""
    return [*_witness([step.event for step in explained.steps]), *(f"  {remark}" for remark in explained.remarks)]


def _witness(events: Sequence[WitnessEvent]) -> list[str]:
    """A line for each event, and one for all in a row that differ in time only."""
    lines = []
    first = 1
    for shown, same in groupby(map(_event, events)):
        count = len(list(same))
        numbers = str(first) if count == 1 else f"{first}-{first + count - 1}"
        lines.append(f"    {numbers:>7}. {shown}")
        first += count
    return lines


def _event(event: WitnessEvent) -> str:
    place = show_place(event)
    return f"{printable(event.event)}({show_binding(event.binding)})" + (f"  at {place}" if place else "")


def checkpoint_line(saved: Saved) -> str:
    """`checkpoint 0 at queue.c:12 in push (queue: ready)`."""
    return f"checkpoint {saved.number} at {where_text(saved.where)} ({saved.states})"


def where_text(where: Where | None) -> str:
    """`queue.c:12 in queue_push, thread 2`."""
    if where is None:
        return "a place not known"
    place = short_path(where.location) if where.location else "a place without source"
    function = f" in {where.function}" if where.function else ""
    thread = f", thread {where.thread}" if where.thread not in (None, 1) else ""
    return printable(f"{place}{function}{thread}")


def error_text(error: MopsusError) -> str:
    """`error[DEBUG-002]: there is no function pusj (did you mean push?)`."""
    hint = f" ({error.hint})" if error.hint else ""
    return f"error[{error.code}]: {error.message}{hint}"


def refusal(error: MopsusError, form: str = "{}\n  {}") -> str:
    """Why a command is refused, and what to do; of what is wrong in a file, where that is."""
    if any(each.span is not None for each in error.diagnostics):
        return render_all(error.diagnostics)
    return form.format(error.message, error.hint) if error.hint else error.message


def fault_text(error: BaseException) -> str:
    """An error of some code of the user's, with the lines that led there."""
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if not frame.filename.startswith(_OURS)] or frames
    places = [f"{short_path(frame.filename)}:{frame.lineno}" for frame in theirs]
    lines = [f"  at {place}: {frame.line}" for place, frame in zip(places, theirs, strict=True)]
    return "\n".join([f"{type(error).__name__}: {error}", *lines])


def _environment(environment: Mapping[str, Any], indent: str) -> list[str]:
    return [f"{indent}{name}: {show_value(value)}" for name, value in environment.items() if not name.startswith("__")]


def _key(binding: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """Bindings are compared as they are shown: their values may be anything."""
    return tuple((name, repr(value)) for name, value in sorted(binding.items()))


def _clock() -> str:
    return time.strftime("%H:%M:%S")
