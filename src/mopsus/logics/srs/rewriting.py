"""Stage 2: rewriting as the core does it, for what is found out about a system before it runs.

Two strategies, which give the same result wherever the system is confluent. `rewrite` applies the
match that is complete first in the whole string, again and again: everything left of a new symbol is
always in normal form, so it never looks back. `rewrite_scanning` is the strategy of
Meredith 2012, ch. 7: passes over the string from its head, in which a replacement is looked at on
its own, without what stands before it, until a pass changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from mopsus.logics.srs.matcher import Matcher
from mopsus.logics.srs.syntax import System

String: TypeAlias = tuple[int, ...]


class Exhausted(Exception):
    """Rewriting took more steps, or made a longer string, than is allowed."""


@dataclass(frozen=True, slots=True)
class Action:
    """What a match does: take away the last `taken` symbols of it and put `right` there, or decide."""

    taken: int
    right: String
    verdict: str | None


class Rules:
    """A system made ready: symbols numbered, events first, `^` and `$` last."""

    def __init__(self, system: System) -> None:
        self.symbols = (*system.alphabet, *system.auxiliary, "^", "$")
        self.start, self.end = len(self.symbols) - 2, len(self.symbols) - 1
        number = {symbol: k for k, symbol in enumerate(self.symbols)}
        self.patterns = tuple(tuple(number[symbol] for symbol in rule.pattern) for rule in system.rules)
        self.actions = tuple(
            Action(len(rule.left), tuple(number[symbol] for symbol in rule.right), rule.verdict)
            for rule in system.rules
        )
        self.matcher = Matcher(self.patterns, len(self.symbols))

    def text(self, string: Sequence[int]) -> str:
        """The string as it is written in rules."""
        return " ".join(self.symbols[symbol] for symbol in string) or "#epsilon"


Result: TypeAlias = "String | str"
"""A normal form, or the verdict that a rule gave."""

Rewriter: TypeAlias = Callable[[Rules, Sequence[int], "Budget"], Result]


@dataclass(slots=True)
class Budget:
    """How many steps may still be made, and how long a string may become."""

    steps: int
    longest: int

    def spend(self, length: int) -> None:
        """Pay for one step that makes the string `length` long; `Exhausted` if that is too much."""
        self.steps -= 1
        if self.steps < 0 or length > self.longest:
            raise Exhausted


def rewrite(rules: Rules, string: Sequence[int], budget: Budget) -> Result:
    """The normal form of `string`, which may begin with `^` and end with `$`, by the match that completes first.

    Of several that complete at once, the longest wins.
    """
    moves, match = rules.matcher.moves, rules.matcher.match
    done: list[int] = []
    states = [0]
    coming = list(reversed(string))
    while coming:
        symbol = coming.pop()
        state = moves[states[-1]][symbol]
        done.append(symbol)
        states.append(state)
        found = match[state]
        if found is None:
            continue
        action = rules.actions[found]
        if action.verdict is not None:
            return action.verdict
        budget.spend(len(done) + len(coming) + len(action.right))
        if symbol == rules.end:
            del done[-1], states[-1]
            coming.append(symbol)
        if action.taken:
            del done[-action.taken :], states[-action.taken :]
        coming.extend(reversed(action.right))
    return tuple(done)


def rewrite_scanning(rules: Rules, string: Sequence[int], budget: Budget) -> Result:
    """The same by passes over the string."""
    moves, match = rules.matcher.moves, rules.matcher.match
    text = list(string)
    calm = len(text)  # behind here, the last pass saw everything and changed nothing
    while True:
        changed = False
        state, at = 0, 0
        while at < len(text):
            if not changed and state == 0 and at >= calm:
                break
            state = moves[state][text[at]]
            found = match[state]
            if found is None:
                at += 1
                continue
            action = rules.actions[found]
            if action.verdict is not None:
                return action.verdict
            end = at + 1 - (text[at] == rules.end)
            budget.spend(len(text) + len(action.right))
            at = end - action.taken
            text[at:end] = action.right
            calm = at + len(action.right)
            state = 0
            changed = True
        if not changed:
            return tuple(text)
