"""What a worker of a distributed test run tells its controller."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mopsus.model import Diagnostic, Fault, Unseen, Verdict


@dataclass(frozen=True, slots=True)
class Seen:
    """Verdicts of one finding at one time: some of them in full, and how many there were in all."""

    examples: tuple[Verdict, ...]
    count: int
    late: str | None = None
    """The test to which it belongs, if it came when that was not running; empty: to none."""


@dataclass(frozen=True, slots=True)
class Caused:
    """What goes with the report of a test."""

    seen: tuple[Seen, ...]


@dataclass(frozen=True, slots=True)
class Finished:
    """What belongs to no report."""

    seen: tuple[Seen, ...] = ()
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """By spec, what was counted."""
    fallen: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """By spec, how many slices each event took to where nothing can be reported."""
    faults: tuple[Fault, ...] = ()
    unseen: tuple[Unseen, ...] = ()
    unwatched: int = 0
    """How many Python processes were started that nobody watched."""
    suppressed: int = 0
    warnings: tuple[Diagnostic, ...] = ()
