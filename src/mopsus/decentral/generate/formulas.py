"""Random formulas for experiments, drawn as Spot's `randltl` draws them, and the test of which to keep.

A formula of a given size is an operator, drawn by priority among those that fit, over formulas that share the
rest of the size. Kept are formulas that speak of every component, have an automaton that is found in time, are
monitorable, and are not always or never true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from xml.sax.saxutils import escape

from mopsus.decentral.analysis.monitorability import monitorable
from mopsus.decentral.automaton import Automaton
from mopsus.decentral.errors import DecentralError
from mopsus.decentral.synthesis import from_formula
from mopsus.logics.logic import LogicError
from mopsus.logics.temporal.syntax import CONSTANTS, Formula, Op, combine, events_of, print_formula

UNARY = frozenset({Op.NOT, Op.NEXT, Op.EVENTUALLY, Op.ALWAYS})

PRIORITIES: Mapping[Op, float] = {
    Op.ATOM: 6,
    Op.NOT: 1,
    Op.NEXT: 2,
    Op.EVENTUALLY: 1,
    Op.ALWAYS: 1,
    Op.AND: 1,
    Op.OR: 1,
    Op.UNTIL: 1,
}
"""Those of the synthetic benchmark: what is not in it is not drawn."""

HOLE = "%form%"

TEMPLATE = f"""<specifications>
  <specification id="root" class="LTL"><setLTL>{HOLE}</setLTL></specification>
</specifications>
"""
"""A specification of nothing but the formula."""

SIZE = 15
"""Operators and names of a formula, as many as `randltl` gives it."""

MAX_DRAWS = 10_000
"""How many formulas are drawn for one that is kept."""


def random_formula(
    source: Random, propositions: Sequence[str], size: int = SIZE, priorities: Mapping[Op, float] = PRIORITIES
) -> Formula:
    """A formula of this size."""
    leaves = CONSTANTS | {Op.ATOM}
    if size == 1:
        op = _drawn(source, priorities, lambda op: op in leaves)
        return Formula(Op.ATOM, name=source.choice(propositions)) if op is Op.ATOM else Formula(op)
    op = _drawn(source, priorities, lambda op: op not in leaves and (size > 2 or op in UNARY))
    if op in UNARY:
        return combine(op, (random_formula(source, propositions, size - 1, priorities),))
    left = source.randint(1, size - 2)
    parts = (left, size - 1 - left)
    return combine(op, tuple(random_formula(source, propositions, part, priorities) for part in parts))


def generate_formulas(
    count: int,
    components: Mapping[str, Sequence[str]],
    *,
    seed: int,
    size: int = SIZE,
    priorities: Mapping[Op, float] = PRIORITIES,
    synthesis: Callable[[Formula], Automaton] = from_formula,
) -> Iterator[Formula]:
    """As many different formulas that are worth keeping. `DecentralError` if too few of those drawn are."""
    source = Random(seed)
    propositions = [name for names in components.values() for name in names]
    seen: set[Formula] = set()
    for _ in range(count):
        for _ in range(MAX_DRAWS):
            formula = random_formula(source, propositions, size, priorities)
            if formula not in seen and worth_keeping(formula, components, synthesis):
                break
        else:
            raise DecentralError(
                f"of {MAX_DRAWS:,} formulas none fits",
                hint="larger formulas speak of more components",
                code="DECENTRAL-044",
            )
        seen.add(formula)
        yield formula


def worth_keeping(
    formula: Formula,
    components: Mapping[str, Sequence[str]],
    synthesis: Callable[[Formula], Automaton] = from_formula,
) -> bool:
    """Does it speak of every component, is its automaton found in time, and is there something to monitor?"""
    spoken = events_of(formula)
    if any(spoken.isdisjoint(names) for names in components.values()):
        return False
    try:
        automaton = synthesis(formula)
    except LogicError:
        return False
    return automaton.verdicts[0] is None and monitorable(automaton)


def fill_template(template: str, formula: Formula) -> str:
    """A specification file in XML with the formula in the place of `%form%`."""
    text = print_formula(formula)
    inside = template.rpartition(HOLE)[0].rpartition("<![CDATA[")[2]
    return template.replace(HOLE, text if "]]>" not in inside and "<![CDATA[" in template else escape(text))


def load_template(path: Path | None) -> str:
    """The text of a template; that of a specification of nothing but the formula if there is none."""
    if path is None:
        return TEMPLATE
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise DecentralError(f"cannot read the template {path}: {reason}", code="DECENTRAL-030") from None
    if HOLE not in text:
        raise DecentralError(f"the template {path} has no {HOLE} for a formula", code="DECENTRAL-035")
    return text


def write_specification(path: Path, template: str, formula: Formula) -> None:
    """Write the specification file of a formula."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(fill_template(template, formula), encoding="utf-8")


def _drawn(source: Random, priorities: Mapping[Op, float], fits: Callable[[Op], bool]) -> Op:
    fitting = [op for op, weight in priorities.items() if weight > 0 and fits(op)]
    if not fitting:
        raise DecentralError("no operator fits the size of a formula", code="DECENTRAL-044")
    return source.choices(fitting, [priorities[op] for op in fitting])[0]
