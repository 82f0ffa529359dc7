"""Timestamps at which nobody observes anything: an automaton does not move then.

A monitor that sees one component cannot know what the others do, so that each one moves is an input of its own. The
automaton stays where it is if all of them are false.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from mopsus.decentral.algorithms.algorithm import Algorithm, Option, Task
from mopsus.decentral.automaton import Automaton
from mopsus.decentral.traces import Event

PAUSES: Mapping[str, Option] = {"pauses": False}
"""The option of algorithms that can do so: may there be such a timestamp?"""


def moves(component: str) -> str:
    """The input that says whether a component observes anything at a timestamp; no proposition is called like that."""
    return f"{component} moves"


def moving(task: Task) -> Automaton:
    """The automaton of a specification that no reference divides, with pauses if the task has some."""
    automaton = task.whole().automaton
    return with_pauses(automaton, task.system.components) if task.options["pauses"] else automaton


def with_pauses(automaton: Automaton, components: Iterable[str]) -> Automaton:
    """The automaton that does not move when no component does. Whether they do comes first among its inputs."""
    extra = tuple(moves(component) for component in components)
    first = len(extra) * len(automaton.verdicts)  # nodes before those of the automaton

    def moved(place: int) -> int:
        return place + first if place >= 0 else place

    nodes: list[tuple[int, int, int]] = []
    roots: list[int] = []
    for state, verdict in enumerate(automaton.verdicts):
        place = ~state
        for level in reversed(range(len(extra))):
            nodes.append((level, place, moved(automaton.roots[state])))
            place = len(nodes) - 1
        roots.append(place if verdict is None else ~state)
    nodes += [(level + len(extra), moved(low), moved(high)) for level, low, high in automaton.nodes]
    return Automaton(extra + automaton.inputs, automaton.verdicts, tuple(nodes), tuple(roots))


def has_pauses(traces: Mapping[str, Sequence[Event]]) -> bool:
    """Is there a timestamp at which some component observes nothing? Whether all do, nobody can tell while one of their
    monitors is down."""
    return not all(map(all, traces.values()))


def options_for(algorithm: Algorithm, given: Mapping[str, Option], pauses: bool) -> Mapping[str, Option]:
    """The options of an algorithm for traces that have pauses or not; what was given counts."""
    return {**dict.fromkeys(PAUSES, True), **given} if pauses and PAUSES.keys() <= algorithm.defaults.keys() else given
