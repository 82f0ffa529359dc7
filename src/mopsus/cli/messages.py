"""The errors of the command line itself, by code, with what each means."""

from __future__ import annotations

from mopsus.model import MopsusError

MESSAGES = {
    "CLI-001": "A file named on the command line cannot be read or written.",
    "CLI-002": "There is no spec or property of that name, or the choice between several is open.",
    "CLI-003": "A picture cannot be drawn: Graphviz is missing or failed, or the form was not recognised.",
    "CLI-004": "The example files of the demonstration are missing, or one of its commands failed.",
}


class CommandError(MopsusError):
    """A command cannot do what it was asked to."""

    code = "CLI-001"
