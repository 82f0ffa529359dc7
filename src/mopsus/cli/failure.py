"""How a command that cannot do its work says so."""

from __future__ import annotations

from mopsus.model import MopsusError


def render_error(error: MopsusError) -> str:
    """An error of ours as the user sees it: every diagnostic it carries, else its message and hint."""
    if error.diagnostics:
        from mopsus.spec import render_diagnostic

        return "\n\n".join(render_diagnostic(diagnostic) for diagnostic in error.diagnostics)
    text = f"error[{error.code}]: {error.message}"
    return f"{text}\n   | {error.hint}" if error.hint else text


def render_bug(error: Exception) -> str:
    """An error that is not the user's: short, and how to get what a report of it needs."""
    return (
        f"mopsus: internal error: {type(error).__name__}: {error}\n"
        "This is a fault in Mopsus. Run the command again with MOPSUS_DEBUG=1 set, and report what it prints."
    )
