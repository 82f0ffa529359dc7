"""Stage 2: the verdicts that the temporal logics have in common."""

from __future__ import annotations

from mopsus.logics.temporal.syntax import Formula

VIOLATION, VALIDATION = "violation", "validation"

TRUTH = {VALIDATION: True, VIOLATION: False}

CATEGORY = {True: VALIDATION, False: VIOLATION}


def categories_of(formula: Formula) -> frozenset[str]:
    """`violation` and `validation`, whatever the formula."""
    return frozenset(TRUTH)
