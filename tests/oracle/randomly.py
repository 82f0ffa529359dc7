"""Random symbolic machines, made node by node, and events for them; few values, so that they meet often."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from mopsus.logics import CompiledSpec
from mopsus.model import Event, Parameter, Property, Severity, Spec
from mopsus.model.machine import EXHAUSTED
from mopsus.model.symbolic import (
    ACCEPTANCE,
    INCONCLUSIVE,
    REJECTION,
    Any_,
    Bind,
    Constant,
    Expression,
    FormulaNode,
    Guard,
    Join,
    ListOf,
    Literal,
    MapOf,
    Modality,
    Operation,
    Pattern,
    PythonTest,
    Recursion,
    Same,
    Selection,
    Slot,
    SymbolicMachine,
    Truth,
    TupleOf,
)
from mopsus.model.term import Atom, String

GOAL = frozenset({REJECTION, ACCEPTANCE, INCONCLUSIVE, EXHAUSTED})
NAMES = ("a", "b", "c")
FIELDS = (0, 1, 2)

scalars: st.SearchStrategy[Any] = st.sampled_from([0, 1, 2, -1, True, Atom("x"), "x", String("x"), "y", 2**70])
values = st.recursive(scalars, lambda inner: st.tuples(inner, inner) | st.lists(inner, max_size=2), max_leaves=4)
events = st.integers(0, 2).flatmap(
    lambda letter: st.tuples(st.just(letter), st.tuples(*[values | st.just({"k": 1})] * FIELDS[letter]))
)


def odd(value: object) -> bool:
    """A predicate that has no answer for some values."""
    return value % 2 == 1  # type: ignore[operator]


class _Drawing:
    def __init__(self, draw: st.DrawFn, linear: bool, first_match: bool) -> None:
        self.draw = draw
        self.linear = linear
        self.first_match = first_match
        self.nodes: list[FormulaNode] = []
        self.slots = 0

    def add(self, node: FormulaNode) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def formula(self, depth: int, loops: tuple[int, ...], known: tuple[int, ...], guarded: bool) -> int:
        """A formula in which `loops` may be entered again if it is guarded, and slots are `known`."""
        kinds = (
            ["truth"]
            + ["and", "modality", "modality", "loop"] * (depth > 0)
            + ["again"] * (2 * (guarded and loops != ()))
        )
        if self.linear and depth > 0:
            kinds += ["or"]
        match self.draw(st.sampled_from(kinds)):
            case "truth":
                return self.add(Truth(self.draw(st.booleans())))
            case "and" | "or" as kind:
                size = self.draw(st.integers(2, 3))
                inner = [self.formula(depth - 1, loops, known, guarded) for _ in range(size)]
                return self.add(Join(kind == "and", tuple(inner)))
            case "again":
                return self.add(Recursion("X", self.draw(st.sampled_from(loops))))
            case "loop":
                number = self.add(Truth(True))
                body = self.formula(depth - 1, (*loops, number), known, guarded=False)
                self.nodes[number] = Recursion("X", body, begins=True)
                return number
        letter = self.draw(st.sampled_from([0, 1, 1, 2, 2, None]))
        patterns, bound = self.patterns(FIELDS[letter] if letter is not None else 0, known)
        guard = self.guard((*known, *bound))
        then = self.formula(depth - 1, loops, (*known, *bound), guarded=True)
        necessity = self.first_match or self.draw(st.booleans())
        return self.add(Modality(necessity, letter, patterns, guard, then, known))

    def patterns(self, count: int, known: tuple[int, ...]) -> tuple[tuple[Pattern, ...], list[int]]:
        bound: list[int] = []
        return tuple(self.pattern(known, bound, 2) for _ in range(count)), bound

    def pattern(self, known: tuple[int, ...], bound: list[int], depth: int) -> Pattern:
        kinds = (
            ["any", "bind", "literal"]
            + ["same"] * (len(known) + len(bound) > 0)
            + ["tuple", "list", "map"] * (depth > 0)
        )
        match self.draw(st.sampled_from(kinds)):
            case "any":
                return Any_()
            case "bind":
                bound.append(self.slots)
                self.slots += 1
                return Bind(bound[-1])
            case "literal":
                return Literal(self.draw(scalars))
            case "same":
                return Same(self.draw(st.sampled_from([*known, *bound])))
            case "tuple":
                return TupleOf((self.pattern(known, bound, depth - 1), self.pattern(known, bound, depth - 1)))
            case "map":
                return MapOf((("k", self.pattern(known, bound, depth - 1)),))
        first = self.pattern(known, bound, depth - 1)
        return ListOf((first,), self.pattern(known, bound, 0) if self.draw(st.booleans()) else None)

    def guard(self, slots: tuple[int, ...]) -> Guard:
        if not slots or not self.draw(st.booleans()):
            return ()
        return tuple(
            tuple(self.test(slots) for _ in range(self.draw(st.integers(1, 2))))
            for _ in range(self.draw(st.integers(1, 2)))
        )

    def test(self, slots: tuple[int, ...]) -> Expression:
        match self.draw(st.sampled_from(["compare", "compare", "not", "andalso", "orelse", "python", "is_integer"])):
            case "not":
                return Operation("not", (self.test(slots),))
            case "andalso" | "orelse" as name:
                return Operation(name, (self.test(slots), self.test(slots)))
            case "python":
                return PythonTest(odd, (self.draw(st.sampled_from(slots)),), "odd")
            case "is_integer":
                return Operation("is_integer", (self.value(slots),))
        name = self.draw(st.sampled_from(["=:=", "=/=", "<", "=<", ">", ">="]))
        return Operation(name, (self.value(slots), self.value(slots)))

    def value(self, slots: tuple[int, ...]) -> Expression:
        match self.draw(st.sampled_from(["slot", "slot", "constant", "compute"])):
            case "slot":
                return Slot(self.draw(st.sampled_from(slots)))
            case "constant":
                return Constant(self.draw(st.sampled_from([0, 1, 2, Atom("x")])))
        name = self.draw(st.sampled_from(["+", "-", "*", "div", "rem"]))
        return Operation(name, (Slot(self.draw(st.sampled_from(slots))), Constant(self.draw(st.integers(-2, 2)))))


@st.composite
def machines(draw: st.DrawFn, *, linear: bool, first_match: bool = False) -> SymbolicMachine:
    """A machine over three events with 0, 1 and 2 fields."""
    drawing = _Drawing(draw, linear, first_match)
    if draw(st.booleans()):
        patterns, bound = drawing.patterns(FIELDS[1], ())
        then = drawing.formula(4, (), tuple(bound), guarded=False)
        root = drawing.add(Selection(1, patterns, drawing.guard(tuple(bound)), then))
    else:
        root = drawing.formula(4, (), (), guarded=False)
    return SymbolicMachine(
        alphabet=NAMES,
        goal=GOAL,
        creation=frozenset(NAMES),
        enable={REJECTION: {}},
        coenable={},
        nodes=tuple(drawing.nodes),
        root=root,
        slots=tuple(f"V{slot}" for slot in range(drawing.slots)),
        fields=FIELDS,
        linear=linear,
        first_match=first_match,
        erlang_order=draw(st.booleans()),
    )


def compiled(machine: SymbolicMachine, parameters: Mapping[str, tuple[str, ...]] | None = None) -> CompiledSpec:
    """A spec with the machine as its property; by event, the parameters that it binds (one for all, if not given)."""
    bound = parameters if parameters is not None else dict.fromkeys(NAMES, ("p",))
    fields = {name: tuple(f"{name}{k}" for k in range(count)) for name, count in zip(NAMES, FIELDS, strict=True)}
    spec = Spec(
        "Random",
        tuple(map(Parameter, sorted({each for names in bound.values() for each in names}))),
        events=tuple(Event(name, bound[name], fields=fields[name]) for name in NAMES),
        properties=(Property("it", "shml", "X" * 40),),
    )
    return CompiledSpec(spec, (machine,), {("it", category): Severity.ERROR for category in GOAL})
