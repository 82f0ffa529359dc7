"""Stage 3: the engine: parametric monitors over the native core."""

from mopsus.monitor.instance import Instance
from mopsus.monitor.messages import MESSAGES
from mopsus.monitor.monitor import ClosedError, Monitor, MonitorError, Stats, ValuesError

__all__ = ["MESSAGES", "ClosedError", "Instance", "Monitor", "MonitorError", "Stats", "ValuesError"]
