"""The memory that we share with the agent in the program: the same as `cpp/agent/agent.hpp`."""

from __future__ import annotations

import ctypes
from enum import IntEnum
from typing import ClassVar

from mopsus.interactive.arithmetic import INSTRUCTION, MOST_VARIABLES

MOST_VALUES = 4
"""Of an event."""
MOST_EVENTS = 4
"""Of a function, when it is entered or when it returns."""
MOST_KEPT = 8
"""Values of a function's returns that are read when it is entered."""
MOST_WORDS = MOST_VARIABLES + 1
"""Of the variables of an instance: which of them have a value is one."""
MOST_SITES = 256
STUB = 16
"""Bytes between where the hooks of two sites lead to."""
ENTRIES = 1
RETURNS = 2
"""What the agent looks at, of a site."""


class Base(IntEnum):
    """Where a value is."""

    ARGUMENT = 0
    RESULT = 1
    FIXED = 2


class Reason(IntEnum):
    """Why the gate is called."""

    HANDLE = 0
    FULL = 1
    CROWDED = 2


class MonitorLayout(ctypes.Structure):
    _fields_: ClassVar = [
        (name, ctypes.c_uint64)
        for name in ("cells", "keys", "rows", "mask", "used", "noted", "code", "words", "variables", "beginning")
    ]


class SourceLayout(ctypes.Structure):
    _fields_: ClassVar = [
        *((name, ctypes.c_uint8) for name in ("base", "index", "follow", "width", "is_signed")),
        ("unused", ctypes.c_uint8 * 3),
        ("address", ctypes.c_uint64),
    ]


class EventLayout(ctypes.Structure):
    _fields_: ClassVar = [
        ("monitor", ctypes.c_uint64),
        *((name, ctypes.c_uint32) for name in ("letter", "keyed", "values", "number")),
        ("passed", ctypes.c_uint64),
        ("sources", SourceLayout * MOST_VALUES),
    ]


class SiteLayout(ctypes.Structure):
    _fields_: ClassVar = [
        ("entry", ctypes.c_uint64),
        ("copy", ctypes.c_uint64),
        ("original", ctypes.c_uint8 * 8),
        ("jump", ctypes.c_uint8 * 8),
        *((name, ctypes.c_uint32) for name in ("events", "returns", "placed", "looks")),
        *((name, ctypes.c_uint64) for name in ("first", "generation", "calls")),
    ]


class RecordLayout(ctypes.Structure):
    _fields_: ClassVar = [
        ("event", ctypes.c_uint64),
        ("caller", ctypes.c_uint64),
        ("time", ctypes.c_uint64),
        ("values", ctypes.c_uint64 * MOST_VALUES),
    ]


class StopLayout(ctypes.Structure):
    _fields_: ClassVar = [
        ("reason", ctypes.c_uint64),
        ("site", ctypes.c_uint32),
        ("returning", ctypes.c_uint32),
        *((name, ctypes.c_uint64) for name in ("frame", "stuck", "unreadable")),
        ("values", ctypes.c_uint64 * MOST_VALUES * MOST_EVENTS),
    ]


class LogLayout(ctypes.Structure):
    """The head of the log; records follow."""

    _fields_: ClassVar = [(name, ctypes.c_uint64) for name in ("used", "capacity", "changes", "committing", "width")]


class ChangeLayout(ctypes.Structure):
    _fields_: ClassVar = [
        *((name, ctypes.c_uint64) for name in ("monitor", "at", "key", "used")),
        *((name, ctypes.c_uint32) for name in ("row", "keyed")),
        ("variables", ctypes.c_uint64 * MOST_WORDS),
    ]


class JournalLayout(ctypes.Structure):
    _fields_: ClassVar = [
        *((name, ctypes.c_uint64) for name in ("seen", "used", "count")),
        ("changes", ChangeLayout * MOST_EVENTS),
    ]


class CallLayout(ctypes.Structure):
    """In the frame of a hook that waits for the return."""

    _fields_: ClassVar = [
        ("arguments", ctypes.c_uint64 * 6),
        ("results", ctypes.c_uint64 * 2),
        *((name, ctypes.c_uint64) for name in ("generation", "unreadable")),
        ("kept", ctypes.c_uint64 * MOST_KEPT),
        *((name, ctypes.c_uint64) for name in ("frame_pointer", "site", "caller")),
    ]


class AgentLayout(ctypes.Structure):
    _fields_: ClassVar = [
        *((name, ctypes.c_uint64) for name in ("alive", "log", "process", "owner", "stack", "turns")),
        ("journal", JournalLayout),
        ("sites", SiteLayout * MOST_SITES),
    ]


SIZES = [
    *(
        ctypes.sizeof(layout)
        for layout in (
            *(MonitorLayout, SourceLayout, EventLayout, SiteLayout, RecordLayout),
            *(StopLayout, LogLayout, ChangeLayout, JournalLayout, AgentLayout),
        )
    ),
    INSTRUCTION.size,
]
"""As `mopsus_agent_layout` has them."""
