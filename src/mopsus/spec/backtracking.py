"""Stage 1: how much a backtracking matcher may try: ambiguity of regular expressions, found without running them.

A pattern is read into an automaton whose states are its characters (Glushkov's). If a state can come back to itself
by the same text in two ways, a text that does not fit is tried in exponentially many; if one loop can hand over to
another in the middle of text that both take, in a number that grows with a power of its length. What is atomic or
possessive is not tried again. Look-arounds take no text and are judged on their own.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any, TypeAlias

Tree: TypeAlias = Any
"""A part of what `re` makes of a pattern; it has no types."""

EXPONENTIAL = 3
MOST_WORK = 200_000
"""A pattern that takes longer to judge is taken for an exponential one."""
_MANY = 3
"""A loop that goes on for longer than this is taken for one that never ends; a shorter one is written out."""
_SOME = "aZ0_9 \t\n\r.,:;-+*/\\\"'#%()[]{}<>=!&|@$^~?\x00é€x"


@dataclass
class _Part:
    """A piece of a pattern: the states it may begin and end with, and whether it may be empty."""

    first: list[int] = field(default_factory=list)
    last: list[int] = field(default_factory=list)
    empty: bool = True


class TooMuchWork(Exception):
    """A pattern is too large to be judged."""


def power_of(pattern: re.Pattern[Any], tree: Tree) -> int | None:
    """Of a part of a pattern: the power of a text's length that says how much is tried; None if it is exponential, or
    cannot be judged."""
    try:
        found = Ambiguity(pattern, MOST_WORK, tree)
    except (TooMuchWork, NotImplementedError, RecursionError):
        return None
    return None if found.degree == EXPONENTIAL else found.power


class Ambiguity:
    """`degree`: 1 if linear, 2 if a power, 3 if exponential. `TooMuchWork` if that takes too long to find out."""

    def __init__(self, pattern: re.Pattern[Any], most_work: int = 10**9, tree: Tree = None) -> None:
        """`tree`: what is to be judged of the pattern, if it is not all."""
        self._work_left = most_work
        self.power = 1
        """Of the length of a text, if it is not exponential."""
        text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
        self._flags = pattern.flags
        self._looping = 0
        self._twice_nothing = False
        """Can nothing be taken in two ways? A loop around that doubles its tries with every turn."""
        self._states: list[frozenset[str]] = []
        self._ways: dict[tuple[int, int], int] = defaultdict(int)
        self._around: list[Any] = []
        parsed = _parser.parse(text, pattern.flags & ~re.DEBUG) if tree is None else tree
        self._letters = self._alphabet(parsed)
        self._sequence(parsed)
        self.degree = self._judge()
        for inner in self._around:
            self._states, self._ways = [], defaultdict(int)
            self._sequence(inner)
            self.degree = max(self.degree, self._judge())
        if self._twice_nothing:
            self.degree = EXPONENTIAL

    # ---- reading ----

    def _alphabet(self, parsed: Tree) -> str:
        letters = set(_SOME)

        def visit(node: Tree) -> None:
            if isinstance(node, int) and 0 <= node < 0x110000:
                letters.update(chr(each) for each in (node - 1, node, node + 1) if 0 <= each < 0x110000)
            elif isinstance(node, tuple) and len(node) == 2 and node[0] is op.RANGE:
                letters.update(_some_of(*node[1]))
            elif isinstance(node, tuple | list | _parser.SubPattern):
                for each in node:
                    visit(each)

        visit(parsed)
        return "".join(sorted(letters))

    def _set(self, kind: Tree, argument: Tree) -> frozenset[str]:
        body = _parser.SubPattern(_parser.State(), [(kind, argument)])
        from re import _compiler  # type: ignore[attr-defined]

        body.state.flags = self._flags
        matcher = _compiler.compile(body, self._flags & (re.IGNORECASE | re.DOTALL | re.ASCII | re.UNICODE))
        return frozenset(letter for letter in self._letters if matcher.fullmatch(letter))

    def _leaf(self, kind: Tree, argument: Tree) -> _Part:
        self._states.append(self._set(kind, argument))
        state = len(self._states) - 1
        return _Part([state], [state], False)

    def _link(self, last: Iterable[int], first: Iterable[int]) -> None:
        for one in last:
            for other in first:
                self._ways[one, other] += 1

    def _sequence(self, items: Iterable[Any]) -> _Part:
        whole = _Part()
        for kind, argument in items:
            part = self._item(kind, argument)
            self._link(whole.last, part.first)
            whole = _Part(
                whole.first + (part.first if whole.empty else []),
                part.last + (whole.last if part.empty else []),
                whole.empty and part.empty,
            )
        return whole

    def _item(self, kind: Tree, argument: Tree) -> _Part:
        if kind in (op.LITERAL, op.NOT_LITERAL, op.IN, op.ANY):
            return self._leaf(kind, argument)
        if kind is op.BRANCH:
            parts = [self._sequence(each) for each in argument[1]]
            self._twice_nothing |= self._looping > 0 and sum(part.empty for part in parts) > 1
            return _Part(
                [s for p in parts for s in p.first], [s for p in parts for s in p.last], any(p.empty for p in parts)
            )
        if kind is op.SUBPATTERN:
            return self._sequence(argument[3])
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT):
            return self._repeat(*argument)
        if kind in (op.POSSESSIVE_REPEAT, op.ATOMIC_GROUP):
            return self._kept(argument[2] if kind is op.POSSESSIVE_REPEAT else argument, kind, argument)
        if kind in (op.ASSERT, op.ASSERT_NOT):
            self._around.append(argument[1])
            return _Part()
        if kind is op.AT:
            return _Part()
        raise NotImplementedError(f"{kind} {argument}")

    def _repeat(self, low: int, high: Tree, body: Tree) -> _Part:
        if high is op.MAXREPEAT or high > _MANY:
            self._looping += 1
            part = self._sequence(body)
            self._looping -= 1
            self._link(part.last, part.first)
            return _Part(part.first, part.last, part.empty or low == 0)
        whole = _Part()
        for number in range(high):
            part = self._sequence(body)
            self._link(whole.last, part.first)
            empty = part.empty or number >= low
            whole = _Part(
                whole.first + (part.first if whole.empty else []),
                part.last + (whole.last if empty else []),
                whole.empty and empty,
            )
        return whole

    def _kept(self, body: Tree, kind: Tree, argument: Tree) -> _Part:
        """What is matched once: a loop in it takes what it can, so one state stands for all of it."""
        own = Ambiguity.__new__(Ambiguity)
        own._flags, own._letters, own._around = self._flags, self._letters, []
        own._twice_nothing, own._looping = False, 0
        own._states, own._ways, own._work_left = [], defaultdict(int), self._work_left
        part = own._sequence(body)
        if kind is op.ATOMIC_GROUP:
            self._around.append(body)
        self._around += own._around
        letters = frozenset().union(*own._states) if own._states else frozenset()
        self._states.append(letters)
        state = len(self._states) - 1
        empty = part.empty or (kind is op.POSSESSIVE_REPEAT and argument[0] == 0)
        return _Part([state], [state], empty)

    # ---- judging ----

    def _judge(self) -> int:
        follows: dict[int, list[int]] = defaultdict(list)
        for one, other in self._ways:
            follows[one].append(other)
        component = _components(len(self._states), follows)
        inside = {edge for edge in self._ways if component[edge[0]] == component[edge[1]]}
        if any(self._ways[edge] > 1 and self._states[edge[1]] for edge in inside):
            return 3
        loops: dict[int, list[int]] = defaultdict(list)
        for one, other in inside:
            loops[one].append(other)
        if any(self._twice(state, loops) for state in loops):
            return 3
        self.power = max(self.power, self._longest_chain(follows, component, loops))
        return 2 if self.power > 1 else 1

    def _longest_chain(self, follows: dict[int, list[int]], component: list[int], loops: dict[int, list[int]]) -> int:
        """How many loops can hand over to each other, one after the other."""
        beyond: dict[int, set[int]] = defaultdict(set)
        for start in loops:
            for other in _reached(start, follows):
                one, two = component[start], component[other]
                if other in loops and one != two and two not in beyond[one] and self._overlap(start, other, follows):
                    beyond[one].add(two)
        known: dict[int, int] = {}

        def longest(one: int) -> int:
            if one not in known:
                known[one] = 1 + max(map(longest, beyond[one]), default=0)
            return known[one]

        return max((longest(component[start]) for start in loops), default=1)

    def _twice(self, start: int, follows: dict[int, list[int]]) -> bool:
        """Can it come back to itself by one text in two ways?"""
        seen = {(start, start, False)}
        work = deque(seen)
        while work:
            one, other, apart = work.popleft()
            self._spend(len(follows[one]) * len(follows[other]))
            for a in follows[one]:
                for b in follows[other]:
                    if not self._states[a] & self._states[b]:
                        continue
                    now = (a, b, apart or a != b)
                    if now == (start, start, True):
                        return True
                    if now not in seen:
                        seen.add(now)
                        work.append(now)
        return False

    def _spend(self, work: int) -> None:
        self._work_left -= work
        if self._work_left < 0:
            raise TooMuchWork

    def _overlap(self, start: int, end: int, follows: dict[int, list[int]]) -> bool:
        goal = (start, end, end)
        seen = {(start, start, end)}
        work = deque(seen)
        while work:
            one, two, three = work.popleft()
            self._spend(len(follows[one]) * len(follows[two]) * len(follows[three]))
            for a in follows[one]:
                for b in follows[two]:
                    both = self._states[a] & self._states[b]
                    if not both:
                        continue
                    for c in follows[three]:
                        now = (a, b, c)
                        if not both & self._states[c]:
                            continue
                        if now == goal:
                            return True
                        if now not in seen:
                            seen.add(now)
                            work.append(now)
        return False


def _some_of(low: int, high: int) -> Iterator[str]:
    """The ends of a range, what is beside them, and in it a character of each sort that other sets may be about."""
    yield from (chr(each) for each in (low - 1, low, low + 1, high - 1, high, high + 1) if 0 <= each < 0x110000)
    sorts = set()
    for each in range(low, min(high, low + 70_000) + 1):
        letter = chr(each)
        sort = letter.isdecimal(), letter.isalnum(), letter.isspace(), letter.isupper(), letter.islower()
        if sort not in sorts:
            sorts.add(sort)
            yield letter


def _reached(start: int, follows: dict[int, list[int]]) -> set[int]:
    seen: set[int] = set()
    work = [start]
    while work:
        for other in follows[work.pop()]:
            if other not in seen:
                seen.add(other)
                work.append(other)
    return seen


def _components(count: int, follows: dict[int, list[int]]) -> list[int]:
    """Of each state, a number of the states that reach it and that it reaches."""
    reached = [_reached(state, follows) for state in range(count)]
    return [min([state, *(other for other in reached[state] if state in reached[other])]) for state in range(count)]
