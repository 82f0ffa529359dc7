"""Stage 1: regular expressions of users on the text of logs: Python's meaning, in time that no text can make long.

Whether a pattern is found somewhere in a text is what Python's `re` says. `re` tries ways one after the other, and for
some patterns there is a text, of 50 characters or of 100,000, on which it never ends. So each pattern is judged once,
and `re` has texts of up to a length on which it cannot take long: of ordinary patterns, nearly all that there are.
Longer ones are read by an automaton with the same answers, a look-up for each character, whose states are made when
they are needed.

What no automaton can do (look-around, back references, atomic groups) is refused unless `re` is quick on every text.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable
from functools import lru_cache
from re import _compiler, _parser  # type: ignore[attr-defined]
from re import _constants as op  # type: ignore[attr-defined]
from typing import Any, TypeAlias

from mopsus.spec.backtracking import Tree, power_of

WORK = 8_000_000
"""So many steps of `re` are allowed to one text: about a tenth of a second."""
MOST_CHOICES = 10_000
"""Of ways through the parts of a pattern that are no loops."""
SHORT = 100
"""A repetition of at most so many is no loop but so many choices."""
MOST_NODES = 20_000
"""Of an automaton before it is made deterministic."""
MOST_STATES, MOST_ENTRIES = 2_000, 200_000
"""Of one that was made deterministic; then it begins again with none."""

Search: TypeAlias = "Callable[[str], bool]"
Test: TypeAlias = "Callable[[str], object]"


class PatternError(ValueError):
    """A pattern cannot be used on texts that nobody knows."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


@lru_cache(maxsize=512)
def searcher(pattern: str) -> Search:
    """A function that says whether the pattern is found in a text. `re.error` and `PatternError` if there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled = re.compile(pattern)
        parsed = _parser.parse(pattern)
    search = compiled.search
    longest = longest_for_re(compiled, parsed)
    if longest is None:
        return lambda text: search(text) is not None
    automaton: list[_Automaton] = []

    def found(text: str) -> bool:
        if len(text) <= longest:
            return search(text) is not None
        if not automaton:
            automaton.append(_Automaton(nodes))
        return automaton[0].search(text)

    try:
        nodes = _Nodes(compiled.flags).of(parsed)
    except _Irregular as what:
        hint = "anchor it with ^, leave that out, or join several by and, or, not"
        raise PatternError(f"with {what}, some texts would take very long", hint) from None
    return found


def longest_for_re(compiled: re.Pattern[str], parsed: Tree) -> int | None:
    """Up to which length `re` has the text; None if it is quick on every one."""
    tried = _without_end(parsed)
    loops, choices = _effort(tried)
    power = power_of(compiled, tried) if loops else 0
    if power is None or choices > MOST_CHOICES:
        return 0
    power += not _anchored(tried, compiled.flags)
    return None if power <= 1 else int((WORK / choices) ** (1 / power))


# ---- what a pattern is like


def _without_end(items: Iterable[Tree]) -> list[Tree]:
    """The items without what always fits at their end: when `re` comes there, the pattern is found."""
    left = list(items)
    while left:
        kind, argument = left.pop()
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT):
            low, _, body = argument
            if low > 1:
                return [*left, (kind, argument)]
            left += body if low else ()
        elif kind is op.SUBPATTERN and not any(argument[1:3]):
            left += argument[3]
        else:
            return [*left, (kind, argument)]
    return left


def _effort(items: Iterable[Any]) -> tuple[int, float]:
    """How many loops can come one after the other, and in how many ways all else can be gone through, at the most."""
    loops, choices = 0, 1.0
    for kind, argument in items:
        parts: list[tuple[int, float]] = []
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            low, high, body = argument
            inner, ways = _effort(body)
            if high is op.MAXREPEAT or high > SHORT:
                parts.append((1 + inner, ways))
            else:
                parts.append((inner * min(high, SHORT), (high - low + 1) * ways ** min(high, SHORT)))
        elif kind is op.BRANCH:
            found = [_effort(branch) for branch in argument[1]]
            parts.append((max(inner for inner, _ in found), sum(ways for _, ways in found)))
        elif kind is op.SUBPATTERN:
            parts.append(_effort(argument[3]))
        elif kind in (op.ASSERT, op.ASSERT_NOT):
            parts.append(_effort(argument[1]))
        elif kind is op.ATOMIC_GROUP:
            parts.append(_effort(argument))
        elif kind in (op.GROUPREF, op.GROUPREF_EXISTS):
            parts.append((1, 1))
        for inner, ways in parts:
            loops, choices = loops + inner, min(choices * ways, 1e9)
    return loops, choices


def _anchored(items: Tree, flags: int) -> bool:
    """Can it be found at the beginning only?"""
    for kind, argument in items:
        if kind is op.AT:
            return argument is op.AT_BEGINNING_STRING or (argument is op.AT_BEGINNING and not flags & re.MULTILINE)
        if kind is op.SUBPATTERN:
            return _anchored(argument[3], flags | argument[1])
        if kind is op.BRANCH:
            return all(_anchored(branch, flags) for branch in argument[1])
        return False
    return False


# ---- an automaton


class _Irregular(Exception):
    """The pattern has something that no automaton can do."""


_LAST = "\n$"
"""Stands for a line break that is the last character: `$` holds before it."""
_NAMES = {
    op.ASSERT: "look-around",
    op.ASSERT_NOT: "look-around",
    op.GROUPREF: "a back reference",
    op.GROUPREF_EXISTS: "a back reference",
    op.ATOMIC_GROUP: "an atomic group",
    op.POSSESSIVE_REPEAT: "a possessive repetition",
}


class _Nodes:
    """The nodes of a nondeterministic automaton: a test of a character, or of a place, or nothing; and what follows."""

    def __init__(self, flags: int) -> None:
        self.flags = flags
        self.tests: list[Test | None] = []
        """Of a character, for nodes that take one."""
        self.places: list[tuple[Any, int] | None] = []
        """For nodes that take none: where they can be passed."""
        self.next: list[list[int]] = []
        self.accepting = -1
        self._known: dict[str, Test] = {}

    def of(self, parsed: Tree) -> _Nodes:
        """All of a pattern; it begins at the last node."""
        self.accepting = self._node()
        start = self._sequence(parsed, self.accepting, self.flags)
        self._node(follow=[start])
        return self

    def _node(self, test: Test | None = None, place: tuple[Any, int] | None = None, follow: Iterable[int] = ()) -> int:
        if len(self.next) >= MOST_NODES:
            raise _Irregular("so many repetitions of repetitions")
        self.tests.append(test)
        self.places.append(place)
        self.next.append(list(follow))
        return len(self.next) - 1

    def _sequence(self, items: Tree, then: int, flags: int) -> int:
        for kind, argument in reversed(list(items)):
            then = self._item(kind, argument, then, flags)
        return then

    def _item(self, kind: Tree, argument: Tree, then: int, flags: int) -> int:
        if kind in (op.LITERAL, op.NOT_LITERAL, op.IN, op.ANY):
            key = f"{kind} {argument} {flags}"
            test = self._known.get(key) or self._known.setdefault(key, _test(kind, argument, flags))
            return self._node(test, follow=[then])
        if kind is op.BRANCH:
            return self._node(follow=[self._sequence(branch, then, flags) for branch in argument[1]])
        if kind is op.SUBPATTERN:
            _, added, removed, inner = argument
            return self._sequence(inner, then, (flags | added) & ~removed)
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT):
            low, high, body = argument
            return self._repeat(low, high, body, then, flags)
        if kind is op.AT:
            return self._node(place=(argument, flags), follow=[then])
        raise _Irregular(_NAMES.get(kind, str(kind)))

    def _repeat(self, low: int, high: Tree, body: Tree, then: int, flags: int) -> int:
        if high is op.MAXREPEAT:
            around = self._node(follow=[then])
            self.next[around].append(self._sequence(body, around, flags))
            then = around
        else:
            for _ in range(high - low):
                then = self._node(follow=[then, self._sequence(body, then, flags)])
        for _ in range(low):
            then = self._sequence(body, then, flags)
        return then


def _test(kind: Tree, argument: Tree, flags: int) -> Test:
    """Does `re` find that this character is meant?"""
    state = _parser.State()
    state.flags = flags
    matcher = _compiler.compile(_parser.SubPattern(state, [(kind, argument)]), flags & ~(re.VERBOSE | re.DEBUG))
    test: Test = matcher.match
    return test


class _Found(Exception):
    """The pattern is found."""


class _State(dict[str, "_State"]):
    """A state: by character the next one, found out when it is first needed."""

    __slots__ = ("automaton", "before", "ends", "nodes")

    def __init__(self, automaton: _Automaton, nodes: frozenset[int], before: str) -> None:
        self.automaton, self.nodes, self.before = automaton, nodes, before
        self.ends: dict[str, bool] = {}

    def __missing__(self, character: str) -> _State:
        return self.automaton.step(self, character)


class _Automaton:
    """Made deterministic as texts ask for it."""

    def __init__(self, nodes: _Nodes) -> None:
        self._nodes = nodes
        self._start = frozenset([len(nodes.next) - 1])
        self._states: dict[tuple[frozenset[int], str], _State] = {}
        self._entries = 0

    def search(self, text: str) -> bool:
        """Is the pattern found in the text?"""
        last = text[-1:] == "\n"
        state = self._state(self._start, "")
        try:
            for character in text[:-1] if last else text:
                state = state[character]
            if last:
                state = state[_LAST]
        except _Found:
            return True
        return self._nodes.accepting in self._passed(state.nodes, state.before, "")

    def step(self, state: _State, character: str) -> _State:
        """Where a character leads."""
        nodes, passed = self._nodes, self._passed(state.nodes, state.before, character)
        if nodes.accepting in passed:
            raise _Found
        shown = character[0]
        tests = nodes.tests
        reached = [
            follower
            for node in passed
            if (test := tests[node]) is not None and test(shown) is not None
            for follower in nodes.next[node]
        ]
        self._entries += 1
        if self._entries > MOST_ENTRIES or len(self._states) > MOST_STATES:
            self._states.clear()
            self._entries = 0
        found = self._state(self._start.union(reached), _kind(shown))
        state[character] = found
        return found

    def _state(self, nodes: frozenset[int], before: str) -> _State:
        state = self._states.get((nodes, before))
        if state is None:
            state = self._states[nodes, before] = _State(self, nodes, before)
        return state

    def _passed(self, nodes: Iterable[int], before: str, after: str) -> set[int]:
        """All nodes that can be reached without a character, between one like `before` and `after`."""
        seen: set[int] = set()
        waiting = list(nodes)
        table = self._nodes
        while waiting:
            node = waiting.pop()
            if node in seen:
                continue
            seen.add(node)
            place = table.places[node]
            if table.tests[node] is None and (place is None or _holds(*place, before, after)):
                waiting += table.next[node]
        return seen


def _kind(character: str) -> str:
    """A character that stands for all those that look the same to the test of a place behind them."""
    if character == "\n":
        return character
    if not _WORD(character):
        return " "
    return "a" if character.isascii() else "é"


_WORD = re.compile(r"\w").match


def _holds(place: Tree, flags: int, before: str, after: str) -> bool:
    """Does `^`, `$`, `\\b` or the like hold between two characters; of the text's ends, there is none?"""
    if place is op.AT_BEGINNING_STRING:
        return not before
    if place is op.AT_BEGINNING:
        return not before or (bool(flags & re.MULTILINE) and before == "\n")
    if place is op.AT_END_STRING:
        return not after
    if place is op.AT_END:
        return after in ("", _LAST) or (bool(flags & re.MULTILINE) and after == "\n")
    if not before and not after:
        return _EMPTY[place is op.AT_BOUNDARY]
    return (_is_word(before, flags) != _is_word(after, flags)) is (place is op.AT_BOUNDARY)


_EMPTY = [re.search(pattern, "") is not None for pattern in (r"\B", r"\b")]
"""Versions of Python differ on the empty text."""


def _is_word(character: str, flags: int) -> bool:
    return bool(character) and _WORD(character[0]) is not None and (character.isascii() or not flags & re.ASCII)
