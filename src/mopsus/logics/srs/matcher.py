"""Stage 2: finding left sides in a string: the automaton of Aho and Corasick over numbered symbols."""

from __future__ import annotations

from collections.abc import Sequence


class Matcher:
    """Reads symbols one by one and knows the longest end of what it read that begins some pattern.

    A state stands for such an end; state 0 for the empty one. States are numbered in the order in which the patterns,
    from first to last, bring them in.
    """

    def __init__(self, patterns: Sequence[Sequence[int]], width: int) -> None:
        """`width`: symbols are the numbers below it."""
        self.forward: list[dict[int, int]] = [{}]
        self.depth = [0]
        self.match: list[int | None] = [None]
        """Of each state, the pattern found there: the longest that ends there; among equal ones the first."""
        for number, pattern in enumerate(patterns):
            self._add(number, pattern)
        self.fail = [0] * len(self.forward)
        """Of each state, that of its longest proper end that begins a pattern."""
        self.moves: list[list[int]] = [[] for _ in self.forward]
        """The state after each symbol, with all ways over `fail` already gone."""
        self._complete(width)

    def _add(self, number: int, pattern: Sequence[int]) -> None:
        state = 0
        for symbol in pattern:
            if symbol not in self.forward[state]:
                self.forward[state][symbol] = len(self.forward)
                self.forward.append({})
                self.depth.append(self.depth[state] + 1)
                self.match.append(None)
            state = self.forward[state][symbol]
        if self.match[state] is None:
            self.match[state] = number

    def _complete(self, width: int) -> None:
        self.moves[0] = [self.forward[0].get(symbol, 0) for symbol in range(width)]
        order = list(self.forward[0].values())
        for state in order:  # breadth first, so that shorter ends are complete; grows while it is walked
            inherited = self.moves[self.fail[state]]
            for symbol, target in self.forward[state].items():
                self.fail[target] = inherited[symbol]
                order.append(target)
            self.moves[state] = inherited.copy()
            for symbol, target in self.forward[state].items():
                self.moves[state][symbol] = target
            if self.match[state] is None:  # a pattern that ends here may begin later than the state does
                self.match[state] = self.match[self.fail[state]]
