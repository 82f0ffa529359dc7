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
    subformulas,
)
from mopsus.logics.hml.matching import Happening
from mopsus.model.term import Atom, Pid

FIELDS = {"recv": 2, "send": 3, "exit": 2}
EVENTS = st.sampled_from(["recv", "recv", "recv", "send", "exit"])
NAMES = ("A", "B", "C")
LOOPS = ("X", "Y")
DEPTH = 5
PIDS = (Pid("<0.20.0>"), Pid("<0.30.0>"))

scalars: st.SearchStrategy[object] = st.sampled_from([0, 1, 2, 1.0, Atom("a"), Atom("b"), *PIDS])
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.tuples(inner, inner), st.lists(inner, max_size=2)),
    max_leaves=4,
)


@st.composite
def happenings(draw: st.DrawFn) -> Happening:
    """An event with data."""
    event = draw(EVENTS)
    components = tuple(draw(st.sampled_from(PIDS)) for _ in range(FIELDS[event] - 1))
    return event, (*components, draw(values))


words = st.lists(happenings(), max_size=7)


@st.composite
def cases(draw: st.DrawFn, linear: bool) -> tuple[Whole, list[Happening]]:
    """A form, and a trace of a component that it selects, most events of which fit some pattern of it."""
    whole = draw(wholes(linear))
    parts = [part for part in subformulas(whole.formula) if isinstance(part, Modality)]
    word: list[Happening] = [("start", ("jobs", "worker", [draw(values)]))]
    for _ in range(draw(st.integers(0, 8))):
        if parts and draw(st.integers(0, 9)):
            action = draw(st.sampled_from(parts)).action
            word.append((str(action.event), tuple(draw(instances(pattern)) for pattern in action.patterns or ())))
        else:
            word.append(draw(happenings()))
    return whole, word


def instances(pattern: Term) -> st.SearchStrategy[object]:
    """Values that a pattern may fit."""
    match pattern:
        case Constant(value):
            return st.just(value)
        case TupleTerm(parts):
            return st.tuples(*map(instances, parts))
        case ListTerm(parts, rest):
            tail = st.just([]) if rest is None else st.lists(scalars, max_size=2)
            return st.tuples(st.tuples(*map(instances, parts)), tail).map(lambda found: [*found[0], *found[1]])
    return scalars


@st.composite
def patterns(draw: st.DrawFn, bound: frozenset[str], depth: int = 2) -> Term:
    """A pattern that may compare with the variables in `bound`."""
    kinds = ["_"] * 3 + ["name"] * 4 + ["constant", "constant"] + ["pin"] * bool(bound)
    kinds += ["tuple", "list", "cons"] * (depth > 0)
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
    event = draw(EVENTS)
    components = tuple(draw(st.sampled_from([Wildcard(), *map(Name, NAMES)])) for _ in range(FIELDS[event] - 1))
    fields = (*components, draw(patterns(bound)))
    known = bound | names_in(fields)
    guard = None
    if draw(st.integers(0, 2)) == 0:
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
    depth: int = DEPTH,
    inside: bool = False,
) -> Formula:
    """A formula in whose scope the variables `bound` and the fixed points `free` are; `inside` of a modality or not."""
    ready = sorted(free - unguarded)
    kinds = ["variable"] * 6 * bool(ready)
    if not depth and not inside:
        return Modality(True, draw(actions(bound)), Truth(False))
    if depth:
        kinds += ["modality"] * 4 + ["and"] * 3 + ["max"] * 3 + ["or"] * 2 * linear
    if inside:
        kinds.append("truth")
    match draw(st.sampled_from(kinds)):
        case "variable":
            return Variable(draw(st.sampled_from(ready)))
        case "modality":
            action = draw(actions(bound))
            inner = bound | names_in(action.patterns or ())
            then = draw(formulas(linear, inner, free, frozenset(), depth - 1, True))
            return Modality(not linear or draw(st.booleans()), action, then)
        case ("and" | "or") as word:
            parts = draw(st.lists(formulas(linear, bound, free, unguarded, depth - 1, inside), min_size=2, max_size=3))
            return junction(word == "and", parts, 0)
        case "max":
            name = draw(st.sampled_from(LOOPS))
            body = draw(formulas(linear, bound, free | {name}, unguarded | {name}, depth - 1, inside))
            return Maximum(name, body)
    return Truth(draw(st.booleans()))


def wholes(linear: bool) -> st.SearchStrategy[Whole]:
    """A form about every component that runs `jobs:worker/1`; its argument is `A` in the formula."""
    selection = Action("start", (Constant(Atom("jobs")), Constant(Atom("worker")), ListTerm((Name("A"),))))
    word = "check" if linear else "monitor"
    return formulas(linear, frozenset({"A"})).map(lambda formula: Whole(formula, selection, word))
