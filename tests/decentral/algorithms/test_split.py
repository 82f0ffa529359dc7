"""Formulas split into choreographies: the reference's networks, and properties of all splits."""

from __future__ import annotations

import math

import pytest
from decentral.support import OWN, PROPOSITIONS, traces
from hypothesis import given
from logics.temporal_formulas import formulas
from oracle.decentral import run_centralized, run_decentralized

from mopsus.decentral.algorithms.split import split_formula
from mopsus.decentral.errors import DecentralError
from mopsus.decentral.synthesis import from_formula
from mopsus.decentral.system import System
from mopsus.decentral.traces import default_components
from mopsus.logics.ltl.syntax import parse_over_propositions
from mopsus.logics.temporal.syntax import FUTURE

SYSTEM = System(default_components(4, 6))


def network(text, system=SYSTEM):
    made = split_formula(parse_over_propositions(text), system)
    return made, {name: (part.monitor.place, part.monitor.formula) for name, part in made.parts.items()}


def written(**parts):
    return {name: (place, parse_over_propositions(text)) for name, (place, text) in parts.items()}


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "(b2 -> (!d0 U b4)) U (d0 | G(!d0))",  # 15b
            {"m0": ("D", "@m1 U (d0 | G !d0)"), "m1": ("B", "!b2 | (@m2 U b4)"), "m2": ("D", "!d0")},
        ),
        ("G(a0 -> X(b0 U !a0))", {"m0": ("A", "G(!a0 | X(@m1 U !a0))"), "m1": ("B", "b0")}),
        (
            "(a0 & b0) U (c0 | F a1)",
            {"m0": ("A", "(a0 & @m1) U (@m2 | F a1)"), "m1": ("B", "b0"), "m2": ("C", "c0")},
        ),
        (
            "G((a0 & a1) -> F(b0 & c0))",
            {"m0": ("A", "G(!(a0 & a1) | @m1)"), "m1": ("B", "F(b0 & @m2)"), "m2": ("C", "c0")},
        ),
        ("G(d0 -> !(a0|a1|a2|a3))", {"m0": ("A", "G(@m1 | !(a0|a1|a2|a3))"), "m1": ("D", "!d0")}),  # 15a
        (
            "G !(a5 & (b0 | c0))",
            {"m0": ("A", "G !(a5 & @m1)"), "m1": ("B", "b0 | @m2"), "m2": ("C", "c0")},
        ),
        ("b0", {"m0": ("B", "b0")}),
        ("true", {"m0": ("A", "true")}),
        ("true U b0", {"m0": ("B", "true U b0")}),
    ],
)
def test_networks_of_the_reference(text, parts):
    assert network(text)[1] == written(**parts)


def test_who_tells_whom_and_who_runs_again():
    made, _ = network("(b2 -> (!d0 U b4)) U (d0 | G(!d0))")
    assert {name: (set(part.receivers), set(part.senders)) for name, part in made.parts.items()} == {
        "m0": (set(), {"m1"}),
        "m1": ({"m0"}, {"m2"}),
        "m2": ({"m1"}, set()),
    }
    assert [part.respawns for part in made.parts.values()] == [False, True, True]
    assert made.depth == 3
    once, _ = network("(a0 & a1 & b0) | c0")
    assert [part.respawns for part in once.parts.values()] == [False, False, False]
    assert network("a0 & a1 & G F b0")[0].depth == math.inf


def test_equal_monitors_are_one():
    made, parts = network("(a0 & (b0 U c0)) U (a1 & (b0 U c0))")
    assert parts == written(m0=("A", "(a0 & @m1) U (a1 & @m1)"), m1=("B", "b0 U @m2"), m2=("C", "c0"))
    assert made.parts["m1"].receivers == {"m0"}


def test_what_cannot_be_split():
    with pytest.raises(DecentralError, match="past") as caught:
        network("a0 & Y b0")
    assert caught.value.code == "DECENTRAL-010"
    with pytest.raises(DecentralError, match="no component observes 'x'") as caught:
        network("a0 & x")
    assert caught.value.code == "DECENTRAL-022"


def test_long_conjunctions():
    big = System({"A": tuple(f"a{number}" for number in range(300)), "B": ("b",)})
    made, parts = network(" & ".join([*big.components["A"], "b"]), big)
    assert parts["m1"] == ("B", parse_over_propositions("b"))
    assert len(made.parts) == 2


@given(formula=formulas(FUTURE, atoms=PROPOSITIONS, bounded=True, max_leaves=6), trace=traces())
def test_splits_are_local_and_never_wrong(formula, trace):
    system = System(OWN)
    made = split_formula(formula, system)
    for part in made.parts.values():
        assert all(system.owners[name] == part.monitor.place for name in part.monitor.propositions)
        assert all(part.monitor.id in made.parts[name].senders for name in part.receivers)
    specification = made.specification
    places = {name: part.monitor.place for name, part in made.parts.items()}
    if trace:
        found = run_decentralized(specification, trace, places)["m0", 1]
        whole, _ = run_centralized(from_formula(formula), trace)
        assert found is None or found is whole
