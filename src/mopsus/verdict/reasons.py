"""Stage 5: how a formula with data came to its verdict, for people: each event, and what the modalities made of it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from mopsus.model import Spec, Step, Value, Verdict, WitnessEvent
from mopsus.model.text import printable, show_binding

MODALITY_LIMIT = 300


def reasoned_events(verdict: Verdict, spec: Spec | None) -> list[tuple[WitnessEvent, tuple[str, ...]]]:
    """The events that the steps of a verdict are about, in order, each with a sentence for every step.

    With the `spec`, the values of an event have the names of its fields.
    """
    fields = {} if spec is None else {event.name: event.fields for event in spec.events}
    return [
        (_event(steps[0], fields.get(steps[0].event, ())), tuple(map(show_reason, steps)))
        for steps in (list(group) for _, group in groupby(verdict.steps, _happening))
    ]


def show_reason(step: Step) -> str:
    """A step in a few words: `[_ ? N] fits, N=3; goes on with X`."""
    said = f"{printable(step.modality, MODALITY_LIMIT)} {'fits' if step.fitted else 'does not fit'}"
    if step.binding:
        said += f", {show_binding(step.binding)}"
    if step.unfolded:
        said += f"; goes on with {', '.join(map(printable, step.unfolded))}"
    return said


def _happening(step: Step) -> tuple[object, ...]:
    """What tells the event of a step from that of the next."""
    return step.event, repr(step.data), step.location, step.time, step.row


def _event(step: Step, fields: Sequence[str]) -> WitnessEvent:
    names = fields if len(fields) == len(step.data) else [str(number) for number in range(1, len(step.data) + 1)]
    values: dict[str, Value] = dict(zip(names, step.data, strict=True))
    return WitnessEvent(step.event, values, step.location, step.time, step.row)
