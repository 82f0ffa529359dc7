"""The errors of watching components from another process, by code, with what each means."""

from __future__ import annotations

from mopsus.model import MopsusError

MESSAGES = {
    "OUTLINE-001": "There is no program of that process number that was started to be watched.",
    "OUTLINE-002": "The program is already watched by another monitor, or is not watched at all.",
    "OUTLINE-003": "The monitor process ended before the program did; what the program did since was not checked.",
    "OUTLINE-004": "Events were lost, so nothing can be said of the components that they belong to.",
    "OUTLINE-005": "Events waited for the fork of their component, which never came.",
    "OUTLINE-006": "Groups of components differ from spec to spec, so they cannot be shared among monitor processes.",
}


class OutlineError(MopsusError):
    """A program cannot be watched from outside."""

    code = "OUTLINE-001"
