"""What became of a debugging session, as plain data, for the way out of the process of a debugger."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from mopsus.model import Fault, Verdict
from mopsus.verdict.wire import pack_verdict, unpack_verdict

INTERRUPTION = "interrupted"
"""The reason of a stop that somebody asked for who does not sit at the prompt."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Where and why the program was stopped for good: by a scenario or verdict, a signal, or the developer's own
    point."""

    reason: str
    location: str | None
    backtrace: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of all monitors of a session."""

    verdicts: tuple[Verdict, ...] = ()
    stats: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By spec: the fields of `mopsus.monitor.Stats`."""
    status: int | None = None
    """Of the program, as its parent sees it (a signal's number negated); None: it was still there."""
    stop: Stop | None = None
    error: str | None = None
    """Why the session could not go on, if it could not."""
    warnings: Sequence[str] = ()
    faults: tuple[Fault, ...] = ()
    """Errors in the code of properties, scenarios and callbacks."""

    def to_json(self) -> str:
        return json.dumps(
            {
                "verdicts": [pack_verdict(verdict) for verdict in self.verdicts],
                "stats": {spec: dict(stats) for spec, stats in self.stats.items()},
                "status": self.status,
                "stop": self.stop and [self.stop.reason, self.stop.location, list(self.stop.backtrace)],
                "error": self.error,
                "warnings": list(self.warnings),
                "faults": [asdict(fault) for fault in self.faults],
            },
            default=repr,  # bytes
        )

    @classmethod
    def from_json(cls, text: str) -> Outcome:
        data = json.loads(text)
        stop = data["stop"]
        return cls(
            tuple(map(unpack_verdict, data["verdicts"])),
            data["stats"],
            data["status"],
            stop and Stop(stop[0], stop[1], tuple(stop[2])),
            data["error"],
            data["warnings"],
            tuple(Fault(**fault) for fault in data["faults"]),
        )
