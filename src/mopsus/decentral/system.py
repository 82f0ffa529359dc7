"""The system that is monitored: components, what each observes, and which of them can talk to which."""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from mopsus.decentral.errors import DecentralError
from mopsus.logics.text import suggestion


@dataclass(frozen=True, slots=True)
class Link:
    """Messages can go from `source` to `target`, at this cost each."""

    source: str
    target: str
    cost: float = 1.0


@dataclass(frozen=True)
class System:
    """Components by name, in order, with the propositions that they observe.

    `links` None: everyone can talk to everyone, at cost 1. `DecentralError` unless each proposition is observed by
    exactly one component, and links are between components.
    """

    components: Mapping[str, tuple[str, ...]]
    links: tuple[Link, ...] | None = None

    def __post_init__(self) -> None:
        for component, propositions in self.components.items():
            for proposition in propositions:
                if self.owners[proposition] != component:
                    raise DecentralError(
                        f"proposition '{proposition}' is observed by '{component}' and by '{self.owners[proposition]}'",
                        hint="give them names of their own, such as the component's name in front",
                        code="DECENTRAL-020",
                    )
        for link in self.links or ():
            for end in (link.source, link.target):
                self.check(end, "a link")
            if not link.cost >= 0 or math.isinf(link.cost):
                raise DecentralError(
                    f"the link from '{link.source}' to '{link.target}' costs {link.cost}",
                    hint="a cost is a number from 0 on",
                    code="DECENTRAL-021",
                )

    @cached_property
    def owners(self) -> Mapping[str, str]:
        """For each proposition, the component that observes it."""
        return {name: component for component, names in self.components.items() for name in names}

    @cached_property
    def costs(self) -> Mapping[str, Mapping[str, float]]:
        """What a message costs on the cheapest way, from each component to each that it can reach, itself included."""
        if self.links is None:
            return {one: {other: float(one != other) for other in self.components} for one in self.components}
        leaving: dict[str, list[tuple[str, float]]] = {component: [] for component in self.components}
        for link in self.links:
            leaving[link.source].append((link.target, link.cost))
        return {component: _cheapest(component, leaving) for component in self.components}

    def check(self, component: str, what: str) -> None:
        """`DecentralError` unless there is such a component; `what` names it."""
        if component not in self.components:
            raise DecentralError(
                f"{what} is about '{component}', which is no component",
                hint=suggestion(component, self.components),
                code="DECENTRAL-021",
            )


def _cheapest(start: str, leaving: Mapping[str, list[tuple[str, float]]]) -> dict[str, float]:
    settled: dict[str, float] = {}
    queue = [(0.0, start)]
    while queue:
        cost, component = heapq.heappop(queue)
        if component in settled:
            continue
        settled[component] = cost
        for target, more in leaving[component]:
            if target not in settled:
                heapq.heappush(queue, (cost + more, target))
    return settled
