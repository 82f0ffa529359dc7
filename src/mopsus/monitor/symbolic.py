"""Stage 3: formulas with data as the core runs them: patterns and guards become rows of numbered parts.

And the way back: the steps of an explanation, which the core knows by numbers, with what they were written as.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from mopsus import _core
from mopsus.model import Code, Event, ObjectRef, Property, Span, Step, Value
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
from mopsus.model.term import Atom, Pid, Reference, String

if TYPE_CHECKING:
    from mopsus.monitor.plan import MachineArgs

_core.use_terms(atom=Atom, string=String, pid=Pid, reference=Reference, object=ObjectRef)

VERDICTS = (REJECTION, ACCEPTANCE, INCONCLUSIVE, EXHAUSTED)
"""In the order of the core."""

# How the core numbers what machines are made of.
_PATTERNS = (Any_, Bind, Same, Literal, TupleOf, ListOf, MapOf)
_NODES = (Truth, Join, Modality, Recursion, Selection)
_LEAVES = (Slot, Constant, PythonTest)
_MAKERS = ("{}", "[]", "[|]")
_BINARY = ("+", "-", "*", "/", "div", "rem", "band", "bor", "bxor")
_OPERATORS = (
    *_MAKERS,
    *_BINARY,
    *("bnot", "bsl", "bsr", "unary +", "unary -", "abs", "and", "or", "xor", "not", "andalso", "orelse"),
    *("==", "/=", "=:=", "=/=", "<", "=<", ">", ">="),
    *("is_integer", "is_float", "is_number", "is_atom", "is_boolean", "is_list", "is_tuple", "is_binary", "is_pid"),
    *("is_reference", "is_map", "length", "tuple_size", "element", "hd", "tl"),
)


class Nothing:
    """Stands where a part has no value. It is a class, because no class is a value of the core's."""


@dataclass(frozen=True, slots=True, repr=False)
class Predicate:
    """A Python function, which shows itself as its text: a plan looks the same in every run."""

    function: Callable[..., Any]
    text: str
    offset: int

    def __repr__(self) -> str:
        return f"Predicate({self.text!r})"


def code_of(predicate: Predicate, machines: Iterable[tuple[Property, MachineArgs]]) -> Code:
    """The text of a predicate, and where it stands in a formula of these properties."""
    for prop, (kind, arguments) in machines:
        if kind == "symbolic" and prop.span is not None and any(test is predicate for test, _ in arguments[5]):
            line = prop.span.line + prop.formula.count("\n", 0, predicate.offset)
            return Code(predicate.text, Span(prop.span.file, line, 1, line, 1))
    return Code(predicate.text)


def lay_out(machine: SymbolicMachine, numbers: Mapping[str, int], alive: list[int]) -> tuple[Any, ...]:
    """What the core's constructor of symbolic machines takes."""
    layout = _Layout()
    nodes = [layout.node(node) for node in machine.nodes]
    return (
        nodes,
        machine.root,
        len(machine.slots),
        layout.patterns,
        layout.expressions,
        layout.tests,
        list(machine.fields),
        list(machine.shapes),
        machine.linear,
        machine.first_match,
        machine.erlang_order,
        machine.limit,
        [numbers.get(verdict, -1) for verdict in VERDICTS],
        bool(machine.restart),
        alive,
    )


class _Layout:
    def __init__(self) -> None:
        self.patterns: list[tuple[Any, ...]] = []
        self.expressions: list[tuple[Any, ...]] = []
        self.tests: list[tuple[Predicate, list[int]]] = []

    def node(self, node: FormulaNode) -> tuple[Any, ...]:
        """Kind, flag, whole, letter, parts, guard, then, live."""
        kind = _NODES.index(type(node))
        match node:
            case Truth(value):
                return kind, value, False, -1, [], [], 0, []
            case Join(conjunction, operands):
                return kind, conjunction, False, -1, list(operands), [], 0, []
            case Recursion(_, target, begins):
                return kind, begins, False, -1, [], [], target, []
            case Selection():
                return kind, True, False, node.letter, self._all(node.patterns), self._guard(node.guard), node.then, []
            case Modality():
                letter = -1 if node.letter is None else node.letter
                parts = self._all(node.patterns)
                guard = self._guard(node.guard)
                return kind, node.necessity, node.whole, letter, parts, guard, node.then, sorted(node.live)

    def _all(self, patterns: tuple[Pattern, ...]) -> list[int]:
        return [self._pattern(pattern) for pattern in patterns]

    def _pattern(self, pattern: Pattern) -> int:
        """The number of a pattern's row: kind, slot, value, parts, rest. Parts come before the whole."""
        slot, value, rest = 0, Nothing, False
        parts: list[int] = []
        match pattern:
            case Bind(number) | Same(number):
                slot = number
            case Literal(literal):
                value = cast(Any, literal)
            case TupleOf(inner, tag):
                parts, value = self._all(inner), Nothing if tag is None else cast(Any, tag)
            case ListOf(inner, tail):
                rest = tail is not None
                parts = self._all((*inner, tail) if tail is not None else inner)
            case MapOf(items):
                parts = self._all(tuple(each for key, inner in items for each in (Literal(key), inner)))
        self.patterns.append((_PATTERNS.index(type(pattern)), slot, value, parts, rest))
        return len(self.patterns) - 1

    def _guard(self, guard: Guard) -> list[list[int]]:
        return [[self._expression(part) for part in alternative] for alternative in guard]

    def _expression(self, expression: Expression) -> int:
        """The number of an expression's row: operator, number, value, operands."""
        row: tuple[Any, ...]
        match expression:
            case Slot(slot):
                row = (0, slot, Nothing, [])
            case Constant(value):
                row = (1, 0, cast(Any, value), [])
            case PythonTest(function, slots, text, offset):
                self.tests.append((Predicate(function, text, offset), list(slots)))
                row = (2, len(self.tests) - 1, Nothing, [])
            case Operation(name, operands):
                unary = len(operands) == 1 and name in ("+", "-")
                number = len(_LEAVES) + _OPERATORS.index(f"unary {name}" if unary else name)
                row = (number, 0, Nothing, [self._expression(each) for each in operands])
        self.expressions.append(row)
        return len(self.expressions) - 1


Place: TypeAlias = "Callable[[_core.Stamp], tuple[int | None, int | float | None, str | None]]"


def read_steps(
    steps: list[_core.ExplainedStep], machine: SymbolicMachine, formula: str, events: tuple[Event, ...], place: Place
) -> tuple[Step, ...]:
    """The steps of an explanation as the core gives them, in the words of the formula."""
    found = []
    for number, event, data, fitted, bindings, unfolded, stamp in steps:
        row, time, location = place(stamp)
        found.append(
            Step(
                modality=_text(machine.nodes[number], formula),
                event=events[event].name,
                data=tuple(data),
                fitted=fitted,
                binding={machine.slots[slot]: cast(Value, value) for slot, value in bindings},
                unfolded=tuple(cast(Recursion, machine.nodes[node]).name for node in unfolded),
                location=location,
                time=time,
                row=row,
            )
        )
    return tuple(found)


def _text(node: FormulaNode, formula: str) -> str:
    if isinstance(node, Modality):
        return " ".join(formula[node.offset : node.offset + node.length].split())
    return "with"
