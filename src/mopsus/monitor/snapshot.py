"""Stage 3: snapshots: the whole state of a monitor as plain data, for another process to go on with."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from mopsus import _core
from mopsus.model import Spec
from mopsus.monitor.errors import MonitorError
from mopsus.monitor.plan import Plan
from mopsus.monitor.stats import count_verdicts

_VERSION = 4


def write_snapshot(core: _core.Monitor, spec: Spec, plan: Plan, before: Mapping[str, int]) -> dict[str, Any]:
    """The state of a monitor that had reported some verdicts, by category, `before` it was restored itself."""
    try:
        items = core.snapshot()
    except ValueError as error:
        raise MonitorError(str(error), hint="snapshots are for traces", code="MONITOR-006") from error
    return {
        "version": _VERSION,
        "spec": spec.name,
        "plan": _fingerprint(spec, plan),
        "verdicts": count_verdicts(core.stats(), plan, before),
        "items": items,
    }


def read_snapshot(core: _core.Monitor, spec: Spec, plan: Plan, data: Mapping[str, Any]) -> dict[str, int]:
    """Put the state into a monitor that is new; how many verdicts had been reported, by category."""
    wrong = "the snapshot is of another version or specification"
    if not isinstance(data, Mapping):
        raise MonitorError("this is no snapshot", hint="give what `snapshot` returned", code="MONITOR-005")
    if data.get("version") != _VERSION or data.get("plan") != _fingerprint(spec, plan):
        raise MonitorError(wrong, hint="use the very spec and history it was made with", code="MONITOR-005")
    before = core.stats()
    if before["created"] or before["bad_rows"] or any(before["seen"]):
        raise MonitorError("the monitor has already seen events", hint="restore into a new one", code="MONITOR-005")
    try:
        verdicts = {str(category): _count(number) for category, number in data["verdicts"].items()}
        core.restore(data["items"])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise MonitorError(f"the snapshot is damaged: {error}", code="MONITOR-005") from error
    return verdicts


def _fingerprint(spec: Spec, plan: Plan) -> str:
    return hashlib.sha256(repr((spec.name, plan)).encode()).hexdigest()


def _count(number: object) -> int:
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        raise ValueError("a count of verdicts is none")
    return number
