"""Stage 0: machines that hold a string and rewrite it after every event."""

from __future__ import annotations

from dataclasses import dataclass, field

from mopsus.model.drawing import Drawing, Edge, Node
from mopsus.model.machine import EXHAUSTED, Machine

STEP_BUDGET = 1_000_000
"""Rewriting steps that one event may take."""

LONGEST_STRING = 1_000_000
"""Symbols that a string may have."""


@dataclass(frozen=True, slots=True)
class RewriteRule:
    """What happens where a left side is found."""

    text: str
    taken: int
    """How many symbols go away; `^` and `$` are none."""
    right: tuple[int, ...]
    """The symbols that come in their place."""
    verdict: str = ""
    """What is decided instead, which ends the machine."""
    at_end: bool = False
    """The left side ends with `$`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteMachine(Machine):
    """The string begins empty; each event is appended to it, then it is rewritten until no rule applies.

    Left sides are found by an automaton over the string, which `^` precedes and `$` follows: `moves[state][symbol]`
    is its next state, complete. An event that takes more than `budget` rewriting steps, or makes a string of more
    than `longest` symbols, ends the machine as a verdict does, with the category `exhausted`.
    """

    symbols: tuple[str, ...]
    """The events in order, then auxiliary ones, then `^` and `$`."""
    rules: tuple[RewriteRule, ...]
    moves: tuple[tuple[int, ...], ...] = field(repr=False)
    matches: tuple[int | None, ...] = field(repr=False)
    """Of each state of the automaton, the rule whose left side has just been read."""
    paths: tuple[str, ...] = field(repr=False)
    """Of each state, the part of a left side that it stands for, for drawings."""
    scanning: bool = False
    """Rewrite in passes from the head of the string, instead of applying the match that completes first."""
    budget: int = STEP_BUDGET
    longest: int = LONGEST_STRING
    reaches: frozenset[str] = frozenset()
    """The categories that some rule may lead to."""
    alive: frozenset[frozenset[str]] = frozenset()
    """Sets of events; all of one of them must come before a rule decides something in `goal`."""
    restart: frozenset[str] = frozenset()
    """Categories after which someone may start the machine over."""

    def reportable(self) -> frozenset[str]:
        # That a machine may run out of its budget is no reason to run one that has nothing to say.
        decided = self.reaches & self.goal
        return decided | {EXHAUSTED} if decided else decided

    def spent(self) -> str:
        return (
            f"Given up: rewriting took more than {self.budget:,} steps after one event, or made a string of more than "
            f"{self.longest:,} symbols."
        )

    def drawing(self) -> Drawing:
        nodes = []
        edges = []
        for state, path in enumerate(self.paths):
            match = self.matches[state]
            rule = None if match is None else self.rules[match]
            note = "" if rule is None else rule.text.partition("->")[2].strip(" .")
            nodes.append(Node(path or "start", note and f"becomes {note}", bool(rule and rule.verdict in self.goal)))
            edges += [
                Edge(state, self.symbols[symbol], target)
                for symbol, target in enumerate(self.moves[state])
                if target and self.paths[target] == f"{path} {self.symbols[symbol]}".strip()
            ]
        count = len(self.rules)
        return Drawing(
            nodes=tuple(nodes),
            edges=tuple(edges),
            initial=0,
            summary=f"{count} rewriting rule{'s' * (count > 1)}, found by {len(nodes)} states, {self._reports()}",
            remarks=tuple(rule.text for rule in self.rules),
        )
