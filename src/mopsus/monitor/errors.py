"""Stage 3: what a monitor raises."""

from __future__ import annotations

from mopsus import _core
from mopsus.model import MopsusError


class MonitorError(MopsusError):
    """A monitor cannot do what it was asked."""

    code = "MONITOR-002"


class ValuesError(MonitorError):
    """The values given with an event are not those of its parameters."""

    code = "MONITOR-003"


class ClosedError(MonitorError):
    """The monitor takes no events any more."""

    code = "MONITOR-007"


class LiveLimitError(MonitorError):
    """The spec had too many live monitors, and was given up."""

    code = "MONITOR-011"


_core.use_errors(closed=ClosedError, values=ValuesError, limit=LiveLimitError)
