"""Stage 3: the engine: parametric monitors over the native core."""

from mopsus.monitor.instance import Instance
from mopsus.monitor.messages import MESSAGES
from mopsus.monitor.monitor import Monitor, MonitorError, Stats

__all__ = ["MESSAGES", "Instance", "Monitor", "MonitorError", "Stats"]
