"""Stage 4: the errors of logs of components, by code, with what each means."""

from __future__ import annotations

from mopsus.model import MopsusError, TraceError

MESSAGES = {
    "LOG-001": "A line of a log of components is no event: its text is not of the format, or a value in it has no "
    "meaning. The place and what was expected are in the message.",
    "LOG-002": "A value cannot be written to a log in this format.",
    "LOG-003": "A format string does not say where in a line the message stands.",
    "LOG-005": "A log was replaced or truncated while it was followed. Reading goes on at its new beginning.",
    "LOG-006": "Events of some components reached no monitor, because these components did not become known, or were "
    "over.",
    "LOG-007": "Logs have lines, but none of them has an event.",
    "LOG-008": "Whoever told events over a socket was gone in the midst of a line, which is left out.",
}


class LogError(TraceError):
    """A line of a log cannot be used. Everything before it has been processed."""

    code = "LOG-001"

    def __init__(self, message: str, *, file: str, line: int, column: int, hint: str = "") -> None:
        MopsusError.__init__(self, f"{file}:{line}:{column}: {message}", hint=hint)
        self.reason = message
        self.file = file
        self.row = line
        self.column = str(column)


class BadLineError(Exception):
    """What is wrong with a line, at which character of it, from 0; whoever reads the file knows the rest."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


class UnwritableError(MopsusError):
    """A value has no form in a log."""

    code = "LOG-002"
