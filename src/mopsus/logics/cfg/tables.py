"""Stage 2: LR(1) tables of a simple grammar: canonical, or with the states of one core merged (LALR).

Since no production has an empty body, the look-ahead of an item is told by the first symbol behind it alone, and every
reduction takes something off the stack.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mopsus.logics.cfg.grammar import Grammar, Production
from mopsus.logics.logic import LogicError

MAX_ITEMS = 2_000_000
"""How many items the states of one table may have together: canonical tables can be exponentially large."""

MAX_CELLS = 1_000_000
"""How many cells a table may have."""

ACCEPT = ~0
"""The action that ends a trace of the language: the reduction of production 0, which adds nothing but a start."""

Item = tuple[int, int]
"""A production and how many of its symbols are on the stack."""
Kernel = Mapping[Item, int]
"""The items that a state was entered with, each with the letters that may follow it as a mask."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """A cell with several actions."""

    state: int
    letter: int
    actions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tables:
    """States are numbered from 0, the initial one, in the order in which they are met.

    An action is the state to push, or `~p` for a reduction by production `p`; a cell without one is an error. Letters
    are the events of the alphabet and, behind them, the end of the trace. A goto that there is not is -1.
    """

    productions: tuple[Production, ...]
    nonterminals: tuple[str, ...]
    kernels: tuple[tuple[Item, ...], ...]
    actions: tuple[tuple[tuple[int, ...], ...], ...]
    gotos: tuple[tuple[int, ...], ...]

    def conflicts(self) -> Iterator[Conflict]:
        """All cells with several actions."""
        for state, row in enumerate(self.actions):
            for letter, actions in enumerate(row):
                if len(actions) > 1:
                    yield Conflict(state, letter, actions)


class TooLargeError(LogicError):
    """The tables of a grammar are beyond the limits."""

    code = "LOGIC-007"


def build_tables(grammar: Grammar, alphabet: tuple[str, ...], *, merged: bool) -> Tables:
    """The tables of a simple grammar; `merged` makes them LALR(1). `TooLargeError` beyond the limits."""
    builder = _Builder(grammar, alphabet, merged)
    builder.run()
    return builder.tables()


class _Builder:
    """Symbols are numbers here: events first, then non-terminals."""

    def __init__(self, grammar: Grammar, alphabet: tuple[str, ...], merged: bool) -> None:
        self.width = len(alphabet)
        self.merged = merged
        # Nobody writes this name: it is not a word.
        self.productions = (Production(f"{grammar.start}'", (grammar.start,)), *grammar.productions)
        self.nonterminals = grammar.nonterminals or (grammar.start,)
        numbers = {name: number for number, name in enumerate((*alphabet, *self.nonterminals))}
        self.bodies = [[numbers[symbol] for symbol in production.body] for production in self.productions]
        self.of_head: list[list[int]] = [[] for _ in self.nonterminals]
        for number, production in enumerate(grammar.productions, 1):
            self.of_head[numbers[production.head] - self.width].append(number)
        self.first = self._first()
        self.kernels: list[dict[Item, int]] = []
        self.targets: list[dict[int, int]] = []
        self._known: dict[tuple[object, ...], int] = {}
        self._work: list[int] = []
        self._items = 0

    def run(self) -> None:
        """Find all states; merged ones are visited again when they get new look-aheads."""
        self._enter({(0, 0): 1 << self.width})
        cells = self.width + 1 + len(self.nonterminals)
        at = 0
        while at < len(self._work):
            state = self._work[at]
            at += 1
            self.targets[state] = {symbol: self._enter(kernel) for symbol, kernel in self._successors(state).items()}
            if self._items > MAX_ITEMS or len(self.kernels) * cells > MAX_CELLS:
                raise TooLargeError(
                    "the tables of the grammar are too large",
                    hint="a smaller grammar is needed" if self.merged else "the logic 'lalr' has smaller tables",
                )

    def tables(self) -> Tables:
        return Tables(
            self.productions,
            self.nonterminals,
            tuple(tuple(sorted(kernel)) for kernel in self.kernels),
            tuple(self._row(state) for state in range(len(self.kernels))),
            tuple(
                tuple(targets.get(self.width + number, -1) for number in range(len(self.nonterminals)))
                for targets in self.targets
            ),
        )

    def _row(self, state: int) -> tuple[tuple[int, ...], ...]:
        cells: list[list[int]] = [[] for _ in range(self.width + 1)]
        for symbol, target in self.targets[state].items():
            if symbol < self.width:
                cells[symbol].append(target)
        for (production, dot), follow in sorted(self.kernels[state].items()):
            if dot == len(self.bodies[production]):
                for letter in range(self.width + 1):
                    if follow >> letter & 1:
                        cells[letter].append(~production)
        return tuple(map(tuple, cells))

    def _enter(self, kernel: dict[Item, int]) -> int:
        """The number of the state with that kernel."""
        key: tuple[object, ...] = tuple(sorted(kernel if self.merged else kernel.items()))
        state = self._known.get(key)
        if state is None:
            state = self._known[key] = len(self.kernels)
            self.kernels.append(kernel)
            self.targets.append({})
            self._work.append(state)
            return state
        mine = self.kernels[state]
        if any(follow & ~mine[item] for item, follow in kernel.items()):
            for item, follow in kernel.items():
                mine[item] |= follow
            self._work.append(state)
        return state

    def _successors(self, state: int) -> dict[int, dict[Item, int]]:
        """The kernels that each symbol leads to, events and non-terminals in the order met."""
        found: dict[int, dict[Item, int]] = {}

        def advance(production: int, dot: int, follow: int) -> None:
            found.setdefault(self.bodies[production][dot], {})[production, dot + 1] = follow

        for (production, dot), follow in self.kernels[state].items():
            if dot < len(self.bodies[production]):
                advance(production, dot, follow)
        for nonterminal, follow in self._closure(state).items():
            for production in self.of_head[nonterminal]:
                advance(production, 0, follow)
            self._items += len(self.of_head[nonterminal])
        self._items += len(self.kernels[state])
        return found

    def _closure(self, state: int) -> dict[int, int]:
        """The non-terminals that may begin here, each with the letters that may follow it."""
        follows: dict[int, int] = {}
        work: list[int] = []

        def expect(body: list[int], dot: int, follow: int) -> None:
            nonterminal = body[dot] - self.width
            if nonterminal < 0:
                return
            mask = self.first[body[dot + 1]] if dot + 1 < len(body) else follow
            known = follows.get(nonterminal, 0)
            if mask & ~known:
                follows[nonterminal] = known | mask
                work.append(nonterminal)

        for (production, dot), follow in self.kernels[state].items():
            if dot < len(self.bodies[production]):
                expect(self.bodies[production], dot, follow)
        while work:
            nonterminal = work.pop()
            for production in self.of_head[nonterminal]:
                self._items += 1
                expect(self.bodies[production], 0, follows[nonterminal])
        return follows

    def _first(self) -> list[int]:
        """Of each symbol, the events that it can begin with, as a mask."""
        first = [1 << letter for letter in range(self.width)] + [0] * len(self.nonterminals)
        changed = True
        while changed:
            changed = False
            for nonterminal, productions in enumerate(self.of_head):
                mask = first[self.width + nonterminal]
                for production in productions:
                    mask |= first[self.bodies[production][0]]
                if mask != first[self.width + nonterminal]:
                    first[self.width + nonterminal] = mask
                    changed = True
        return first
