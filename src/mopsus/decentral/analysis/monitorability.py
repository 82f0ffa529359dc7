"""Whether monitors can still reach a verdict, whatever has happened.

An automaton is monitorable if from every state that it can be in, some continuation leads to a verdict. For a
specification this is only a test that suffices: every automaton is monitorable and nothing depends on itself.
Specifications with circles may be monitorable all the same; then nothing is proven.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from mopsus.decentral.analysis.dependencies import cycles, dependencies, dependencies_first
from mopsus.decentral.automaton import Automaton
from mopsus.decentral.specification import Specification
from mopsus.logics.machines.automaton import reaching


@dataclass(frozen=True, slots=True)
class Monitorability:
    """What is known of a specification."""

    cycles: tuple[tuple[str, ...], ...]
    """Monitors that depend on each other."""
    undecidable: Mapping[str, frozenset[int]]
    """For each monitor with such states, those from which no verdict can be reached."""

    @property
    def proven(self) -> bool:
        """Is it sure that each monitor can reach a verdict from wherever it is?"""
        return not self.cycles and not self.undecidable

    def reasons(self) -> tuple[str, ...]:
        """Why nothing is proven, in words."""
        return (
            *(f"they depend on each other: {' -> '.join((*cycle, cycle[0]))}" for cycle in self.cycles),
            *(
                f"monitor '{name}' reaches no verdict from state{'s' * (len(states) > 1)} "
                + ", ".join(f"q{state}" for state in sorted(states))
                for name, states in self.undecidable.items()
            ),
        )


def undecidable_states(automaton: Automaton, known: Mapping[str, bool] | None = None) -> frozenset[int]:
    """The states that can be reached and from which no verdict can be, if inputs that are `known` keep their value."""
    following = [automaton.possible(state, known or {}) for state in automaton.states]
    reached = {0}
    stack = [0]
    while stack:
        for target in following[stack.pop()] - reached:
            reached.add(target)
            stack.append(target)
    decided = [state for state in automaton.states if automaton.verdicts[state] is not None]
    return frozenset(reached - reaching([tuple(each) for each in following], decided))


def monitorable(automaton: Automaton, known: Mapping[str, bool] | None = None) -> bool:
    """Can a verdict be reached from every state that can be reached?"""
    return not undecidable_states(automaton, known)


def monitorability(specification: Specification, known: Mapping[str, bool] | None = None) -> Monitorability:
    """The test for a specification; `known` are propositions that keep their value."""
    values = known or {}
    found = {
        name: undecidable_states(
            monitor.automaton, {each: values[each] for each in monitor.propositions if each in values}
        )
        for name, monitor in specification.monitors.items()
    }
    return Monitorability(
        cycles(dependencies(specification)), {name: states for name, states in found.items() if states}
    )


def depths(specification: Specification) -> Mapping[str, float]:
    """How many rounds a verdict of each monitor takes at least: 1 if it depends on none, one more than those that it
    depends on, and infinity if it is not monitorable or depends on itself."""
    graph = dependencies(specification)
    found: dict[str, float] = {}
    for name in dependencies_first(graph):
        inner = max((found.get(each, math.inf) for each in graph[name]), default=0.0)
        found[name] = 1 + inner if monitorable(specification.monitors[name].automaton) else math.inf
    return {name: found[name] for name in specification.monitors}
