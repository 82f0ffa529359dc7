"""Stage 5: patterns that stopped before they could match, without a word.

A pattern is about a whole slice, from its first event on. An event that it has no room for ends it, and nothing is
looked at any more. That is often what its author wants; but where most slices end so, the pattern was more likely meant
to be looked for anywhere in them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mopsus.model import Diagnostic

if TYPE_CHECKING:
    from mopsus.logics import CompiledSpec
    from mopsus.monitor.stats import Stats


def stopped_early(compiled: CompiledSpec, stats: Stats) -> Diagnostic | None:
    """A warning if most slices of a pattern met an event that it has no room for; None if all is well."""
    spec = compiled.spec
    reports_ends = any("match" not in machine.goal or "fail" in machine.goal for machine in compiled.machines)
    if not compiled.machines or reports_ends or spec.modifiers.suffix or 2 * stats.fallen <= stats.created:
        return None
    slices = "its only slice" if stats.created == 1 else f"{stats.fallen:,} of its {stats.created:,} slices"
    return Diagnostic(
        "VERDICT-001",
        f"spec {spec.name}: in {slices} an event came that the pattern has no room for, and all after it was ignored",
        spec.span,
        "add the modifier `suffix` if a match may begin at any event, or make room for the event; `@fail` says where",
        warning=True,
    )
