"""What became of a debugging session, as plain data, for the way out of the process of a debugger."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from mopsus.interactive.follow import Child
from mopsus.model import Fault, Span, Unseen, Verdict
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
    unseen: Sequence[Unseen] = ()
    children: Sequence[Child] = ()
    """Processes that had sessions of their own, whose findings are among these."""

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
                "unseen": [asdict(each) for each in self.unseen],
                "children": [asdict(each) for each in self.children],
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
            tuple(Fault(**fault) for fault in data.get("faults", ())),
            tuple(map(_unseen, data.get("unseen", ()))),
            tuple(Child(**each) for each in data.get("children", ())),
        )


def _unseen(data: dict[str, Any]) -> Unseen:
    span = data.pop("span")
    return Unseen(**data, span=span and Span(**span))


def joined(program: Outcome, children: Mapping[int, Outcome]) -> Outcome:
    """The outcome of a program with those of its children, by process. What one of them has seen is seen, but what one
    of them has lost is lost."""
    found = [program, *children.values()]
    verdicts = [*program.verdicts]
    for process, outcome in children.items():
        told = f"In child process {process}."
        verdicts += [replace(each, remarks=(*each.remarks, told)) for each in outcome.verdicts]
    ends = [Child(process, each.status, each.stop.reason if each.stop else "") for process, each in children.items()]
    errors = [f"child process {process}: {each.error}" for process, each in children.items() if each.error is not None]
    unseen = set[Unseen].intersection(*({_unhinted(each) for each in outcome.unseen} for outcome in found))
    plain = {each for outcome in found for each in outcome.unseen if not each.hint}
    lost = dict.fromkeys(each for outcome in found for each in outcome.unseen if each.elsewhere or each.lost)
    return replace(
        program,
        verdicts=tuple(verdicts),
        stats={spec: _sum([each.stats[spec] for each in found if spec in each.stats]) for spec in program.stats},
        warnings=tuple(dict.fromkeys([*(text for each in found for text in each.warnings), *errors])),
        unseen=tuple(
            _unhinted(each) if _unhinted(each) in plain else each
            for each in dict.fromkeys((*program.unseen, *lost))
            if each in lost or _unhinted(each) in unseen
        ),
        children=tuple(ends),
        faults=tuple(fault for each in found for fault in each.faults),
    )


def _unhinted(unseen: Unseen) -> Unseen:
    """The same in whichever process: one may have looked for what another one had no need of."""
    return replace(unseen, hint="")


def _sum(stats: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Counts of one spec in several processes."""
    total: dict[str, Any] = {}
    for name in dict.fromkeys(name for each in stats for name in each):
        values = [each[name] for each in stats if name in each]
        total[name] = _sum(values) if isinstance(values[0], Mapping) else sum(values)
    return total
