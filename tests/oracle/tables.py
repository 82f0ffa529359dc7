"""Small automata as tables: a next state for each state and valuation of the inputs, and everything made from that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from hypothesis import strategies as st
from oracle import ehe

from mopsus import _core

Letter = tuple[bool, ...]
NAMES = ("a", "bc", "d")


@dataclass(frozen=True)
class Table:
    """The rows of `steps` are states; the columns are valuations, the first input being the lowest bit."""

    inputs: int
    verdicts: tuple[bool | None, ...]
    steps: tuple[tuple[int, ...], ...]

    def step(self, state: int, letter: Sequence[bool]) -> int:
        """The state that follows."""
        return self.steps[state][sum(value << place for place, value in enumerate(letter))]

    @cached_property
    def core(self) -> _core.Automaton:
        """The automaton of the core: shared diagrams, inputs in order."""
        nodes: dict[tuple[int, int, int], int] = {}

        def diagram(column: tuple[int, ...], level: int) -> int:
            if level == self.inputs:
                return ~column[0]
            low, high = diagram(column[::2], level + 1), diagram(column[1::2], level + 1)
            return low if low == high else nodes.setdefault((level, low, high), len(nodes))

        roots = [diagram(row, 0) for row in self.steps]
        return _core.Automaton(NAMES[: self.inputs], self.verdicts, list(nodes), roots)

    @cached_property
    def labelled(self) -> ehe.Automaton:
        """The automaton of the definition, with an expression over input numbers on each transition."""
        labels: list[dict[int, list[ehe.Expression]]] = []
        for row in self.steps:
            parts: dict[int, list[ehe.Expression]] = {}
            for column, target in enumerate(row):
                literals = [str(place) if column >> place & 1 else ("not", str(place)) for place in range(self.inputs)]
                parts.setdefault(target, []).append(ehe.conjunction(literals))
            labels.append(parts)
        return ehe.Automaton(
            self.verdicts,
            tuple({target: ehe.simplify(ehe.disjunction(each)) for target, each in parts.items()} for parts in labels),
        )


@st.composite
def tables(draw: st.DrawFn, states: int = 4, inputs: int = 3) -> Table:
    """Automata whose states with a verdict are final."""
    width = draw(st.integers(1, inputs))
    verdicts = draw(st.lists(st.sampled_from([None, None, True, False]), min_size=1, max_size=states))
    known = st.integers(0, len(verdicts) - 1)
    steps = tuple(
        tuple(draw(known) if verdict is None else state for _ in range(1 << width))
        for state, verdict in enumerate(verdicts)
    )
    return Table(width, tuple(verdicts), steps)


LIGHT = Table(2, (None, None, False), ((0, 1, 0, 1), (0, 2, 0, 1), (2, 2, 2, 2)))
"""`G(s -> X(l U !s))`, the inputs being s and l."""
