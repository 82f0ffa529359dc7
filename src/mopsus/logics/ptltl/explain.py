"""Stage 2: which parts of a past-time formula became true or false at which event."""

from __future__ import annotations

from collections.abc import Sequence

from mopsus.logics.logic import Turn
from mopsus.logics.temporal.explain import explain
from mopsus.logics.temporal.syntax import Formula


def explain_ptltl(
    formula: Formula, alphabet: tuple[str, ...], word: Sequence[str], times: Sequence[float | int | None]
) -> list[Turn]:
    """The turns of the formula's temporal operators, and of the formula itself."""
    return explain(formula, word)
