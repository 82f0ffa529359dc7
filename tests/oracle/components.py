"""Events of components from lines of logs, as formulas with data are given them."""

from __future__ import annotations

import re

from mopsus.events.component.log.text import parse_line
from mopsus.events.component.occurrence import Function, Kind, Occurrence
from mopsus.logics.hml.matching import Happening

COMPONENTS = {"W": "<0.20.0>", "C": "<0.30.0>", "D": "<0.31.0>", "L": "<0.10.0>"}
"""The letters that the golden vectors write for identifiers."""


def occurrence(line: str) -> Occurrence:
    """The event of a line in which letters stand for components."""
    parsed = parse_line(re.sub(r"\b[WCDL]\b", lambda found: COMPONENTS[found[0]], line))
    assert parsed is not None
    return parsed[0]


def happening(each: Occurrence) -> Happening:
    """The same as an event of an `.hml` specification: its name and the values of its fields."""
    match each:
        case Occurrence(Kind.FORK, subject, child, Function() as function):
            return "fork", (subject, child, function.module, function.name, function.listed())
        case Occurrence(Kind.INIT, subject, parent, Function() as function):
            return "init", (parent, subject, function.module, function.name, function.listed())
        case Occurrence(Kind.EXIT, subject, _, reason):
            return "exit", (subject, reason)
        case Occurrence(Kind.SEND, subject, receiver, message):
            return "send", (subject, receiver, message)
        case Occurrence(Kind.RECV, subject, _, message):
            return "recv", (subject, message)
    raise AssertionError(each)


def start(module: str, function: str, *arguments: object) -> Happening:
    """The event with which a component becomes known."""
    return "start", (module, function, [*arguments])
