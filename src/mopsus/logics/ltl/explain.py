"""Stage 2: which parts of a formula of linear temporal logic became true or false at which event."""

from __future__ import annotations

from collections.abc import Sequence

from mopsus.logics.logic import Turn
from mopsus.logics.ltl.compile import monitor_of
from mopsus.logics.ltl.normal import step_bounds
from mopsus.logics.temporal.categories import TRUTH
from mopsus.logics.temporal.explain import explain
from mopsus.logics.temporal.syntax import Formula


def explain_ltl(
    formula: Formula, alphabet: tuple[str, ...], word: Sequence[str], times: Sequence[float | int | None]
) -> list[Turn]:
    """The turns of the formula's temporal operators, and of the formula as its monitor decides it."""
    monitor = monitor_of(formula, alphabet)
    state = monitor.initial
    whole: list[bool | None] = []
    for event in word:
        state = monitor.table[state][alphabet.index(event)]
        category = next(iter(monitor.categories[state]), None)
        whole.append(None if category is None else TRUTH[category])
    return explain(formula, word, step_bounds, whole)
