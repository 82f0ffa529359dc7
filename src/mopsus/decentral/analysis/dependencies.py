"""Which monitors depend on which, and whether they do so in a circle."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from mopsus.decentral.errors import DecentralError
from mopsus.decentral.specification import Specification
from mopsus.model.drawing import Drawing, Edge, Node

Graph: TypeAlias = "Mapping[str, frozenset[str]]"
"""The monitor dependency graph: for each monitor, those whose verdicts its transitions depend on."""


def dependencies(specification: Specification) -> Graph:
    """The monitor dependency graph of a specification."""
    return {name: monitor.dependencies for name, monitor in specification.monitors.items()}


def cycles(graph: Graph) -> tuple[tuple[str, ...], ...]:
    """A shortest cycle in each knot of monitors that depend on each other, in the order in which they are given."""
    order = {name: number for number, name in enumerate(graph)}
    knots = sorted((min(knot, key=order.__getitem__), knot) for knot in _knots(graph))
    return tuple(_shortest(start, knot, graph) for start, knot in sorted(knots, key=lambda each: order[each[0]]))


def refuse_cycles(specification: Specification) -> None:
    """`DecentralError` that shows a cycle, if there is one."""
    for cycle in cycles(dependencies(specification)):
        raise DecentralError(
            f"monitors refer to each other in a circle: {' -> '.join((*cycle, cycle[0]))}",
            hint="nothing is proven of such specifications; --allow-cycles runs them all the same",
            code="DECENTRAL-025",
            place=specification.monitors[cycle[0]].span,
        )


def closure(names: Iterable[str], graph: Graph) -> frozenset[str]:
    """These monitors, and all that can be reached from them."""
    reached = set(names)
    stack = list(reached)
    while stack:
        for other in graph[stack.pop()] - reached:
            reached.add(other)
            stack.append(other)
    return frozenset(reached)


def dependencies_first(graph: Graph) -> tuple[str, ...]:
    """All monitors, each after those that it depends on; in a circle, in some order."""
    done: dict[str, None] = {}
    for knot in _components(graph):
        done |= dict.fromkeys(knot)
    return tuple(done)


@dataclass(frozen=True, slots=True)
class DependencyPicture:
    """The graph as it is drawn: who sends verdicts to whom."""

    specification: Specification

    def drawing(self) -> Drawing:
        """Monitors that no other refers to are marked."""
        monitors, tops = self.specification.monitors, self.specification.tops
        numbers = {name: number for number, name in enumerate(monitors)}
        found = [
            Edge(numbers[sender], "verdicts", numbers[name])
            for name, senders in dependencies(self.specification).items()
            for sender in sorted(senders)
        ]
        return Drawing(
            nodes=tuple(
                Node(name, f"on {monitor.place}" if monitor.place else "", name in tops)
                for name, monitor in monitors.items()
            ),
            edges=tuple(found),
            initial=None,
            summary="who tells whom its verdicts",
        )


def _knots(graph: Graph) -> list[list[str]]:
    """The strongly connected components in which something depends on itself."""
    return [knot for knot in _components(graph) if len(knot) > 1 or knot[0] in graph[knot[0]]]


def _components(graph: Graph) -> Iterable[list[str]]:
    """The strongly connected components (Tarjan), each after those that it depends on."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    open_: dict[str, None] = {}
    for start in graph:
        if start in index:
            continue
        work = [(start, iter(sorted(graph[start])))]
        index[start] = low[start] = len(index)
        open_[start] = None
        while work:
            name, rest = work[-1]
            for other in rest:
                if other not in index:
                    index[other] = low[other] = len(index)
                    open_[other] = None
                    work.append((other, iter(sorted(graph[other]))))
                    break
                if other in open_:
                    low[name] = min(low[name], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == index[name]:
                    knot: list[str] = []
                    while not knot or knot[-1] != name:
                        knot.append(open_.popitem()[0])
                    yield knot


def _shortest(start: str, knot: Iterable[str], graph: Graph) -> tuple[str, ...]:
    """The monitors on a shortest way from `start` back to it within the knot."""
    inside = set(knot)
    before: dict[str, str] = {}
    queue = deque([start])
    while start not in before:
        name = queue.popleft()
        for other in sorted(graph[name] & inside - before.keys()):
            before[other] = name
            queue.append(other)
    way = [before[start]]
    while way[-1] != start:
        way.append(before[way[-1]])
    return tuple(reversed(way))
