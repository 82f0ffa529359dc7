"""Stage 3: the engine: parametric monitors over the native core."""

from mopsus.monitor.checkpoint import Checkpoint
from mopsus.monitor.errors import ClosedError, MonitorError, ValuesError
from mopsus.monitor.instance import Instance
from mopsus.monitor.messages import MESSAGES
from mopsus.monitor.monitor import Monitor
from mopsus.monitor.slices import Slice, Standing
from mopsus.monitor.stats import Stats

__all__ = [
    "MESSAGES",
    "Checkpoint",
    "ClosedError",
    "Instance",
    "Monitor",
    "MonitorError",
    "Slice",
    "Standing",
    "Stats",
    "ValuesError",
]
