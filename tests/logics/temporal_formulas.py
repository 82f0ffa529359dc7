"""Random temporal formulas and lasso words."""

from __future__ import annotations

from hypothesis import strategies as st
from logics.formulas import ALPHABET

from mopsus.logics.temporal.syntax import FUTURE, PAST, Formula, Interval, Op, combine
from mopsus.logics.tree import walk

UNARY = {
    Op.NOT,
    Op.PREVIOUS,
    Op.WEAK_PREVIOUS,
    Op.ONCE,
    Op.HISTORICALLY,
    Op.NEXT,
    Op.WEAK_NEXT,
    Op.EVENTUALLY,
    Op.ALWAYS,
}
STEPS = {Op.PREVIOUS, Op.WEAK_PREVIOUS, Op.NEXT, Op.WEAK_NEXT}

letters = st.sampled_from(ALPHABET)
lassos = st.tuples(st.lists(letters, max_size=3).map(tuple), st.lists(letters, min_size=1, max_size=3).map(tuple))


def formulas(temporal, *, atoms=ALPHABET, bounded=False, max_leaves=5):
    """Formulas with these temporal operators and all connectives; `bounded` ones may have small intervals."""
    ordered = sorted(temporal, key=lambda op: op.name)
    one = [op for op in ordered if op in UNARY]
    two = [op for op in ordered if op not in UNARY]
    bounds = st.none()
    if bounded:
        upper = st.none() | st.integers(0, 1)
        bounds = st.none() | st.builds(
            lambda lower, more: Interval(str(lower), None if more is None else str(lower + more)),
            st.integers(0, 2),
            upper,
        )

    def temporal_operator(op, parts, interval):
        return combine(op, parts, interval=None if op in STEPS else interval)

    def grow(inner):
        pair = st.tuples(inner, inner)
        single = st.tuples(inner)
        choices = [
            st.builds(combine, st.just(Op.NOT), single),
            st.builds(combine, st.sampled_from((Op.AND, Op.OR, Op.XOR, Op.IMPLIES, Op.IFF)), pair),
            st.builds(
                combine,
                st.sampled_from((Op.AND, Op.OR, Op.XOR)),
                st.lists(inner, min_size=3, max_size=3).map(tuple),
            ),
        ]
        if one:
            choices += [st.builds(temporal_operator, st.sampled_from(one), single, bounds)] * 2
        if two:
            choices += [st.builds(temporal_operator, st.sampled_from(two), pair, bounds)] * 2
        return st.one_of(choices)

    constants = st.sampled_from((Formula(Op.TRUE), Formula(Op.FALSE)))
    names = st.sampled_from(atoms).map(lambda name: Formula(Op.ATOM, name=name))
    return st.recursive(st.one_of(names, names, names, constants), grow, max_leaves=max_leaves)


past_formulas = formulas(PAST, max_leaves=7)
all_formulas = formulas(PAST | FUTURE)


def weight(formula):
    """How many formulas about neighbouring positions the reference must guess, at most."""
    return sum(
        1 + (int(part.interval.upper or part.interval.lower) + 1 if part.interval else 0)
        for part in walk(formula)
        if part.op in PAST | FUTURE
    )


def light(strategy, limit=5):
    """Formulas that the reference decides quickly."""
    return strategy.filter(lambda formula: weight(formula) <= limit)
