"""The definitions of what monitors say, on examples and against each other."""

from __future__ import annotations

from decentral.support import PLACES, monitors, traces
from hypothesis import given
from oracle.decentral import run_centralized, run_decentralized

from mopsus.decentral.specification import Monitor, Specification, specification_of
from mopsus.decentral.synthesis import from_formula, from_transitions
from mopsus.logics.ltl.syntax import parse_over_propositions
from mopsus.logics.temporal.syntax import Op, combine
from mopsus.logics.tree import walk


def lights(*steps):
    return [{"switch": {"s": on}, "bulb": {"l": lit}} for on, lit in steps]


def test_light_switch():  # the reference's vectors
    trace = lights((True, True), (True, False))
    assert run_centralized(from_formula("G(s -> X(l U !s))"), trace) == (False, 2)
    root = from_transitions([None, None, False], [(0, "s", 1), (1, "!s", 0), (1, "s & @m1", 1), (1, "s & !@m1", 2)])
    bulb = from_transitions([None, True, False], [(0, "l", 1), (0, "!l", 2)])
    specification = Specification({"root": Monitor("root", root, frozenset({"m1"})), "m1": Monitor("m1", bulb)})
    answers = run_decentralized(specification, trace, {"root": "switch", "m1": "bulb"})
    assert answers == {("root", 1): False, ("root", 2): None, ("m1", 1): True, ("m1", 2): False}


def test_an_empty_event_is_no_step():
    assert run_centralized(from_formula("a & X b"), [{"A": {"a": True}}, {"A": {}}, {"A": {"b": True}}]) == (True, 3)
    specification = specification_of({"root": "a & X a"})
    trace = [{"A": {"a": True}}, {"A": {}}, {"A": {"a": True}}]
    assert run_decentralized(specification, trace, {"root": "A"})["root", 1] is True


def test_a_reference_without_an_answer_is_unknown():
    specification = specification_of({"root": "@m1 | X a0", "m1": "F b0"})
    first = {"A": {"a0": False, "a1": False}, "B": {"b0": False}, "C": {"c0": False}}
    second = {**first, "A": {"a0": True, "a1": False}}
    assert run_decentralized(specification, [first], PLACES)["root", 1] is None
    assert run_decentralized(specification, [first, second], PLACES)["root", 1] is True
    assert run_decentralized(specification, [first, first], PLACES)["root", 1] is None


def test_a_circle_is_broken_by_observations():
    circle = specification_of({"root": "a0 | @m1", "m1": "b0 | @root"})
    quiet = {"A": {"a0": False, "a1": False}, "B": {"b0": False}, "C": {"c0": False}}
    assert run_decentralized(circle, [quiet], PLACES) == {("root", 1): None, ("m1", 1): None}
    heard = {**quiet, "B": {"b0": True}}
    assert run_decentralized(circle, [heard], PLACES) == {("root", 1): True, ("m1", 1): True}


@given(formulas=monitors(max_leaves=3), trace=traces())
def test_references_are_subformulas(formulas, trace):
    """What is known of a specification is true of the formula in which its references are written out."""
    whole = {}
    for name in ("m2", "m1", "root"):
        whole[name] = written_out(formulas[name], whole)
    if not trace:
        return
    automaton = from_formula(whole["root"])
    found = run_decentralized(specification_of(formulas), trace, PLACES)["root", 1]
    if found is not None:
        assert run_centralized(automaton, trace)[0] in (None, found)


def written_out(formula, others):
    if formula.op is Op.ATOM:
        return others.get(formula.name.removeprefix("@"), formula) if formula.name.startswith("@") else formula
    if not formula.parts:
        return formula
    parts = tuple(written_out(part, others) for part in formula.parts)
    return combine(formula.op, parts, interval=formula.interval)


def test_writing_out_leaves_no_reference():
    made = written_out(parse_over_propositions("G(@m1 -> X a)"), {"m1": parse_over_propositions("F b")})
    assert all(not part.name.startswith("@") for part in walk(made))
