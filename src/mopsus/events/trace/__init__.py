"""Stage 4: recorded events: files, streams and growing logs as batches for monitors."""

from mopsus.events.feeding import Progress
from mopsus.events.trace.checking import check, watch
from mopsus.events.trace.lines import find_lines
from mopsus.events.trace.messages import MESSAGES
from mopsus.events.trace.needs import needs_of
from mopsus.events.trace.read import TraceReader
from mopsus.events.trace.sources import Format, Source, expand

__all__ = [
    "MESSAGES",
    "Format",
    "Progress",
    "Source",
    "TraceReader",
    "check",
    "expand",
    "find_lines",
    "needs_of",
    "watch",
]
