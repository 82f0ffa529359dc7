"""Stage 4: several logs of one run as one, by the times of their events.

It matters only to specs that hear of several components at once. An event without a time comes right after the one
before it in its log, so logs without times are read one after the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import islice

from mopsus.events.component.log.events import EventReader
from mopsus.events.component.log.read import read_blocks
from mopsus.events.component.occurrence import Occurrence
from mopsus.events.trace.sources import Source

BLOCK = 1000


@dataclass(frozen=True, slots=True)
class MergedBlock:
    """Some events, each with the milliseconds by which it says it is delayed."""

    events: list[tuple[Occurrence, int]]


def merged_blocks(
    sources: Sequence[Source], reader: EventReader, note: Callable[[int], None]
) -> Generator[MergedBlock, None, None]:
    """The events of some logs by time. `note` hears how many bytes were read."""
    streams = [_timed(source, reader.sibling(), note) for source in sources]
    events = ((occurrence, delay) for _, occurrence, delay in merge(*streams, key=lambda event: event[0]))
    while block := list(islice(events, BLOCK)):
        yield MergedBlock(block)


def _timed(source: Source, reader: EventReader, note: Callable[[int], None]) -> Iterator[tuple[float, Occurrence, int]]:
    time = -math.inf
    for block in read_blocks([source], note):
        if block.begins:
            reader.begin(block)
        for occurrence, delay in reader.events(block):
            time = time if occurrence.time is None else occurrence.time
            yield time, occurrence, delay
    reader.finish()
