"""The errors of the command line itself, by code, with what each means."""

from __future__ import annotations

from collections.abc import Iterable

from mopsus.model import MopsusError

MESSAGES = {
    "CLI-001": "A file named on the command line cannot be read or written.",
    "CLI-002": "There is no command, spec or property of that name, or the choice between several is open.",
    "CLI-003": "A picture cannot be drawn: Graphviz is missing or failed, or the form was not recognised.",
    "CLI-004": "The example files of the demonstration are missing, or one of its commands failed.",
    "CLI-005": "Options were given that exclude each other, or whose value is not understood.",
    "CLI-006": "Python processes that a program or a test started were not watched.",
}


class CommandError(MopsusError):
    """A command cannot do what it was asked to."""

    code = "CLI-001"


def unknown(what: str, name: str, known: Iterable[str]) -> CommandError:
    """The error for a name that is not among the known ones, with the nearest or all of them as its hint."""
    from mopsus.spec.diagnostics import suggest

    names = list(known)
    near = suggest(name, names)
    hint = f"did you mean '{near}'?" if near else f"there is: {', '.join(names)}"
    return CommandError(f"unknown {what} '{name}'", hint=hint, code="CLI-002")
