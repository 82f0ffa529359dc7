"""A run: a source of events, the monitors of some specs, sinks for their verdicts, and one result.

The names below are loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mopsus.late import late_names

if TYPE_CHECKING:
    from mopsus.model import RunResult
    from mopsus.run.messages import MESSAGES, RunError
    from mopsus.run.policy import OnFault
    from mopsus.run.run import Run, RunOptions
    from mopsus.run.sink import Report, Sink, Sinks
    from mopsus.run.source import Source, SourceKind, load_source, source_names
    from mopsus.run.specs import load_specs

__all__ = [
    "MESSAGES",
    "OnFault",
    "Report",
    "Run",
    "RunError",
    "RunOptions",
    "RunResult",
    "Sink",
    "Sinks",
    "Source",
    "SourceKind",
    "load_source",
    "load_specs",
    "source_names",
]

if not TYPE_CHECKING:  # a type checker must see the names above, and no others
    __getattr__, __dir__ = late_names(
        __name__,
        {
            "messages": "MESSAGES RunError",
            "policy": "OnFault",
            "run": "Run RunOptions RunResult",
            "sink": "Report Sink Sinks",
            "source": "Source SourceKind load_source source_names",
            "specs": "load_specs",
        },
    )
