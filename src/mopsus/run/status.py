"""What a run amounts to as an exit status: the one place that decides it."""

from __future__ import annotations

from mopsus.model import Diagnostic
from mopsus.report.summary import BROKEN, HELD, INTERRUPTED, UNUSABLE, VIOLATED, Summary


def exit_status(summary: Summary, violations: int, *, program: int | None = None, gate: bool = True) -> int:
    """Return the exit status. A report that is incomplete or could not see still shows its violations.

    If a `program` was run and ended with a status of its own, that is passed on. Without a `gate`, violations are
    reported and no more.
    """
    if program:
        return program
    if summary.interrupted:
        return INTERRUPTED
    if isinstance(summary.error, Diagnostic):
        return BROKEN
    if not summary.trusted:
        return UNUSABLE
    return VIOLATED if violations and gate else HELD
