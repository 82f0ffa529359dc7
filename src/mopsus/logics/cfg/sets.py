"""Stage 2: which events can come before and after each other in the traces of a grammar.

These are the equations of Meredith 2012, ch. 6, with the missing base case that nothing comes before the start symbol,
solved as least fixed points over families of event sets. An event set is a bit mask here, as in `machines.analyse`.
"""

from __future__ import annotations

from collections.abc import Iterable

from mopsus.logics.cfg.grammar import Grammar
from mopsus.logics.cfg.tables import Tables
from mopsus.logics.machines.analyse import MAX_SETS, EventSets, Scale, TooManySetsError, antichain

MAX_UNIONS = 1_000_000
"""How many unions of two sets one analysis may make."""

Family = frozenset[int]
NOTHING: Family = frozenset({0})


class Sets:
    """The families of a simple grammar on a scale; `TooManySetsError` if they are beyond the bounds."""

    def __init__(self, grammar: Grammar, scale: Scale) -> None:
        self._grammar = grammar
        self._scale = scale
        self._unions = 0
        self._events: dict[str, Family] = {
            event: frozenset({bit}) for event, bit in zip(scale.alphabet, scale.bits, strict=True)
        }
        self._words = self._solve_words()
        """Of each non-terminal, the event sets of the traces that it derives."""
        self._before = self._solve_context(reverse=False)
        self._after = self._solve_context(reverse=True)

    def enable(self) -> dict[str, EventSets]:
        """Of each event, the sets of events that come before it in some trace."""
        return {event: self._scale.event_sets(self._before.get(event, ())) for event in self._scale.alphabet}

    def coenable(self) -> dict[str, EventSets]:
        """Of each event, the non-empty sets of events that come after it in some trace."""
        return {
            event: self._scale.event_sets(self._after.get(event, frozenset()) - NOTHING)
            for event in self._scale.alphabet
        }

    def alive(self, tables: Tables) -> list[EventSets]:
        """Of each state of the tables, the minimal sets of events that lead from a stack with it on top to a match.

        They are found from what the items of the state still wait for and from what can follow their heads.
        """
        ahead: dict[tuple[int, int], Family] = {}

        def of_item(number: int, dot: int) -> Family:
            if (number, dot) not in ahead:
                production = tables.productions[number]
                family = NOTHING if number == 0 else self._after[production.head]
                for symbol in production.body[dot:]:
                    family = self._unite(family, self._words_of(symbol))
                ahead[number, dot] = family
            return ahead[number, dot]

        return [
            self._scale.event_sets(antichain(frozenset().union(*(of_item(*item) for item in kernel)) - NOTHING))
            for kernel in tables.kernels
        ]

    def _words_of(self, symbol: str) -> Family:
        return self._events.get(symbol) or self._words.get(symbol, frozenset())

    def _solve_words(self) -> dict[str, Family]:
        self._words = dict.fromkeys(self._grammar.nonterminals, frozenset())
        changed = True
        while changed:
            changed = False
            for production in self._grammar.productions:
                family = NOTHING
                for symbol in production.body:
                    family = self._unite(family, self._words_of(symbol))
                changed |= _grow(self._words, production.head, family)
        return self._words

    def _solve_context(self, *, reverse: bool) -> dict[str, Family]:
        """Of each symbol, the event sets of what comes before it; with `reverse`, of what comes after it."""
        found: dict[str, Family] = {self._grammar.start: NOTHING}
        changed = True
        while changed:
            changed = False
            for production in self._grammar.productions:
                family = found.get(production.head, frozenset())
                for symbol in reversed(production.body) if reverse else production.body:
                    if not family:
                        break
                    changed |= _grow(found, symbol, family)
                    family = self._unite(family, self._words_of(symbol))
        return found

    def _unite(self, one: Iterable[int], other: Family) -> Family:
        """Every set of one family united with every set of the other."""
        left = frozenset(one)
        self._unions += len(left) * len(other)
        if self._unions > MAX_UNIONS:
            raise TooManySetsError
        united = frozenset(mask | more for mask in left for more in other)
        if len(united) > MAX_SETS:
            raise TooManySetsError
        return united


def _grow(families: dict[str, Family], symbol: str, more: Family) -> bool:
    """Add to a symbol's family; whether that changed it."""
    known = families.get(symbol, frozenset())
    if more <= known:
        return False
    families[symbol] = known | more
    return True
