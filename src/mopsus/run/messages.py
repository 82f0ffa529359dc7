"""The errors of runs, by code, with what each means."""

from __future__ import annotations

from mopsus.model import MopsusError

MESSAGES = {
    "RUN-001": "There is no source of events of that name, built in or installed.",
    "RUN-002": "An installed source of events cannot be loaded, or is not a `mopsus.run.SourceKind`.",
}


class RunError(MopsusError):
    """A run cannot be what it was asked to be."""

    code = "RUN-001"
