"""What is raised when a decentralized specification, a system or a trace is wrong."""

from __future__ import annotations

import linecache

from mopsus.model import Diagnostic, MopsusError, Span
from mopsus.spec.diagnostics import render_all


class DecentralError(MopsusError):
    """A specification, a system or a trace cannot be used; `place` is where in its file, as far as that is known."""

    code = "DECENTRAL-001"

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        code: str | None = None,
        place: Span | None = None,
        line: str | None = None,
    ) -> None:
        chosen = code or self.code
        if line is None:  # the text is not at hand, but its file may be
            line = "" if place is None else linecache.getline(place.file, place.line).rstrip("\n")
        found = () if place is None else (Diagnostic(chosen, message, place, hint, line),)
        super().__init__(message, hint=hint, code=chosen, diagnostics=found)
        self.place = place

    def __str__(self) -> str:
        return render_all(self.diagnostics) if self.diagnostics else super().__str__()
