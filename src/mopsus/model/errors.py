"""Stage 0: what every error of ours has: a stable code, a place, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass

UNDECODABLE = (ValueError, RecursionError)
"""What decoders of JSON, MessagePack and TOML raise over data that is none, is no text, or is nested too deeply."""


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


class TraceError(MopsusError):
    """A recorded trace cannot be read on: which file, which row of it and which column, as far as known.

    Rows count from 1 and the header of a CSV file is not one. Everything before `row` has been processed.
    """

    code = "TRACE-001"

    def __init__(
        self,
        message: str,
        *,
        file: str = "",
        row: int | None = None,
        column: str | None = None,
        hint: str = "",
        code: str | None = None,
    ) -> None:
        place = ", ".join(part for part in (file, f"row {row}" if row is not None else "") if part)
        super().__init__(f"{place}: {message}" if place else message, hint=hint, code=code)
        self.reason = message
        self.file = file
        self.row = row
        self.column = column
