"""Random formulas with data and random events for them, over few values so that they meet often."""

from __future__ import annotations

from hypothesis import strategies as st

from mopsus.logics.hml.formula import (
    Action,
    Call,
    Constant,
    Formula,
    ListTerm,
    Maximum,
    Modality,
    Name,
    Pin,
    Term,
    TermGuard,
    Truth,
    TupleTerm,
    Variable,
    Whole,
    Wildcard,
    junction,
)
from mopsus.logics.hml.matching import Happening
from mopsus.model.term import Atom, Pid

FIELDS = {"recv": 2, "send": 3, "exit": 2}
NAMES = ("A", "B", "C")
LOOPS = ("X", "Y")
PIDS = (Pid("<0.20.0>"), Pid("<0.30.0>"))

scalars = st.sampled_from([0, 1, 2, 1.0, Atom("a"), Atom("b"), *PIDS])
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.tuples(inner, inner), st.lists(inner, max_size=2)),
    max_leaves=4,
)


@st.composite
def happenings(draw: st.DrawFn) -> Happening:
    """An event with data."""
    event = draw(st.sampled_from(sorted(FIELDS)))
    components = tuple(draw(st.sampled_from(PIDS)) for _ in range(FIELDS[event] - 1))
    return event, (*components, draw(values))


words = st.lists(happenings(), max_size=6)


@st.composite
def patterns(draw: st.DrawFn, bound: frozenset[str], depth: int = 2) -> Term:
    """A pattern that may compare with the variables in `bound`."""
    kinds = ["_", "name", "name", "constant"] + ["pin"] * bool(bound) + ["tuple", "list", "cons"] * (depth > 0)
    match draw(st.sampled_from(kinds)):
        case "_":
            return Wildcard()
        case "name":
            return Name(draw(st.sampled_from(NAMES)))
        case "constant":
            return Constant(draw(scalars))
        case "pin":
            return Pin(draw(st.sampled_from(sorted(bound))))
        case "tuple":
            return TupleTerm((draw(patterns(bound, depth - 1)), draw(patterns(bound, depth - 1))))
        case "list":
            return ListTerm((draw(patterns(bound, depth - 1)),))
    return ListTerm((draw(patterns(bound, depth - 1)),), draw(patterns(bound, 0)))


@st.composite
def conditions(draw: st.DrawFn, bound: frozenset[str], depth: int = 2) -> Term:
    """A part of a guard that reads the variables in `bound`."""
    if depth and draw(st.integers(0, 3)) == 0:
        operator = draw(st.sampled_from(["andalso", "orelse", "and", "or", "not"]))
        count = 1 if operator == "not" else 2
        return Call(operator, tuple(draw(conditions(bound, depth - 1)) for _ in range(count)))
    if draw(st.integers(0, 4)) == 0:
        test = draw(st.sampled_from(["is_integer", "is_atom", "is_tuple", "is_list", "is_pid", "is_number"]))
        return Call(test, (draw(operands(bound)),))
    operator = draw(st.sampled_from(["=:=", "=/=", "==", "/=", "<", "=<", ">", ">="]))
    return Call(operator, (draw(operands(bound)), draw(operands(bound))))


@st.composite
def operands(draw: st.DrawFn, bound: frozenset[str]) -> Term:
    """A term of a guard."""
    simple = st.one_of(
        scalars.map(Constant), st.sampled_from(sorted(bound)).map(Name) if bound else scalars.map(Constant)
    )
    if draw(st.integers(0, 3)) == 0:
        return Call(draw(st.sampled_from(["+", "-", "*", "div"])), (draw(simple), draw(simple)))
    return draw(simple)


@st.composite
def actions(draw: st.DrawFn, bound: frozenset[str]) -> Action:
    """An action that may read the variables in `bound`."""
    event = draw(st.sampled_from(sorted(FIELDS)))
    components = tuple(draw(st.sampled_from([Wildcard(), *map(Name, NAMES)])) for _ in range(FIELDS[event] - 1))
    fields = (*components, draw(patterns(bound)))
    known = bound | names_in(fields)
    guard = None
    if draw(st.booleans()):
        alternatives = draw(st.lists(st.lists(conditions(known), min_size=1, max_size=2), min_size=1, max_size=2))
        guard = TermGuard(tuple(tuple(parts) for parts in alternatives))
    return Action(event, fields, guard)


def names_in(terms: tuple[Term, ...]) -> frozenset[str]:
    """The variables that patterns bind."""
    found: set[str] = set()
    for term in terms:
        match term:
            case Name(name):
                found.add(name)
            case TupleTerm(parts):
                found |= names_in(parts)
            case ListTerm(parts, rest):
                found |= names_in(parts if rest is None else (*parts, rest))
    return frozenset(found)


@st.composite
def formulas(
    draw: st.DrawFn,
    linear: bool,
    bound: frozenset[str] = frozenset(),
    free: frozenset[str] = frozenset(),
    unguarded: frozenset[str] = frozenset(),
    depth: int = 4,
) -> Formula:
    """A formula in whose scope the variables `bound` and the fixed points `free` are."""
    ready = sorted(free - unguarded)
    kinds = ["truth"] + ["variable"] * 3 * bool(ready)
    if depth:
        kinds += ["modality"] * 4 + ["and"] * 3 + ["max"] * 2 + ["or"] * 2 * linear
    match draw(st.sampled_from(kinds)):
        case "variable":
            return Variable(draw(st.sampled_from(ready)))
        case "modality":
            action = draw(actions(bound))
            inner = bound | names_in(action.patterns or ())
            then = draw(formulas(linear, inner, free, frozenset(), depth - 1))
            return Modality(not linear or draw(st.booleans()), action, then)
        case ("and" | "or") as word:
            parts = draw(st.lists(formulas(linear, bound, free, unguarded, depth - 1), min_size=2, max_size=3))
            return junction(word == "and", parts, 0)
        case "max":
            name = draw(st.sampled_from(LOOPS))
            body = draw(formulas(linear, bound, free | {name}, unguarded | {name}, depth - 1))
            return Maximum(name, body)
    return Truth(draw(st.booleans()))


def wholes(linear: bool) -> st.SearchStrategy[Whole]:
    """A form about every component that runs `jobs:worker/1`; its argument is `A` in the formula."""
    selection = Action("start", (Constant(Atom("jobs")), Constant(Atom("worker")), ListTerm((Name("A"),))))
    word = "check" if linear else "monitor"
    return formulas(linear, frozenset({"A"})).map(lambda formula: Whole(formula, selection, word))
