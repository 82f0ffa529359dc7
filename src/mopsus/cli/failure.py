"""How a command that cannot do its work says so."""

from __future__ import annotations

from mopsus.model import Diagnostic, MopsusError
from mopsus.spec.diagnostics import render_all


def render_error(error: MopsusError) -> str:
    """An error of ours as the user sees it: every diagnostic it carries, else its message and hint as one."""
    return render_all(error.diagnostics or (Diagnostic(error.code, error.message, hint=error.hint),))


def render_bug(error: Exception) -> str:
    """An error that is not the user's: short, and how to get what a report of it needs."""
    return (
        f"mopsus: internal error: {type(error).__name__}: {error}\n"
        "This is a fault in Mopsus. Run the command again with MOPSUS_DEBUG=1 set, and report what it prints."
    )
