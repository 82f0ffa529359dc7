"""Stage 5: which parts of a formula became true or false at which event of a witness.

Only a logic knows that, and only for a word from its beginning.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from mopsus.logics import LogicError, Turn, load_logic
from mopsus.model import Property, Spec, Verdict

_VALUES = {True: "true", False: "false", None: "unknown"}


def explains_itself(spec: Spec | None, verdict: Verdict) -> bool:
    """Can the logic of the verdict's property tell what its parts were?"""
    prop = _property(spec, verdict)
    return prop is not None and load_logic(prop.logic).explain is not None


def turns_of(spec: Spec, verdict: Verdict) -> Mapping[int, tuple[Turn, ...]] | None:
    """The turns at each event of a complete witness, by its position; None if the logic cannot tell."""
    prop = _property(spec, verdict)
    if prop is None:
        return None
    logic = load_logic(prop.logic)
    if logic.explain is None:
        return None
    alphabet = tuple(event.name for event in spec.events)
    word, times = [item.event for item in verdict.witness], [item.time for item in verdict.witness]
    try:
        found = logic.explain(_formula(logic.name, prop.formula, alphabet), alphabet, word, times)
    except LogicError:  # a report must not fail for want of an explanation
        return None
    turns: dict[int, tuple[Turn, ...]] = {}
    for turn in found:
        turns[turn.position] = (*turns.get(turn.position, ()), turn)
    return turns


def show_turn(turn: Turn) -> str:
    """`once a = true`."""
    return f"{turn.part} = {_VALUES[turn.value]}"


def _property(spec: Spec | None, verdict: Verdict) -> Property | None:
    properties = spec.properties if spec is not None else ()
    return next((prop for prop in properties if prop.name == verdict.property), None)


@lru_cache(maxsize=64)
def _formula(logic: str, text: str, alphabet: tuple[str, ...]) -> Any:  # noqa: ANN401 - each logic has its own formulas
    return load_logic(logic).parse(text, alphabet)
