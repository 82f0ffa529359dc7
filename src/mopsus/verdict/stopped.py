"""Stage 5: patterns that stopped before they could match, without a word.

A pattern is about a whole slice, from its first event on. An event that it has no room for ends it, and nothing is
looked at any more. That is often what its author wants; but where most slices end so, the pattern was more likely meant
to be looked for anywhere in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mopsus.logics import mentioned_events
from mopsus.model import Diagnostic, Machine, Spec
from mopsus.model.text import listing
from mopsus.spec.program import is_end

NAMED = 3
"""How many kinds of events are named."""


def stopped_early(
    spec: Spec, machines: Iterable[Machine], created: int, fallen: Mapping[str, int]
) -> Diagnostic | None:
    """A warning if most slices of a pattern met an event that it has no room for; None if all is well.

    `created` is how many slices there were, `fallen` how many of them each event ended so. Events that are there to
    end a slice do not count: the end of an object or of the program, which nothing follows, and what no formula
    mentions, which is said when the spec is read.
    """
    goals = [machine.goal for machine in machines]
    if not goals or any("match" not in goal or "fail" in goal for goal in goals) or spec.modifiers.suffix:
        return None
    if 2 * sum(fallen.values()) <= created:
        return None
    mentioned = mentioned_events(spec)
    surprises = {
        event.name: fallen[event.name]
        for event in spec.events
        if fallen.get(event.name) and event.name in mentioned and not is_end(event.pointcut)
    }
    total = sum(surprises.values())
    if 2 * total <= created:
        return None
    slices = "its only slice" if created == 1 else f"{total:,} of its {created:,} slices"
    names = listing(sorted(surprises, key=lambda name: -surprises[name])[:NAMED])
    return Diagnostic(
        "VERDICT-001",
        f"spec {spec.name}: in {slices} {names} came where the pattern has no room for it; all after that was ignored",
        spec.span,
        "add the modifier `suffix` if a match may begin at any event, or make room for the event; `@fail` says where",
        warning=True,
    )
