"""What holds for every error that an input may lead to."""

from __future__ import annotations

from mopsus.model import MopsusError


def check_error(error: MopsusError, text: str | None = None) -> None:
    """It can be shown, and speaks of lines that are there in the text, if that is given."""
    assert str(error)
    assert error.message
    if text is not None:
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        assert all(found.span is None or 1 <= found.span.line <= len(lines) for found in error.diagnostics)
