"""The automata of monitors, in the form that everything in this package runs, stores and analyses.

A transition reads inputs one by one, each at most once, until it is known where it leads: a decision diagram. So
a transition can be taken as far as its inputs are known, and says which ones are still missing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from mopsus.model.drawing import Drawing, Edge, Node

VERDICT_NAMES: Mapping[bool | None, str] = {True: "true", False: "false", None: "?"}


@dataclass(frozen=True, slots=True)
class Automaton:
    """A complete deterministic monitor whose transitions read inputs one by one."""

    inputs: tuple[str, ...]
    """Propositions, and references to other monitors (by their bare id)."""
    verdicts: tuple[bool | None, ...]
    """By state; known ones are final; state 0 is the initial one."""
    nodes: tuple[tuple[int, int, int], ...]
    """(input, if false, if true): ordered by input; a child >= 0 is a node, ~q is the state q."""
    roots: tuple[int, ...]
    """By state, the node (or ~q) where its transition begins."""

    def __post_init__(self) -> None:
        """`ValueError` unless it is what the fields say, whoever made it."""
        count = len(self.verdicts)
        if not count or len(self.roots) != count or len(set(self.inputs)) != len(self.inputs):
            raise ValueError("an automaton needs a state, a transition for each state, and inputs told apart by name")
        for level, *children in self.nodes:
            if level not in range(len(self.inputs)):
                raise ValueError("a node tests an input that is not there")
            for child in children:
                if child >= 0 and (child >= len(self.nodes) or self.nodes[child][0] <= level):
                    raise ValueError("nodes must be ordered by input")
        for place in (*self.roots, *(child for node in self.nodes for child in node[1:])):
            if place >= len(self.nodes) or ~place >= count:
                raise ValueError("a transition leads to a node or state that is not there")
        for state, verdict in enumerate(self.verdicts):
            if verdict is not None and self.roots[state] != ~state:
                raise ValueError("a known verdict must be final")

    @property
    def states(self) -> range:
        """All states, 0 being the initial one."""
        return range(len(self.verdicts))

    def step(self, state: int, true: Collection[str]) -> int:
        """The state after a step in which the inputs in `true` are true and all others false."""
        place = self.roots[state]
        while place >= 0:
            level, low, high = self.nodes[place]
            place = high if self.inputs[level] in true else low
        return ~place

    def possible(self, state: int, known: Mapping[str, bool]) -> frozenset[int]:
        """The states that can follow, as far as inputs are known; the others may be either way."""
        return frozenset(~place for place in self._reached(self.roots[state], known) if place < 0)

    def missing(self, state: int, known: Mapping[str, bool]) -> frozenset[str]:
        """The inputs that may still have to be read to know the next state."""
        reached = self._reached(self.roots[state], known)
        read = {self.inputs[self.nodes[place][0]] for place in reached if place >= 0}
        return frozenset(read - known.keys()) if len([place for place in reached if place < 0]) > 1 else frozenset()

    def targets(self, state: int) -> tuple[int, ...]:
        """The states that some valuation leads to, the least first."""
        return tuple(sorted(self.possible(state, {})))

    def renamed(self, names: Mapping[str, str]) -> Automaton:
        """The same over other inputs; those not in `names` keep theirs."""
        return replace(self, inputs=tuple(names.get(name, name) for name in self.inputs))

    def drawing(self) -> Drawing:
        """What a picture of the automaton shows; transitions are labelled with Boolean expressions."""
        from mopsus.decentral.labels import transition_labels

        count = len(self.verdicts)
        return Drawing(
            nodes=tuple(
                Node(f"q{state}", VERDICT_NAMES[verdict], verdict is not None)
                for state, verdict in enumerate(self.verdicts)
            ),
            edges=tuple(
                Edge(state, label, target)
                for state in self.states
                for target, label in transition_labels(self, state).items()
            ),
            initial=0,
            summary=f"{count} state{'s' * (count > 1)}, reads {', '.join(self.inputs) or 'nothing'}",
        )

    def _reached(self, start: int, known: Mapping[str, bool]) -> set[int]:
        """All nodes and states (as ~q) on a way from `start` that agrees with what is known."""
        reached = {start}
        stack = [start]
        while stack:
            place = stack.pop()
            if place < 0:
                continue
            level, low, high = self.nodes[place]
            value = known.get(self.inputs[level])
            for child in (low, high) if value is None else (high,) if value else (low,):
                if child not in reached:
                    reached.add(child)
                    stack.append(child)
        return reached
