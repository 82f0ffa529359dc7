"""Stage 0: what a run could not see, or never saw, and how that is taken.

"Nothing found" must not look like "nothing seen".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from mopsus.model.errors import Span
from mopsus.model.spec import Spec


@dataclass(frozen=True, slots=True)
class Unseen:
    """An event of a spec, or all of them, that a run could not see, or never saw.

    What is not `possible` could not have occurred in these inputs or in this program, whatever happened. Anything else
    could have, but never did.
    """

    spec: str
    event: str | None = None
    """None: none of the spec's events."""
    possible: bool = True
    reason: str = ""
    """What was found instead."""
    hint: str = ""
    span: Span | None = None
    elsewhere: str = ""
    """Where events of the spec may have occurred that nobody looked at: `2 child processes`."""
    lost: bool = False
    """Did it occur, and was left out? Others may have been seen: they do not make up for it."""

    @property
    def message(self) -> str:
        """A sentence: which spec, which event, and why."""
        if self.elsewhere:
            return f"spec {self.spec}: what happened in {self.elsewhere} was not seen"
        if self.event is None:
            told = "none of its events " + ("ever occurred" if self.possible else "can be seen")
        else:
            told = f"event `{self.event}` " + ("never occurred" if self.possible else "cannot be seen")
        return f"spec {self.spec}: {told}{f': {self.reason}' if self.reason else ''}"


def by_spec(unseen: Iterable[Unseen], specs: Iterable[Spec]) -> list[Unseen]:
    """The same events, but of a spec none of whose events was seen it is said once."""
    listed = [*unseen]
    found: list[Unseen] = []
    for spec in specs:
        own = [each for each in listed if each.spec == spec.name]
        impossible = [each for each in own if not each.possible]
        if not own or len(own) < len(spec.events):
            found += own
            continue
        possible = len(impossible) < len(own)
        about = [each for each in own if each.possible] if possible else own
        reason = "; ".join(dict.fromkeys(each.reason for each in about if each.reason))
        hint = next((each.hint for each in about if each.hint), "")
        found.append(Unseen(spec.name, possible=possible, reason=reason, hint=hint, span=spec.span))
        found += impossible if possible else ()
    return found


class Occurrences(Protocol):
    """What a monitor has counted of the events of its spec."""

    @property
    def seen(self) -> Mapping[str, int]:
        """How often each came."""

    @property
    def occurred(self) -> Mapping[str, int]:
        """The same, but 0 if its condition was asked and never held."""


def with_conditions(unseen: Iterable[Unseen], counts: Mapping[str, Occurrences]) -> list[Unseen]:
    """The same, but of events that came and whose condition never held, that is said. `counts` are by spec.

    For a single event it is a hint and no reason, as a reason is worth a warning: many a condition is there for what
    should never happen.
    """
    return [_with_condition(each, counts[each.spec]) if each.spec in counts else each for each in unseen]


def _with_condition(unseen: Unseen, counts: Occurrences) -> Unseen:
    unheld = [event for event, count in counts.seen.items() if count and not counts.occurred.get(event)]
    if not unheld or not unseen.possible or unseen.elsewhere:
        return unseen
    if unseen.event is None:
        events = " and of ".join(f"`{event}`" for event in unheld)
        return replace(unseen, reason=f"the condition of {events} never held", hint="")
    if unseen.event not in unheld:
        return unseen
    return replace(
        unseen, hint=f"what came of it ({counts.seen[unseen.event]:,}) was left out: its condition never held"
    )


@dataclass(frozen=True, slots=True)
class Silence:
    """How a run takes what it did not see.

    What cannot occur is refused. So is, in a recorded trace, a spec none of whose events occurred: it was checked
    against nothing. A program may well not do what a spec is about, which is said and no more.
    """

    recorded: bool = False
    """Are the inputs recorded, and therefore complete?"""
    strict: bool = False
    """Every event of every spec must have occurred."""
    allowed: bool = False
    """Nothing is refused."""

    def refuses(self, unseen: Unseen) -> bool:
        """Must the run fail for it?"""
        if self.allowed:
            return False
        return self.strict or not unseen.possible or (self.recorded and unseen.event is None)

    def shows(self, unseen: Unseen) -> bool:
        """Is it worth a reader's time? That some event of a spec did not occur, for no reason that is known, is not."""
        return self.refuses(unseen) or not unseen.possible or unseen.event is None or bool(unseen.reason)


LENIENT = Silence()
"""What cannot occur is refused, and nothing else."""
