"""Stage 0: machines with data: formulas of modalities over events and the values that events carry.

A formula is a graph of nodes, in which recursion is a cycle. A modality waits for one event: if its pattern fits and
its guard holds, the formula that follows must hold of the rest. What it waits for, together with the values of the
variables that it and what follows it mention, is an *obligation*; the state of an instance is a set of them, or a
combination by `and` and `or`.

Every place that binds a variable has a slot of its own, so nothing is ever shadowed here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from mopsus.model.drawing import Drawing, Edge, Node
from mopsus.model.machine import EXHAUSTED, Machine

REJECTION = "rejection"
ACCEPTANCE = "acceptance"
INCONCLUSIVE = "inconclusive"


# ---- patterns --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Any_:
    """Fits every value."""


@dataclass(frozen=True, slots=True)
class Bind:
    """Fits every value, and remembers it in a slot."""

    slot: int


@dataclass(frozen=True, slots=True)
class Same:
    """Fits what is exactly equal to the value in a slot, which an earlier part of the pattern or a modality around
    has filled."""

    slot: int


@dataclass(frozen=True, slots=True)
class Literal:
    """Fits a value exactly equal to this one: 1 is not 1.0, and an atom is not a string."""

    value: object


@dataclass(frozen=True, slots=True)
class TupleOf:
    """Fits a tuple of as many parts. With `tag`, only an object whose class has that name."""

    parts: tuple[Pattern, ...]
    tag: str | None = None


@dataclass(frozen=True, slots=True)
class ListOf:
    """Fits a list of as many parts, or of at least as many if there is a pattern for the rest."""

    parts: tuple[Pattern, ...]
    rest: Pattern | None = None


@dataclass(frozen=True, slots=True)
class MapOf:
    """Fits a mapping that has these keys, and maybe others."""

    items: tuple[tuple[object, Pattern], ...]


Pattern: TypeAlias = "Any_ | Bind | Same | Literal | TupleOf | ListOf | MapOf"


# ---- guards ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Slot:
    """The value in a slot."""

    slot: int


@dataclass(frozen=True, slots=True)
class Constant:
    """A value."""

    value: object


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator or function of the guard language, by name, on its operands: `+`, `=:=`, `andalso`, `is_integer`.

    `{}` makes a tuple of its operands, `[]` a list, and `[|]` a list of all but the last before the last, which is one.
    """

    name: str
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class PythonTest:
    """A Python function of the values in some slots. After an error in it, its alternative does not hold."""

    function: Callable[..., Any] = field(compare=False)
    slots: tuple[int, ...]
    text: str
    offset: int = field(default=0, compare=False)
    """Of the text in the formula."""


Expression: TypeAlias = "Slot | Constant | Operation | PythonTest"

Guard: TypeAlias = "tuple[tuple[Expression, ...], ...]"
"""Alternatives, of which one must hold; it holds if every part of it is true. An error in a part makes only its
alternative false."""


# ---- nodes -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Truth:
    """`tt` or `ff`."""

    value: bool


@dataclass(frozen=True, slots=True)
class Join:
    """`and`, or else `or`, of nodes."""

    conjunction: bool
    parts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Modality:
    """Necessity `[a]` or possibility `<a>`.

    `patterns` are one for each field of the event, or, if `whole`, a single one for the event as a tuple (see
    `SymbolicMachine.shapes`). `letter` None is any event; then there are no patterns or it is `whole`.
    """

    necessity: bool
    letter: int | None
    patterns: tuple[Pattern, ...]
    guard: Guard
    """Empty: no guard."""
    then: int
    live: tuple[int, ...]
    """The slots, filled by modalities around this one, that it or what follows it reads."""
    offset: int = 0
    length: int = 0
    """Where it is written in the formula."""
    whole: bool = False
    text: str = ""
    """In canonical form, with its brackets."""


@dataclass(frozen=True, slots=True)
class Recursion:
    """The variable of a greatest fixed point: go on with the node `target`. Also marks the beginning of one
    (`begins`)."""

    name: str
    target: int
    begins: bool = False


@dataclass(frozen=True, slots=True)
class Selection:
    """Only as the root: whether the instance is monitored at all. If the first event does not fit, nothing is ever
    reported of it."""

    letter: int
    patterns: tuple[Pattern, ...]
    guard: Guard
    then: int


FormulaNode: TypeAlias = "Truth | Join | Modality | Recursion | Selection"


@dataclass(frozen=True, slots=True, kw_only=True)
class SymbolicMachine(Machine):
    """A formula with data.

    A necessity that an event does not fit is satisfied if the reading is `linear`, and gives up its claim otherwise;
    then an instance that has no claim left is inconclusive. A possibility that an event does not fit is violated.
    """

    nodes: tuple[FormulaNode, ...]
    root: int
    slots: tuple[str, ...]
    """Names of the variables, by slot; a name may occur more than once."""
    fields: tuple[int, ...]
    """By letter, how many values an event carries."""
    shapes: tuple[tuple[object, ...], ...] = ()
    """By letter, the event as a tuple: an `int` is the field of that number, anything else stands for itself. Needed
    only if a modality is `whole`."""
    linear: bool
    first_match: bool = False
    """Of the necessities of one conjunction, only the first that an event fits goes on; the others are dropped."""
    erlang_order: bool = True
    """Values of different types are ordered; otherwise to compare them is an error, which makes a guard false."""
    limit: int = 100_000
    """How many obligations an instance may have; one that has more is exhausted."""
    restart: frozenset[str] = frozenset()
    """Categories whose handler may start the machine over."""

    def spent(self) -> str:
        return (
            f"Given up: there are more than {self.limit:,} obligations, which is a modality with values for its "
            "variables each."
        )

    def has_code(self) -> bool:
        """Is there Python in its guards?"""
        stack = [
            part
            for node in self.nodes
            if isinstance(node, Modality | Selection)
            for parts in node.guard
            for part in parts
        ]
        while stack:
            part = stack.pop()
            if isinstance(part, PythonTest):
                return True
            if isinstance(part, Operation):
                stack += part.operands
        return False

    def reportable(self) -> frozenset[str]:
        possible = set() if self.linear else {INCONCLUSIVE}
        for node in self.nodes:
            match node:
                case Truth(value):
                    possible.add(ACCEPTANCE if value else REJECTION)
                case Modality(necessity=necessity, live=live):
                    if self.linear:
                        possible.add(ACCEPTANCE if necessity else REJECTION)
                    if live:  # what is carried along can become too much
                        possible.add(EXHAUSTED)
        return self.goal & possible

    def drawing(self) -> Drawing:
        """The formula as a graph in which a fixed point is one node that its variables lead back to."""
        begun = {
            node.target: number for number, node in enumerate(self.nodes) if isinstance(node, Recursion) and node.begins
        }
        shown = [number for number, node in enumerate(self.nodes) if not isinstance(node, Recursion) or node.begins]
        places = {number: place for place, number in enumerate(shown)}

        def place(number: int) -> int:
            node = self.nodes[number]
            return places[begun[node.target] if isinstance(node, Recursion) else number]

        nodes, edges = [], []
        for number in shown:
            node = self.nodes[number]
            label, following = self._shown(node)
            nodes.append(Node(label, "", node == Truth(False)))
            edges += [Edge(places[number], "", place(each)) for each in following]
        return Drawing(
            nodes=tuple(nodes),
            edges=tuple(edges),
            initial=place(self.root),
            summary=f"{len(nodes)} nodes, {self._reports()}",
        )

    def _shown(self, node: FormulaNode) -> tuple[str, tuple[int, ...]]:
        """What a drawing calls a node, and the nodes that follow it."""
        match node:
            case Truth(value):
                return "tt" if value else "ff", ()
            case Join(conjunction, parts):
                return "and" if conjunction else "or", parts
            case Recursion(name, target, _):
                return f"max {name}", (target,)
            case Modality():
                event = "_" if node.letter is None else self.alphabet[node.letter]
                return node.text or (f"[{event}]" if node.necessity else f"<{event}>"), (node.then,)
            case Selection():
                return "with", (node.then,)
