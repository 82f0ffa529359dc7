"""Stage 2: the text of metric temporal formulas: a unit of time, then a formula whose operators may have intervals."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mopsus.logics.logic import FormulaError
from mopsus.logics.mtl.time import SECOND, UNITS, Bounds, read_bounds
from mopsus.logics.temporal import syntax
from mopsus.logics.temporal.categories import TRUTH
from mopsus.logics.temporal.syntax import PAST, Formula, Op, parse_formula, print_formula
from mopsus.logics.text import suggestion
from mopsus.logics.tree import walk
from mopsus.model import DISORDERED, UNTIMED

TROUBLE = frozenset({UNTIMED, DISORDERED})
"""What is reported whether it is handled or not."""

BOUNDED = frozenset({Op.EVENTUALLY, Op.ALWAYS, Op.UNTIL, Op.RELEASE})
"""Operators on the future, which need an upper bound: nobody waits for ever."""

FUTURE = BOUNDED | {Op.NEXT, Op.WEAK_NEXT}

_UNIT = re.compile(r"\s*unit\s+(\w+)\s*;")


@dataclass(frozen=True, slots=True)
class TimedFormula:
    """A formula, and the unit that its plain numbers and the trace's plain times count."""

    formula: Formula
    unit: str = SECOND

    def bounds(self, part: Formula) -> Bounds:
        """The interval of a part of the formula, in the unit; from 0 on without end if none is written."""
        return read_bounds(part.interval, self.unit)


def parse_mtl(text: str, alphabet: tuple[str, ...]) -> TimedFormula:
    """The formula that `text` denotes over the events of `alphabet`, or `FormulaError`."""
    unit = SECOND
    written = _UNIT.match(text)
    if written is not None:
        unit = written[1]
        if unit not in UNITS:
            raise FormulaError(
                f"'{unit}' is not a unit of time",
                offset=written.start(1),
                length=len(unit),
                hint=suggestion(unit, UNITS),
                code="LOGIC-061",
            )
        text = " " * written.end() + text[written.end() :]  # offsets stay those of the whole text
    formula = TimedFormula(
        parse_formula(text, alphabet, logic="mtl", operators=PAST | FUTURE, intervals=True),
        unit,
    )
    for part in walk(formula.formula):
        bounds = formula.bounds(part)
        if part.op in BOUNDED and bounds.upper is None:
            raise FormulaError(
                f"'{part.op.value}' has no upper bound, so its value may never be known",
                offset=part.offset,
                length=len(part.op.value),
                hint=f"write {part.op.value}[0,5s], say, or use the logic ltl",
                code="LOGIC-062",
            )
    return formula


def print_mtl(formula: TimedFormula) -> str:
    """The canonical text; the unit is written unless it is the second."""
    unit = "" if formula.unit == SECOND else f"unit {formula.unit}; "
    return unit + print_formula(formula.formula)


def categories_of(formula: TimedFormula) -> frozenset[str]:
    """The verdicts of every temporal logic, and what may be wrong with times."""
    return frozenset(TRUTH) | TROUBLE


def events_of(formula: TimedFormula) -> frozenset[str]:
    """The events written in the formula."""
    return syntax.events_of(formula.formula)
