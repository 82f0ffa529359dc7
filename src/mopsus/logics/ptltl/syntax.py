"""Stage 2: the text of formulas of past-time linear temporal logic."""

from __future__ import annotations

from mopsus.logics.temporal.syntax import PAST, Formula, parse_formula


def parse_ptltl(text: str, alphabet: tuple[str, ...]) -> Formula:
    """The formula that `text` denotes over the events of `alphabet`, or `FormulaError`."""
    return parse_formula(text, alphabet, logic="ptltl", operators=PAST)
