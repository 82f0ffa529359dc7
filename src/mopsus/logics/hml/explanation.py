"""Stage 2: does an explanation explain? Its steps are replayed: they must be right, and the verdict must follow.

What the steps do not say is taken as unknown. So an explanation that leaves out a step that matters does not give the
verdict, and one that says something wrong is refused. Rounds of a loop that change nothing may be left out. That there
is nothing left to watch for is explained by one claim that was given up last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

from mopsus.logics.hml.compile import Reading
from mopsus.logics.hml.formula import Junction, Maximum, Modality, Truth, Variable, Whole
from mopsus.logics.hml.matching import Environment, fits
from mopsus.logics.hml.reference import Closure
from mopsus.model import Step
from mopsus.model.symbolic import ACCEPTANCE, INCONCLUSIVE, REJECTION

SELECTION = "with"
"""What steps call the selection of a form."""


@dataclass(frozen=True, eq=False)
class _Joined:
    conjunction: bool
    parts: tuple[_State, ...]


_State: TypeAlias = "bool | Closure | _Joined | None"
"""True (or given up), false, a modality that waits for an event, several of these, or unknown."""


def verdict_of(reading: Reading, whole: Whole, text: str, steps: Sequence[Step]) -> str | None:
    """The verdict that follows from the steps of an explanation; None: none does.

    `text` is what `whole` was read from. Steps at one event have the same row. `ValueError` if a step is wrong.
    """
    events = [list(group) for _, group in groupby(steps, lambda step: step.row)]
    environment: Environment = {}
    if whole.selection is not None:
        if not events or events[0][0].modality != SELECTION:
            raise ValueError("the explanation does not begin with the selection")
        first = events.pop(0)[0]
        found = fits(whole.selection, (first.event, first.data), {})
        if found is None:
            raise ValueError(f"the selection does not fit {first}")
        environment = found
    state = _settled(Closure(whole.formula, environment, {}))
    for group in events:
        state = _stepped(state, group, text)
    if state is False:
        return REJECTION
    if reading.linear:
        return ACCEPTANCE if state is True else None
    given_up = bool(events) and not any(step.fitted for step in events[-1])
    return INCONCLUSIVE if state is True or given_up else None


def _settled(closure: Closure) -> _State:
    match closure.formula:
        case Truth(value):
            return value
        case Maximum(name, body):
            inner = dict(closure.fixed)
            inner[name] = Closure(body, closure.environment, inner)
            return _settled(inner[name])
        case Variable(name):
            return _settled(closure.fixed[name])
        case Junction(conjunction, parts):
            inside = [_settled(Closure(part, closure.environment, closure.fixed)) for part in parts]
            return _joined(conjunction, inside)
    return closure


def _joined(conjunction: bool, parts: Sequence[_State]) -> _State:
    if any(part is (not conjunction) for part in parts):
        return not conjunction
    left = tuple(part for part in parts if part is not conjunction)
    return _Joined(conjunction, left) if left else conjunction


def _stepped(state: _State, steps: Sequence[Step], text: str) -> _State:
    match state:
        case _Joined(conjunction, parts):
            return _joined(conjunction, [_stepped(part, steps, text) for part in parts])
        case Closure(Modality() as modality, environment, fixed):
            written = " ".join(text[modality.offset : modality.offset + modality.length].split())
            for step in steps:
                if step.modality == written:
                    inner = fits(modality.action, (step.event, step.data), environment)
                    if (inner is not None) is not step.fitted:
                        continue  # of the same modality with other values
                    if inner is None:
                        return modality.necessity
                    return _settled(Closure(modality.then, inner, fixed))
            return None
    return state
