"""What monitors say, straight from the definitions: one automaton on a whole trace, and references by recursion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from mopsus.decentral.automaton import Automaton
from mopsus.decentral.specification import Specification
from mopsus.decentral.traces import Event

Trace: TypeAlias = "Sequence[Mapping[str, Event]]"
"""For each timestamp, from 1 on, the event of each component; an empty one: no step."""


def whole(events: Mapping[str, Event]) -> Event:
    """What all components observe together."""
    return {name: value for event in events.values() for name, value in event.items()}


def run_centralized(automaton: Automaton, trace: Trace) -> tuple[bool | None, int]:
    """The verdict of an automaton that sees everything, and the timestamp at which it is known (0: before the first,
    and the length of the trace if it is not known).

    It moves at the timestamps at which some component observes something. What another one could have observed there,
    and did not, may be true or false."""
    states = frozenset({0})
    for timestamp, events in enumerate(trace):
        if (verdict := _agreed(automaton, states)) is not None:
            return verdict, timestamp
        event = whole(events)
        if event:
            states = frozenset[int]().union(*(automaton.possible(state, event) for state in states))
    return _agreed(automaton, states), len(trace)


def _agreed(automaton: Automaton, states: frozenset[int]) -> bool | None:
    """The verdict of all these states; None if it is not the same, or they have none."""
    verdicts = {automaton.verdicts[state] for state in states}
    return verdicts.pop() if len(verdicts) == 1 else None


def run_decentralized(
    specification: Specification, trace: Trace, places: Mapping[str, str]
) -> Mapping[tuple[str, int], bool | None]:
    """For each monitor and each timestamp from 1 on, the verdict of the monitor started there.

    A reference at a timestamp is the verdict of the other monitor started there, if it reaches one on the rest of the
    trace. One that does not is unknown: any state that its values lead to may be the next. Where monitors depend on
    each other, this is the least solution: answers are only what follows from observations.
    A monitor that has no place sees the events of all components.
    """
    answers: dict[tuple[str, int], bool | None] = {
        (name, start): None for name in specification.monitors for start in range(1, len(trace) + 1)
    }
    while True:
        after = {(name, start): _verdict(specification, name, start, trace, places, answers) for name, start in answers}
        if after == answers:
            return answers
        answers = after


def _verdict(
    specification: Specification,
    name: str,
    start: int,
    trace: Trace,
    places: Mapping[str, str],
    answers: Mapping[tuple[str, int], bool | None],
) -> bool | None:
    monitor = specification.monitors[name]
    automaton = monitor.automaton
    states = frozenset({0})
    for timestamp in range(start, len(trace) + 1):
        events = trace[timestamp - 1]
        event = events.get(places[name], {}) if name in places else whole(events)
        if event:
            known = {each: event[each] for each in monitor.propositions if each in event}
            for each in monitor.dependencies:
                if (answer := answers[each, timestamp]) is not None:
                    known[each] = answer
            states = frozenset[int]().union(*(automaton.possible(state, known) for state in states))
    return _agreed(automaton, states)
