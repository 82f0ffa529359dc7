"""Temporal formulas in the engine report exactly what every slice, from its first event on, says."""

from __future__ import annotations

from random import Random

import pytest
from monitor.ways import WAYS
from oracle.compiled import subject_of
from oracle.slicing import AlgorithmB, run
from oracle.strategies import Case, random_trace

import mopsus
from mopsus.logics import LogicError
from mopsus.model import Event, Handler, Parameter, Property, Spec

PARAMETERS = ("a", "b")
UNARY = {"ptltl": ("not", "[*]", "<*>", "(*)"), "ltl": ("not", "[]", "<>", "o", "<*>", "(*)")}
BINARY = {"ptltl": ("and", "or", "=>", "S"), "ltl": ("and", "or", "=>", "S", "U", "R")}


def random_formula(rng: Random, logic: str, events: list[str], depth: int) -> str:
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(events)
    if rng.random() < 0.5:
        return f"{rng.choice(UNARY[logic])} ({random_formula(rng, logic, events, depth - 1)})"
    left, right = (random_formula(rng, logic, events, depth - 1) for _ in range(2))
    return f"({left}) {rng.choice(BINARY[logic])} ({right})"


def random_spec(rng: Random, logic: str) -> Spec:
    names = ["e", "f", "g"][: rng.randint(1, 3)]
    shapes = [(), ("a",), ("b",), ("a", "b")]
    events = tuple(Event(name, rng.choice(shapes)) for name in names)
    categories = rng.choice([("violation",), ("validation",), ("violation", "validation")])
    handlers = tuple(Handler(category=each) for each in categories)
    prop = Property(name=logic, logic=logic, formula=random_formula(rng, logic, names, 3), handlers=handlers)
    return Spec(name="S", parameters=tuple(map(Parameter, PARAMETERS)), events=events, properties=(prop,))


@pytest.mark.parametrize("logic", ["ptltl", "ltl"])
def test_reports_are_those_of_the_slices(logic):
    rng = Random(11)
    compared = 0
    while compared < 250:
        spec = random_spec(rng, logic)
        try:
            subject = subject_of(spec)
        except LogicError:  # nothing could ever be said
            continue
        way = rng.choice(WAYS)
        case = Case(spec, random_trace(rng, {each.name: each.parameters for each in spec.events}, way.values))
        assert way.reports(case, Random(1)) == run(AlgorithmB, subject, case.trace), str(case)
        compared += 1


def test_what_decides_a_formula_for_good_is_not_skipped():
    spec = mopsus.parse("S(x) { event open(x)\n event enter(x)\n ltl : [](enter => <*> open) }")["S"]
    with spec.monitor() as monitor:
        monitor.emit("open", x=1)
        monitor.emit("enter", x=1)
        monitor.emit("enter", x=2)
    assert [verdict.binding for verdict in monitor.verdicts] == [{"x": 2}]
