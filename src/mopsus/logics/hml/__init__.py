"""Stage 2: the logics `shml` and `maxhml`: modalities over events and the data that they carry, with recursion."""

from __future__ import annotations

from functools import partial

from mopsus.logics.hml.compile import TRUTH, Reading, compile_whole
from mopsus.logics.hml.formula import Whole, actions
from mopsus.logics.hml.parse import parse_whole
from mopsus.logics.hml.printer import print_whole
from mopsus.logics.hml.reference import categories_after
from mopsus.logics.logic import Logic
from mopsus.model.machine import EXHAUSTED
from mopsus.model.symbolic import ACCEPTANCE, INCONCLUSIVE, REJECTION
from mopsus.spec.hml.events import FIELDS


def _events(whole: Whole) -> frozenset[str]:
    """The events written in the formula; all that components have, if it is about components."""
    if whole.selection is not None:
        return frozenset(FIELDS)
    return frozenset(action.event for action in actions(whole) if action.event is not None)


def _alphabet(text: str) -> tuple[str, ...]:
    """The events of a formula's text: those of components, if it is a form about them."""
    whole = parse_whole(text, ())
    if whole.selection is not None:
        return tuple(FIELDS)
    return tuple(dict.fromkeys(action.event for action in actions(whole) if action.event is not None))


def _logic(name: str, summary: str, reading: Reading, good: str) -> Logic:
    return Logic(
        name=name,
        summary=summary,
        parse=parse_whole,
        print=print_whole,
        categories=lambda _: frozenset({REJECTION, good, EXHAUSTED}),
        events=_events,
        compile=partial(compile_whole, reading),
        reference=partial(categories_after, reading),
        default_goal=(REJECTION,),
        notes=frozenset({good}),
        truth={category: TRUTH[category] for category in (REJECTION, good)},
        alphabet=_alphabet,
    )


SHML = _logic(
    "shml",
    "safety of components: no trace may do what modalities over events and their data forbid",
    Reading(linear=False),
    INCONCLUSIVE,
)
MAXHML = _logic(
    "maxhml",
    "modalities over events and their data, true or false of a trace: necessity, possibility, recursion",
    Reading(linear=True),
    ACCEPTANCE,
)
