"""Stage 3: what the core says, in the words of verdicts: places, values, bad rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any, cast

from mopsus import _core
from mopsus.model import Event, ObjectRef, TraceError, Value, WitnessEvent

_REPR_LIMIT = 80


def read_place(stamp: _core.Stamp) -> tuple[int | None, int | float | None, str | None]:
    """Row, time and location of an event."""
    number, time, location, is_source = stamp
    row = number or None
    if is_source and row is not None:
        location = f"{location}:{row}"
    return row, time, location


def last_use(witness: Sequence[WitnessEvent], ends: Set[str]) -> tuple[int | None, str] | None:
    """Row and location of the last event before something came to its `ends`, as far as that is known."""
    used = (item for item in reversed(witness) if item.event not in ends)
    return next(((item.row, item.location) for item in used if item.location is not None), None)


def shown(value: object, state: str, serial: int) -> Value:
    """A value as the core gives it: `s`calar, `o`bject, or the type's name of an object that is `d`ead."""
    if state == "s":
        return cast(Value, value)
    if state == "d":
        return ObjectRef(str(value), serial, "<no longer there>")
    try:
        text = repr(value)
    except Exception as error:
        text = f"<repr failed: {type(error).__name__}>"
    return ObjectRef(type(value).__name__, serial, text if len(text) <= _REPR_LIMIT else text[: _REPR_LIMIT - 1] + "…")


def shown_binding(
    parameters: Sequence[str], values: tuple[Any, ...], states: str, serials: tuple[int, ...]
) -> dict[str, Value]:
    """The values of an instance by name."""
    return {
        parameter: shown(value, state, serial)
        for parameter, value, state, serial in zip(parameters, values, states, serials, strict=True)
        if state != "u"
    }


def witness_event(event: Event, stamp: _core.Stamp, binding: Mapping[str, Value]) -> WitnessEvent:
    """An event of a slice with this binding."""
    row, time, location = read_place(stamp)
    return WitnessEvent(event.name, {name: binding[name] for name in event.parameters}, location, time, row)


def bad_row(source: str, why: str, row: int, column: str, event: str, type_: str) -> TraceError:
    """The error for a row that cannot be an event, and why."""
    messages = {
        "null": (
            f"event `{event}` has no value for `{column}`",
            "give one, or leave such rows out with `--bad-rows skip`",
        ),
        "missing": (f"there is no column `{column}`, which event `{event}` needs", "add it, or name it by `bind`"),
        "type": (f"column `{column}` has an unsupported type (Arrow format `{type_}`)", "cast it to text"),
        "no-event": ("the row names no event", "fill the column `event`, or skip such rows"),
        "dictionary": (f"column `{column}` refers outside of its dictionary", "the data is damaged"),
    }
    message, hint = messages[why]
    if why == "missing" and column == "event":
        message = "there is no column `event`"
    return TraceError(message, file=source, row=row or None, column=column, hint=hint)
