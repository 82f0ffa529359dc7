"""How much a backtracking matcher may try: ambiguity of regular expressions, found without running them.

A pattern is read into an automaton whose states are its characters (Glushkov's). If a state can come back to itself
by the same text in two ways, a text that does not fit is tried in exponentially many; if one loop can hand over to
another in the middle of text that both take, in a number that grows with a power of its length. What is atomic or
possessive is not tried again. Look-arounds take no text and are judged on their own.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

_MANY = 3
"""A loop that goes on for longer than this is taken for one that never ends; a shorter one is written out."""
_SOME = "aZ0_9 \t\n\r.,:;-+*/\\\"'#%()[]{}<>=!&|@$^~?\x00é€x"


@dataclass
class _Part:
    """A piece of a pattern: the states it may begin and end with, and whether it may be empty."""

    first: list[int] = field(default_factory=list)
    last: list[int] = field(default_factory=list)
    empty: bool = True


class Ambiguity:
    """`degree`: 1 if linear, 2 if a power, 3 if exponential; and the characters of the pattern where that is."""

    def __init__(self, pattern: re.Pattern[Any]) -> None:
        text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
        self._flags = pattern.flags
        self._states: list[frozenset[str]] = []
        self._ways: dict[tuple[int, int], int] = defaultdict(int)
        self._around: list[Any] = []
        parsed = _parser.parse(text, pattern.flags & ~re.DEBUG)
        self._letters = self._alphabet(parsed)
        self._sequence(parsed)
        self.degree = self._judge()
        for inner in self._around:
            self._states, self._ways = [], defaultdict(int)
            self._sequence(inner)
            self.degree = max(self.degree, self._judge())

    # ---- reading ----

    def _alphabet(self, parsed: Any) -> str:
        letters = set(_SOME)

        def visit(node: Any) -> None:
            if isinstance(node, int) and 0 <= node < 0x110000:
                letters.update(chr(each) for each in (node - 1, node, node + 1) if 0 <= each < 0x110000)
            elif isinstance(node, tuple | list | _parser.SubPattern):
                for each in node:
                    visit(each)

        visit(parsed)
        return "".join(sorted(letters))

    def _set(self, kind: Any, argument: Any) -> frozenset[str]:
        body = _parser.SubPattern(_parser.State(), [(kind, argument)])
        from re import _compiler  # type: ignore[attr-defined]

        body.state.flags = self._flags
        matcher = _compiler.compile(body, self._flags & (re.IGNORECASE | re.DOTALL | re.ASCII | re.UNICODE))
        return frozenset(letter for letter in self._letters if matcher.fullmatch(letter))

    def _leaf(self, kind: Any, argument: Any) -> _Part:
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

    def _item(self, kind: Any, argument: Any) -> _Part:
        if kind in (op.LITERAL, op.NOT_LITERAL, op.IN, op.ANY):
            return self._leaf(kind, argument)
        if kind is op.BRANCH:
            parts = [self._sequence(each) for each in argument[1]]
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

    def _repeat(self, low: int, high: Any, body: Any) -> _Part:
        if high is op.MAXREPEAT or high > _MANY:
            part = self._sequence(body)
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

    def _kept(self, body: Any, kind: Any, argument: Any) -> _Part:
        """What is matched once: a loop in it takes what it can, so one state stands for all of it."""
        own = Ambiguity.__new__(Ambiguity)
        own._flags, own._letters, own._around = self._flags, self._letters, []
        own._states, own._ways = [], defaultdict(int)
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
        if any(self._hands_over(state, follows) for state in loops):
            return 2
        return 1

    def _twice(self, start: int, follows: dict[int, list[int]]) -> bool:
        """Can it come back to itself by one text in two ways?"""
        seen = {(start, start, False)}
        work = deque(seen)
        while work:
            one, other, apart = work.popleft()
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

    def _hands_over(self, start: int, follows: dict[int, list[int]]) -> bool:
        """Is there another loop that takes over in the middle of text that both take?"""
        beyond = {other for other in _reached(start, follows) if other != start and other in _reached(other, follows)}
        return any(self._overlap(start, other, follows) for other in beyond)

    def _overlap(self, start: int, end: int, follows: dict[int, list[int]]) -> bool:
        goal = (start, end, end)
        seen = {(start, start, end)}
        work = deque(seen)
        while work:
            one, two, three = work.popleft()
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
