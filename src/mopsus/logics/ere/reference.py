"""Stage 2: the meaning of an extended regular expression, straight from the definition.

`match` is membership, found by trying every way to split the word. `fail` says that no
continuation is a member; it is decided on an automaton composed operator by operator with the
textbook constructions, which share nothing with the derivatives that the compiler uses.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from mopsus.logics.ere.syntax import Ere, Op


def categories_after(expression: Ere, alphabet: tuple[str, ...], word: Sequence[str]) -> frozenset[str]:
    """The categories after `word`: one of `match`, `fail` and `?`."""
    if _member(expression, tuple(word)):
        return frozenset({"match"})
    automaton = _compose(expression, alphabet)
    state = automaton.initial
    for event in word:
        state = automaton.table[state][alphabet.index(event)]
    return frozenset({"?"}) if automaton.reaches_accepting(state) else frozenset({"fail"})


@lru_cache(maxsize=10_000)
def _member(expression: Ere, word: tuple[str, ...]) -> bool:
    match expression.op:
        case Op.EMPTY:
            return False
        case Op.EPSILON:
            return not word
        case Op.EVENT:
            return word == (expression.event,)
        case Op.OR:
            return any(_member(part, word) for part in expression.parts)
        case Op.AND:
            return all(_member(part, word) for part in expression.parts)
        case Op.NOT:
            return not _member(expression.parts[0], word)
        case Op.SEQUENCE:
            return _split(expression.parts, word)
        case Op.POWER:
            return _split(expression.parts * expression.count, word)
        case Op.STAR | Op.PLUS:
            (part,) = expression.parts
            if not word:
                return expression.op is Op.STAR or _member(part, word)
            again = replace(expression, op=Op.STAR)
            return any(_member(part, word[:cut]) and _member(again, word[cut:]) for cut in range(1, len(word) + 1))


def _split(parts: tuple[Ere, ...], word: tuple[str, ...]) -> bool:
    if not parts:
        return not word
    return any(_member(parts[0], word[:cut]) and _split(parts[1:], word[cut:]) for cut in range(len(word) + 1))


@dataclass(frozen=True, slots=True)
class _Dfa:
    initial: int
    table: tuple[tuple[int, ...], ...]
    accepting: frozenset[int]

    def reaches_accepting(self, state: int) -> bool:
        seen = {state}
        work = [state]
        while work:
            fresh = set(self.table[work.pop()]) - seen
            seen |= fresh
            work += fresh
        return bool(seen & self.accepting)


@lru_cache(maxsize=10_000)
def _compose(expression: Ere, alphabet: tuple[str, ...]) -> _Dfa:
    parts = [_compose(part, alphabet) for part in expression.parts]
    width = len(alphabet)
    match expression.op:
        case Op.EMPTY:
            return _build(width, 0, lambda state, letter: 0, lambda state: False)
        case Op.EPSILON:
            return _build(width, 0, lambda state, letter: 1, lambda state: state == 0)
        case Op.EVENT:
            wanted = alphabet.index(expression.event)
            return _build(
                width, 0, lambda state, letter: 1 if (state, letter) == (0, wanted) else 2, lambda state: state == 1
            )
        case Op.OR | Op.AND:
            verdict = any if expression.op is Op.OR else all
            return _build(
                width,
                tuple(part.initial for part in parts),
                lambda states, letter: tuple(p.table[s][letter] for p, s in zip(parts, states, strict=True)),
                lambda states: verdict(s in p.accepting for p, s in zip(parts, states, strict=True)),
            )
        case Op.NOT:
            return replace(parts[0], accepting=frozenset(range(len(parts[0].table))) - parts[0].accepting)
        case Op.SEQUENCE:
            return _concatenate(parts, width)
        case Op.POWER:
            return _concatenate(parts * expression.count, width)
        case Op.STAR | Op.PLUS:
            once = parts[0]
            plus = _build(
                width,
                frozenset({once.initial}),
                lambda states, letter: _looped(once, frozenset(once.table[s][letter] for s in states)),
                lambda states: bool(states & once.accepting),
            )
            if expression.op is Op.PLUS:
                return plus
            return _build(  # a new initial state that accepts the empty word too
                width,
                -1,
                lambda state, letter: plus.table[plus.initial if state == -1 else state][letter],
                lambda state: state == -1 or state in plus.accepting,
            )


def _looped(once: _Dfa, states: frozenset[int]) -> frozenset[int]:
    return states | {once.initial} if states & once.accepting else states


def _concatenate(parts: Sequence[_Dfa], width: int) -> _Dfa:
    """A state is a set of (part, state of the part); a part that accepts lets the next one begin."""

    def begin(states: frozenset[tuple[int, int]]) -> frozenset[tuple[int, int]]:
        found = set(states)
        for part in range(len(parts) - 1):
            if any(p == part and s in parts[p].accepting for p, s in found):
                found.add((part + 1, parts[part + 1].initial))
        return frozenset(found)

    if not parts:
        return _build(width, 0, lambda state, letter: 1, lambda state: state == 0)
    last = len(parts) - 1
    return _build(
        width,
        begin(frozenset({(0, parts[0].initial)})),
        lambda states, letter: begin(frozenset((p, parts[p].table[s][letter]) for p, s in states)),
        lambda states: any(p == last and s in parts[p].accepting for p, s in states),
    )


def _build(
    width: int,
    initial: Hashable,
    step: Callable[..., Hashable],
    accepts: Callable[..., bool],
) -> _Dfa:
    order = [initial]
    numbers = {initial: 0}
    table = []
    for state in order:  # grows while it is walked
        row = []
        for letter in range(width):
            target = step(state, letter)
            if target not in numbers:
                numbers[target] = len(order)
                order.append(target)
            row.append(numbers[target])
        table.append(tuple(row))
    return _Dfa(0, tuple(table), frozenset(n for s, n in numbers.items() if accepts(s)))
