"""Stage 0: machines that evaluate a past-time formula with calls: bits, and a stack of saved bits."""

from __future__ import annotations

from dataclasses import dataclass

from mopsus.model.drawing import Drawing, Edge, Node
from mopsus.model.machine import Machine

DEEPEST = 1_000_000
"""Calls that may be open at once."""


@dataclass(frozen=True, slots=True)
class CaretStep:
    """Computes one value from values of earlier steps and, if `memory` is not empty, from a bit kept between events.

    `event` (is it event number `left`), `true`, `not`, `and`, `or`, `xor`; `previous`: the bit, which then becomes
    `left`; `since`: `right or (left and bit)`; `trigger`: `right and (left or bit)`; `at`: `left`; the values of these
    three become the bit.

    `memory` says what happens to the bit at calls. `plain`: nothing. `abstract`: at the end of a call it is again
    what it was after its beginning. `stack`: it changes only at events that open something of `kinds`, and after the
    end of a call it is again what it was before.
    """

    operation: str
    left: int = 0
    right: int = 0
    memory: str = ""
    initial: bool = False
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CaretMachine(Machine):
    """The value of the last step is that of the formula: `validation` or `violation`, at every event."""

    roles: tuple[str, ...]
    """Of each event: `call`, `begin`, `end`, `return` or nothing."""
    steps: tuple[CaretStep, ...]
    text: str
    deepest: int = DEEPEST
    alive: frozenset[frozenset[str]] = frozenset()
    """Sets of events; all of one of them must come before the next report."""
    restart: frozenset[str] = frozenset()
    """Categories after which someone may start the machine over."""

    def spent(self) -> str:
        return f"Given up: more than {self.deepest:,} calls are open."

    def drawing(self) -> Drawing:
        nodes = []
        edges = []
        for number, step in enumerate(self.steps):
            word = self.alphabet[step.left] if step.operation == "event" else step.operation
            kinds = f" of {' and '.join(step.kinds)}" if step.kinds else ""
            nodes.append(Node(word, step.memory and f"{step.memory} bit{kinds}", number == len(self.steps) - 1))
            if step.operation not in ("event", "true"):
                edges.append(Edge(step.left, "", number))
            if step.operation in ("and", "or", "xor", "since", "trigger"):
                edges.append(Edge(step.right, "", number))
        bits = sum(bool(step.memory) for step in self.steps)
        return Drawing(
            nodes=tuple(nodes),
            edges=tuple(edges),
            initial=None,
            summary=f"{len(nodes)} steps at each event, {bits} bit{'s' * (bits != 1)} kept, {self._reports()}",
            remarks=(
                self.text,
                *(f"{event}: {role}" for event, role in zip(self.alphabet, self.roles, strict=True) if role),
            ),
        )
