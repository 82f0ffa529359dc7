"""What a run does when something goes wrong: small, because every command line is read with it."""

from __future__ import annotations

from enum import StrEnum


class OnFault(StrEnum):
    """What to do when code of a spec raises an error."""

    IGNORE = "ignore"
    REPORT = "report"
    STOP = "stop"
