"""Stage 0: what every error of ours has: a stable code, a place, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a source text; lines and columns count from 1, the end is exclusive."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding about an input.

    `code` is stable and listed in the messages page. `source` is the text of the line
    that `span` starts on, kept so that a diagnostic can be rendered after its file is gone.
    """

    code: str
    message: str
    span: Span | None = None
    hint: str = ""
    source: str = ""
    warning: bool = False


class MopsusError(Exception):
    """Base of every error that Mopsus raises on purpose.

    `code` names the message in the reference page; `hint` says what to do.
    """

    code = "MOPSUS-000"

    def __init__(
        self, message: str, *, hint: str = "", code: str | None = None, diagnostics: tuple[Diagnostic, ...] = ()
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.diagnostics = diagnostics
        if code is not None:
            self.code = code
