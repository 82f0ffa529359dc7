"""Stage 3: how much a monitor has done, in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mopsus.monitor.plan import Plan


@dataclass(frozen=True, slots=True)
class Stats:
    """What a monitor has done so far."""

    events: int = 0
    """Events taken."""
    ignored: int = 0
    """Rows of traces whose event the spec does not declare."""
    created: int = 0
    alive: int = 0
    collected: int = 0
    """Instances created; those that can still report; those that cannot, and were dropped."""
    most: int = 0
    """Instances that there were at a time, at the most; under `perthread`, in one thread."""
    fallen: Mapping[str, int] = field(default_factory=dict)
    """Of the collected, by event: those that it took, without a report, to where nothing can be reported any more."""
    verdicts: Mapping[str, int] = field(default_factory=dict)
    """By category."""
    bad_rows: int = 0
    faults: int = 0
    """Errors in handlers, actions, conditions and callbacks; `Monitor.faults` says which."""
    seen: Mapping[str, int] = field(default_factory=dict)
    """By event."""
    occurred: Mapping[str, int] = field(default_factory=dict)
    """By event, the same, but 0 if its condition was asked and has never held: then it is none of the spec's."""
    bytes: int = 0
    """Memory of the core's own for values, instances and indexes."""
    obligations: int = 0
    """Of formulas with data: the largest number of obligations that an instance had at a time."""


def count_verdicts(core: Mapping[str, Any], plan: Plan, before: Mapping[str, int]) -> dict[str, int]:
    """By category: those that the core has counted, and those before it was restored."""
    counts = Counter(before)
    for prop, category, count in core["reported"]:
        counts[plan.categories[prop][category]] += count
    return dict(counts)
