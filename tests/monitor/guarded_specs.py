"""Specs with guarded machines, built by hand."""

from __future__ import annotations

from mopsus.logics import CompiledSpec
from mopsus.model import Acceptance, Code, Event, GuardedMachine, Parameter, Property, Severity, Spec
from mopsus.model.guarded import End, State, Transition


def guarded(
    states: tuple[State, ...],
    events: tuple[Event, ...],
    parameters: tuple[str, ...] = (),
    *,
    initialization: str | None = None,
    variables: tuple[str, ...] = (),
    goal: frozenset[str] | None = None,
) -> CompiledSpec:
    """A spec of one property, which reports its non-accepting states unless told otherwise."""
    bad = frozenset(state.name for state in states if state.acceptance is Acceptance.NON_ACCEPTING)
    reported = bad if goal is None else goal
    machine = GuardedMachine(
        alphabet=tuple(event.name for event in events),
        goal=reported,
        creation=frozenset(event.name for event in events),
        enable={},
        coenable={},
        states=states,
        initialization=None if initialization is None else Code(initialization),
        variables=variables,
        values={event.name: event.names for event in events},
    )
    spec = Spec(
        "Guarded",
        tuple(map(Parameter, parameters)),
        events=events,
        properties=(Property("guarded", "fsm", ""),),
    )
    severities = {("guarded", state): Severity.ERROR if state in bad else Severity.NOTE for state in reported}
    return CompiledSpec(spec, (machine,), severities)


def when(event: str, guard: str | None = None, success: End | None = None, failure: End | None = None) -> Transition:
    """A transition whose guard is given as text."""
    return Transition(event, None if guard is None else Code(guard), success, failure)


def to(target: str | None = None, block: str | None = None, action: str | None = None) -> End:
    """An end whose block is given as text."""
    return End(None if block is None else Code(block), action, target)
