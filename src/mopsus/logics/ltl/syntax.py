"""Stage 2: the text of formulas of linear temporal logic, over events and over propositions."""

from __future__ import annotations

from mopsus.logics.ltl.normal import step_bounds
from mopsus.logics.temporal.syntax import FUTURE, PAST, Formula, parse_formula
from mopsus.logics.tree import walk


def parse_ltl(text: str, alphabet: tuple[str, ...]) -> Formula:
    """The formula that `text` denotes over the events of `alphabet`, or `FormulaError`."""
    return _checked(parse_formula(text, alphabet, logic="ltl", operators=PAST | FUTURE, intervals=True))


def parse_over_propositions(text: str, propositions: tuple[str, ...] | None = None) -> Formula:
    """The formula that `text` denotes over `propositions` (None: any names), or `FormulaError`.

    Binary temporal operators need no parentheses here; they bind tighter than the connectives.
    """
    return _checked(
        parse_formula(text, propositions, logic="ltl", operators=PAST | FUTURE, intervals=True, strict=False)
    )


def _checked(formula: Formula) -> Formula:
    for part in walk(formula):
        if part.interval is not None:
            step_bounds(part)
    return formula
