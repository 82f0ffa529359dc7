"""Random metric formulas and timed words, and what a monitor reports on them."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate

from hypothesis import strategies as st
from logics.formulas import ALPHABET

from mopsus.logics import load_logic
from mopsus.logics.mtl.syntax import BOUNDED, FUTURE, TimedFormula
from mopsus.logics.temporal.syntax import PAST, Formula, Interval, Op, combine
from mopsus.model import Event, Handler, Parameter, Property, Spec
from mopsus.monitor import Monitor

MTL = load_logic("mtl")
CATEGORIES = ("validation", "violation", "untimed", "disordered")
BINARY = (Op.SINCE, Op.TRIGGER, Op.UNTIL, Op.RELEASE)


def intervals(bounded):
    """Small intervals, some of which fall between whole numbers."""
    number = st.sampled_from([Fraction(n, 2) for n in range(12)])
    width = st.sampled_from([Fraction(n, 2) for n in (0, 1, 2, 3, 4, 8)])
    upper = width if bounded else st.none() | width

    def build(lower, more):
        return Interval(_text(lower), None if more is None else _text(lower + more))

    return st.builds(build, number, upper)


def _text(number):
    return str(float(number)) if number.denominator > 1 else str(number)


def timed_formulas(temporal=PAST | FUTURE, max_leaves=6):
    """Formulas of mtl with these temporal operators."""
    atoms = st.sampled_from(ALPHABET).map(lambda name: Formula(Op.ATOM, name=name))
    constants = st.sampled_from((Formula(Op.TRUE), Formula(Op.FALSE)))

    def grow(inner):
        choices = [
            st.builds(combine, st.just(Op.NOT), st.tuples(inner)),
            st.builds(combine, st.sampled_from((Op.AND, Op.OR, Op.XOR, Op.IMPLIES, Op.IFF)), st.tuples(inner, inner)),
            st.builds(combine, st.sampled_from((Op.AND, Op.OR, Op.XOR)), st.tuples(inner, inner, inner)),
        ]
        for op in sorted(temporal, key=lambda each: each.name):
            bounds = intervals(True) if op in BOUNDED else st.none() | intervals(False)
            parts = st.tuples(inner, inner) if op in BINARY else st.tuples(inner)
            choices.append(
                st.builds(lambda parts, interval, op=op: combine(op, parts, interval=interval), parts, bounds)
            )
        return st.one_of(choices)

    return st.recursive(st.one_of(atoms, atoms, atoms, constants), grow, max_leaves=max_leaves).map(TimedFormula)


steps = st.sampled_from([Fraction(n, 2) for n in (0, 0, 1, 2, 2, 3, 4, 7)])


@st.composite
def timed_words(draw, whole=False, max_size=12):
    """Events with times that never go back."""
    word = draw(st.lists(st.sampled_from(ALPHABET), max_size=max_size))
    start = draw(st.sampled_from((0, -3, 1_700_000_000)))
    gaps = [draw(steps) for _ in word]
    times = accumulate([Fraction(start), *gaps])
    next(times)
    return word, [Fraction(int(time)) if whole else time for time in times]


def spec_of(text, events=ALPHABET, categories=CATEGORIES, parameters=()):
    return Spec(
        name="Timed",
        parameters=tuple(Parameter(name) for name in parameters),
        events=tuple(Event(name, parameters) for name in events),
        properties=(Property("mtl", "mtl", text, tuple(Handler(each) for each in categories)),),
    )


def written(time):
    """A time as a trace has it: an integer where it is one."""
    if time is None:
        return None
    return int(time) if time.denominator == 1 else float(time)


def found(spec, word, times):
    """What a monitor reports at each event of a timed word."""
    monitor = Monitor(spec)
    result = [set() for _ in word]
    for number, (event, time) in enumerate(zip(word, times, strict=True)):
        monitor.row(event, {}, time=written(time), row=number + 1)
    for verdict in monitor.verdicts:
        result[verdict.row - 1].add(verdict.category)
    return [frozenset(categories) for categories in result]
