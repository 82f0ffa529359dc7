"""Stage 0: machines with a stack: the LR tables of a grammar, read by the core event by event."""

from __future__ import annotations

from dataclasses import dataclass, field

from mopsus.model.drawing import Drawing, Edge, Node
from mopsus.model.machine import EXHAUSTED, Machine

WORK_BUDGET = 100_000
"""How many stacks one event may be tried on where a grammar has conflicts: some milliseconds of work."""

MAX_DRAWN = 200
"""How many states a drawing shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StackMachine(Machine):
    """A shift-reduce recogniser over every prefix of a trace; cells with several actions make it keep several stacks.

    Categories are `match` (the trace so far is in the language) and `fail` (no continuation of it is, which is final
    unless the machine is `lazy`). With several stacks, an event that takes more than `budget` work gives the trace up,
    or under `suffix` the matches that have begun, with the category `exhausted`.
    """

    productions: tuple[tuple[str, tuple[str, ...]], ...]
    """Head and body of each; the first only adds a start to the start symbol. No body is empty."""
    nonterminals: tuple[str, ...]
    kernels: tuple[tuple[tuple[int, int], ...], ...]
    """Of each state, the items that it stands for: a production and how many of its symbols have been read."""
    actions: tuple[tuple[tuple[int, ...], ...], ...] = field(repr=False)
    """`actions[state][letter]`: the states to push and, as `~p`, the productions to reduce by; none: an error.
    The last letter is the end of the trace, where `~0` accepts it."""
    gotos: tuple[tuple[int, ...], ...] = field(repr=False)
    """`gotos[state][nonterminal]`: the state to push after a reduction; -1: there is none."""
    guaranteed: bool
    """The tables are canonical LR(1): a state with an action at the end of the trace means a match. If not, the
    reductions at the end have to be tried."""
    lazy: bool = False
    """An event that fails is reported and forgotten."""
    suffix: bool = False
    """Some suffix of the trace has to match; nothing fails."""
    alive: tuple[frozenset[frozenset[str]], ...] = field(repr=False)
    """Of each state, the minimal sets of events that lead from a stack with it on top to a further report."""
    failed: frozenset[frozenset[str]] = frozenset()
    """The same for a machine that has failed: something is left only if it may be reset."""
    budget: int = WORK_BUDGET

    @property
    def deterministic(self) -> bool:
        """There is never more than one stack."""
        return not self.suffix and self.conflicts() == 0

    def conflicts(self) -> int:
        """How many cells have several actions."""
        return sum(len(cell) > 1 for row in self.actions for cell in row)

    def matching(self, state: int) -> bool:
        """A stack with that state on top can be a match; it is one if the tables are canonical."""
        return bool(self.actions[state][-1])

    def reportable(self) -> frozenset[str]:
        found = set(self.goal)
        if not any(self.actions[0]):  # the language has no trace that an event begins
            found.discard("match")
        if self.suffix or (self.guaranteed and all(cell for row in self.actions for cell in row[:-1])):
            found.discard("fail")
        # That a machine may run out of its budget is no reason to run one that has nothing to say.
        return frozenset(found) if found != {EXHAUSTED} else frozenset()

    def spent(self) -> str:
        return (
            f"Given up: one event took more than {self.budget:,} steps, because the grammar can read what came before "
            "in too many ways. Write it with fewer."
        )

    def drawing(self) -> Drawing:
        shown = range(min(len(self.actions), MAX_DRAWN))
        edges = []
        for state in shown:
            labelled = [(event, cell) for event, cell in zip(self.alphabet, self.actions[state], strict=False)]
            labelled += [(name, (target,)) for name, target in zip(self.nonterminals, self.gotos[state], strict=True)]
            edges += [Edge(state, label, to) for label, cell in labelled for to in cell if 0 <= to < len(shown)]
        count = len(self.actions)
        tables = "LR" if self.guaranteed else "LALR"
        return Drawing(
            nodes=tuple(
                Node(str(state), "; ".join(map(self._item, self.kernels[state])), self._reporting(state))
                for state in shown
            ),
            edges=tuple(edges),
            initial=0,
            summary=f"{count} state{'s' * (count > 1)} of {tables}(1) tables, starts in 0, {self._reports()}",
            remarks=tuple(self._remarks(len(shown))),
        )

    def _reporting(self, state: int) -> bool:
        return "match" in self.goal and state != 0 and self.matching(state)

    def _item(self, item: tuple[int, int]) -> str:
        production, dot = item
        head, body = self.productions[production]
        return " ".join((head, "->", *body[:dot], "•", *body[dot:]))

    def _remarks(self, shown: int) -> list[str]:
        remarks = []
        if len(self.actions) > shown:
            remarks.append(f"only the first {shown} of {len(self.actions)} states are drawn")
        if conflicts := self.conflicts():
            remarks.append(f"not LR(1): {conflicts} conflict{'s' * (conflicts > 1)}, so several stacks may be kept")
        if self.lazy:
            remarks.append("lazy: an event that fails is reported and forgotten")
        if self.suffix:
            remarks.append("suffix: a match may begin at every event")
        return remarks
