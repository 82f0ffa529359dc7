"""Stage 2: which states of an automaton over infinite words accept something, and which accept everything.

Any acceptance condition of the HOA format is handled, by its disjunctive normal form: a run is
accepted by one case of it, which forbids some transitions and asks that others recur. So a state
accepts something if it reaches a strongly connected part of what a case leaves over that has all
the case asks for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from mopsus.logics.hoa.automaton import Condition, Often, Op
from mopsus.logics.logic import LogicError

MAX_CASES = 256
"""A condition with more cases in normal form is refused; those of known tools have one or a few."""


class Way(NamedTuple):
    """A transition for one letter."""

    letter: int
    target: int
    marks: frozenset[int]


Case = frozenset[Often]
Graph = Sequence[Sequence[Way]]


def cases(condition: Condition, *, negated: bool = False) -> frozenset[Case]:
    """The condition, or its negation, as alternatives of demands; `LogicError` if there are too many."""
    stack: list[frozenset[Case]] = []
    for item in condition:
        match item:
            case Op():
                right, left = stack.pop(), stack.pop()
                either = (item is Op.OR) != negated
                stack.append(left | right if either else frozenset(one | two for one in left for two in right))
            case Often(infinitely, number, outside):
                stack.append(frozenset({frozenset({Often(infinitely != negated, number, outside)})}))
            case _:
                stack.append(frozenset({Case()}) if item != negated else frozenset())
        if len(stack[-1]) > MAX_CASES:
            raise LogicError(
                f"the acceptance condition has more than {MAX_CASES} cases",
                code="LOGIC-041",
                hint="convert the automaton to Büchi or generalised Büchi acceptance first",
            )
    return stack[0]


def accepting(graph: Graph, alternatives: Iterable[Case]) -> set[int]:
    """The states from which some infinite run satisfies one of the alternatives."""
    found: set[int] = set()
    for demands in alternatives:
        forbidden = [demand for demand in demands if not demand.infinitely]
        left = [[way for way in ways if not any(visits(way, each) for each in forbidden)] for ways in graph]
        wanted = [demand for demand in demands if demand.infinitely]
        for part in components(left):
            inside = [way for state in part for way in left[state] if way.target in part]
            if inside and all(any(visits(way, each) for way in inside) for each in wanted):
                found |= part
    return reaching(graph, found)


def visits(way: Way, demand: Often) -> bool:
    """Is the transition in the set that a demand is about?"""
    return (demand.number in way.marks) != demand.outside


def reaching(graph: Graph, targets: Iterable[int]) -> set[int]:
    """The states from which some state of `targets` is reachable, themselves included."""
    into: list[list[int]] = [[] for _ in graph]
    for source, ways in enumerate(graph):
        for way in ways:
            into[way.target].append(source)
    found = set(targets)
    work = list(found)
    while work:
        fresh = [source for source in into[work.pop()] if source not in found]
        found.update(fresh)
        work += fresh
    return found


def components(graph: Graph) -> Iterator[set[int]]:
    """The strongly connected components (Tarjan's algorithm, without recursion)."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    path: list[int] = []
    on_path: set[int] = set()
    for root in range(len(graph)):
        if root in order:
            continue
        order[root] = low[root] = len(order)
        path.append(root)
        on_path.add(root)
        work = [(root, iter(graph[root]))]
        while work:
            state, ways = work[-1]
            for way in ways:
                target = way.target
                if target not in order:
                    order[target] = low[target] = len(order)
                    path.append(target)
                    on_path.add(target)
                    work.append((target, iter(graph[target])))
                    break
                if target in on_path:
                    low[state] = min(low[state], order[target])
            else:
                work.pop()
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[state])
                if low[state] == order[state]:
                    part: set[int] = set()
                    while state not in part:
                        member = path.pop()
                        on_path.discard(member)
                        part.add(member)
                    yield part
