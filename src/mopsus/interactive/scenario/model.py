"""A scenario as plain data: variables that it begins with, and reactions in the order of writing."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from enum import StrEnum

from mopsus.model import Acceptance, Code, Diagnostic, Span
from mopsus.model.guarded import INITIAL
from mopsus.spec.diagnostics import suggest


class Moment(StrEnum):
    """A transition leaves the state that it starts from, then enters the one that it leads to, be it the same."""

    ENTERING = "entering"
    LEAVING = "leaving"


class Sort(StrEnum):
    """The states that a reaction is about: one by name, or all of a sort."""

    NAMED = "state"
    ACCEPTING = "accepting"
    NON_ACCEPTING = "non-accepting"
    INITIAL = "initial"


@dataclass(frozen=True, slots=True)
class Reaction:
    """What to do when a state is entered or left. `state` is the name of a state of sort `NAMED`."""

    moment: Moment
    sort: Sort
    code: Code
    state: str = ""
    span: Span | None = field(default=None, compare=False)
    """Of what names the states."""

    def concerns(self, state: str, acceptance: Acceptance) -> bool:
        """Is it about this state?"""
        match self.sort:
            case Sort.NAMED:
                return state == self.state
            case Sort.INITIAL:
                return state == INITIAL
        return acceptance == self.sort.value


@dataclass(frozen=True, slots=True)
class Scenario:
    """All of a scenario file. Without reactions nothing ever stops the program."""

    file: str
    initialization: Code | None = None
    reactions: tuple[Reaction, ...] = ()

    def heeds(self, moment: Moment, state: str, acceptance: Acceptance) -> bool:
        """Is there a reaction to entering, or leaving, this state?"""
        return any(each.moment is moment and each.concerns(state, acceptance) for each in self.reactions)

    def unknown_states(self, states: Collection[str]) -> tuple[Diagnostic, ...]:
        """A warning for each reaction to a state that a property with these states does not have."""
        found = []
        for reaction in self.reactions:
            if reaction.sort is Sort.NAMED and reaction.state not in states:
                near = suggest(reaction.state, states)
                hint = f"did you mean '{near}'?" if near else f"there is: {', '.join(sorted(states))}"
                message = f"the property has no state '{reaction.state}', so this reaction never runs"
                found.append(Diagnostic("DEBUG-020", message, reaction.span, hint, warning=True))
        return tuple(found)
