"""Execution history encodings by their definition: dictionaries of expressions, slow and obviously right.

Names are those of the definition: `rw`, `mov`, `sel`, `inc` and so on. An expression is True, False, an atom (a
timestamp and a name), or a tuple of an operator and its parts. Whether it is constant is found out with its whole truth
table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Atom(NamedTuple):
    """An input at a timestamp."""

    time: int
    name: Any


Expression = Any  # bool | Atom | ("not", e) | ("and", (e, ...)) | ("or", (e, ...))
Known = Mapping[Any, bool]
Encoding = dict[tuple[int, int], Expression]


def merge(one: Mapping[K, V], other: Mapping[K, V], op: Callable[[V, V], V]) -> dict[K, V]:
    """The merge of partial functions: `op` where both are defined."""
    return {
        key: op(one[key], other[key]) if key in one and key in other else one[key] if key in one else other[key]
        for key in [*one, *(key for key in other if key not in one)]
    }


def replace(one: Mapping[K, bool], other: Mapping[K, bool]) -> dict[K, bool]:
    """The merge of memories: the greater value stays."""
    return merge(one, other, max)


def either(one: Encoding, other: Encoding) -> Encoding:
    """The merge of encodings: disjunction."""
    return merge(one, other, lambda a, b: disjunction([a, b]))


def conjunction(parts: Iterable[Expression]) -> Expression:
    """`and`, with constants folded."""
    left = [part for part in parts if part is not True]
    if any(part is False for part in left):
        return False
    return True if not left else left[0] if len(left) == 1 else ("and", tuple(left))


def disjunction(parts: Iterable[Expression]) -> Expression:
    """`or`, with constants folded."""
    left = [part for part in parts if part is not False]
    if any(part is True for part in left):
        return True
    return False if not left else left[0] if len(left) == 1 else ("or", tuple(left))


def negation(part: Expression) -> Expression:
    """`not`, with constants folded."""
    return not part if isinstance(part, bool) else ("not", part)


def walk(expression: Expression, leaf: Callable[[Any], Expression]) -> Expression:
    """The same expression with other leaves."""
    if isinstance(expression, (bool, Atom, str)):
        return leaf(expression)
    operator, parts = expression
    if operator == "not":
        return negation(walk(parts, leaf))
    return (conjunction if operator == "and" else disjunction)(walk(part, leaf) for part in parts)


def encode(expression: Expression, time: int) -> Expression:
    """The encoder that gives each name a timestamp."""
    return walk(expression, lambda name: name if isinstance(name, bool) else Atom(time, name))


def rw(expression: Expression, memory: Known) -> Expression:
    """The expression with what is known put in."""
    return walk(expression, lambda atom: atom if isinstance(atom, bool) else memory.get(atom, atom))


def atoms(expression: Expression) -> frozenset[Any]:
    """The atoms that occur in an expression."""
    if isinstance(expression, bool):
        return frozenset()
    if isinstance(expression, (Atom, str)):
        return frozenset([expression])
    operator, parts = expression
    return atoms(parts) if operator == "not" else frozenset[Any]().union(*map(atoms, parts))


def table(expression: Expression, order: Sequence[Any]) -> int:
    """The truth table over the atoms in `order`: a bit for each of the 2^n valuations."""
    size = 1 << len(order)
    everything = (1 << size) - 1
    columns = {atom: sum(1 << row for row in range(size) if row >> place & 1) for place, atom in enumerate(order)}

    def value(part: Expression) -> int:
        if isinstance(part, bool):
            return everything if part else 0
        if isinstance(part, (Atom, str)):
            return columns[part]
        operator, inner = part
        if operator == "not":
            return everything & ~value(inner)
        result = everything if operator == "and" else 0
        for each in inner:
            result = result & value(each) if operator == "and" else result | value(each)
        return result

    return value(expression)


def equivalent(one: Expression, other: Expression) -> bool:
    """Have they the same value whatever the atoms are?"""
    order = sorted(atoms(one) | atoms(other))
    return table(one, order) == table(other, order)


def support(expression: Expression) -> set[Any]:
    """The atoms that make a difference."""
    return {
        atom
        for atom in atoms(expression)
        if not equivalent(rw(expression, {atom: True}), rw(expression, {atom: False}))
    }


def simplify(expression: Expression) -> Expression:
    """A constant if it is one; as it is otherwise."""
    for constant in (True, False):
        if equivalent(expression, constant):
            return constant
    return expression


def evaluate(expression: Expression, memory: Known) -> bool | None:
    """Its value as far as it follows from what is known."""
    simple = simplify(rw(expression, memory))
    return simple if isinstance(simple, bool) else None


class Automaton(NamedTuple):
    """A normalized automaton: of each state the verdict, and the labels of what may follow."""

    verdicts: tuple[bool | None, ...]
    labels: tuple[dict[int, Expression], ...]

    def step(self, state: int, letter: Known) -> int:
        """The state that follows when all inputs are known."""
        (target,) = [target for target, label in self.labels[state].items() if evaluate(label, letter)]
        return target


def mov(automaton: Automaton, encoding: Encoding, first: int, last: int) -> Encoding:
    """The encoding extended from timestamp `first` to `last`."""
    for time in range(first, last):
        reached: dict[int, list[Expression]] = {}
        for (at, state), expression in encoding.items():
            if at == time:
                for target, label in automaton.labels[state].items():
                    reached.setdefault(target, []).append(conjunction([expression, encode(label, time + 1)]))
        encoding = either(encoding, {(time + 1, state): disjunction(parts) for state, parts in reached.items()})
    return encoding


def sel(encoding: Encoding, memory: Known, time: int) -> int | None:
    """The state at a timestamp, if it is known."""
    chosen = [state for (at, state), each in encoding.items() if at == time and evaluate(each, memory) is True]
    assert len(chosen) <= 1
    return chosen[0] if chosen else None


def ver_at(automaton: Automaton, encoding: Encoding, memory: Known, time: int) -> bool | None:
    """The verdict at a timestamp, if it is known."""
    state = sel(encoding, memory, time)
    return None if state is None else automaton.verdicts[state]


def inc(encoding: Encoding, memory: Known) -> Encoding:
    """The encoding with what is known put in."""
    return {key: simplify(rw(expression, memory)) for key, expression in encoding.items()}


@dataclass
class History:
    """The object around an encoding: which timestamps it has, and the last one with a known state."""

    automaton: Automaton
    start: int = 0
    end: int = 0
    resolved: int = 0
    encoding: Encoding = field(default_factory=lambda: {(0, 0): True})
    evaluations: int = 0
    simplifications: int = 0

    def reset(self, time: int) -> None:
        """Begin again, in the initial state at `time`."""
        self.start = self.end = self.resolved = time
        self.encoding = {(time, 0): True}

    def tick(self) -> None:
        """One more timestamp."""
        self.encoding = mov(self.automaton, self.encoding, self.end, self.end + 1)
        self.end += 1

    def update(self, memory: Known) -> bool:
        """Put in what is known, up to the first timestamp that has a known state then."""
        for time in range(self.resolved + 1, self.end + 1):
            for key, expression in self.encoding.items():
                if key[0] == time and simplify(expression) is not False:
                    self.evaluations += 1
                    self.encoding[key] = simplify(rw(expression, memory))
                    self.simplifications += not isinstance(self.encoding[key], bool)
            if sel(self.encoding, {}, time) is not None:
                self.resolved = time
                return True
        return False

    def drop(self, time: int) -> int:
        """Forget what is before a timestamp; how many timestamps that were."""
        dropped = {at for at, _ in self.encoding if at < time}
        self.encoding = {key: each for key, each in self.encoding.items() if key[0] >= time}
        self.start = max(self.start, time)
        return len(dropped)

    def drop_resolved(self) -> int:
        """Forget what is before the last known state."""
        return self.drop(self.resolved)

    def merge_forward(self, other: History) -> None:
        """Take over what another one has of the timestamps that this one has."""
        self.encoding = either(self.encoding, {key: e for key, e in other.encoding.items() if key[0] >= self.start})
        self.end = max(self.end, other.end)
