"""The errors of debugging sessions, by code, with what each means."""

from __future__ import annotations

from mopsus.interactive.debugger import DebuggerError

MESSAGES = {
    "DEBUG-001": "The debugger cannot do what it was asked.",
    "DEBUG-002": "The program has no such function, line or variable.",
    "DEBUG-003": "The program cannot be saved, or not be brought back, as it is now.",
    "DEBUG-004": "There is no such program, or no debugger that could debug it.",
    "DEBUG-005": "There is no such debugger, or an installed one cannot be loaded.",
    "DEBUG-006": "Something that a debugging session could not do as asked, though it went on.",
    "DEBUG-007": "The code of a scenario calls one of its functions in a way that makes no sense.",
    "DEBUG-008": "A `verde` command is not known, or was given what it does not take.",
    "DEBUG-009": "There is no such monitor, slice, state or variable.",
    "DEBUG-010": "There is no GDB.",
    "DEBUG-011": "An editor asked for something that makes no sense, or not now.",
    "DEBUG-012": "The live view cannot be shown.",
    "DEBUG-013": "The debugger ended before it could say what became of the program.",
    "DEBUG-020": "A reaction of a scenario names a state that the property does not have, so it never runs.",
}


class ScenarioError(DebuggerError):
    """A scenario calls one of its functions in a way that makes no sense."""

    code = "DEBUG-007"


class CommandError(DebuggerError):
    """There is no such command, or it does not take that."""

    code = "DEBUG-008"


class MonitorError(DebuggerError):
    """There is no such monitor, slice, state or variable."""

    code = "DEBUG-009"


class ViewError(DebuggerError):
    """The live view cannot be shown; the session goes on without."""

    code = "DEBUG-012"
