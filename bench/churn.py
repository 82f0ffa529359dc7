"""Many monitors created and collected in one run, at the same number alive at a time: memory follows those alive."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from harness import Goal, Row, in_fresh_process, memory
from online import Thing
from specs import HAS_NEXT, spec

import mopsus

LIVE = 100_000
CREATED = (100_000, 1_000_000, 10_000_000)
PAGE = 4096
MIB = 1 << 20


def rows(scale: float) -> list[Row]:
    """All rows of this benchmark."""
    live = int(LIVE * scale)
    ways = {"live objects that die": of_objects, "trace with #release rows": of_trace}
    result = []
    for way, measured in ways.items():
        first = None
        for created in (int(each * scale) for each in CREATED):
            # At a small scale a process may not grow at all: a page is the least that counts.
            grown = max(in_fresh_process(measured, created, live), PAGE) / MIB
            first = first or grown
            result.append(
                Row(
                    case=f"{way}, {created:,} created, at most {live:,} alive",
                    unit="MiB at the peak",
                    ours=grown,
                    base=None if created == live else f"{live:,} created",
                    theirs=None if created == live else first,
                    ratio=None if created == live else (grown / first,) * 3,
                    goal=None if created == live else Goal("≤", 1.25),
                )
            )
    return result


def of_objects(created: int, live: int) -> int:
    """How many bytes the process grows by, at the peak, when objects come and go."""
    with mopsus.Monitor(spec(HAS_NEXT), history=0) as monitor:
        hasnext, next_ = monitor.event("hasnext"), monitor.event("next")
        before = memory("VmRSS")
        kept: deque[Thing] = deque(maxlen=live)
        for _ in range(created):
            thing = Thing()
            hasnext(thing)
            next_(thing)
            kept.append(thing)
        _check(monitor, created, live)
        return memory("VmHWM") - before


def of_trace(created: int, live: int) -> int:
    """How many bytes the process grows by, at the peak, when values come and go in a trace."""
    with mopsus.Monitor(spec(HAS_NEXT), history=0) as monitor:
        batches = _batches(created, live)
        schema = next(_batches(1, 1)).schema
        monitor.run(pa.table({"event": ["hasnext"], "i": [-1]}))
        monitor.run(pa.table({"event": ["#release"], "i": [-1]}))
        before = memory("VmRSS")
        monitor.run(pa.RecordBatchReader.from_batches(schema, batches))
        _check(monitor, created + 1, live)
        return memory("VmHWM") - before


def _batches(created: int, live: int) -> Iterator[pa.RecordBatch]:
    """Each value is asked and advanced, and ends when `live` more have come."""
    names = ["hasnext", "next", "#release"]
    size = max(1, live // 2)  # so that what a batch takes does not hide what the monitors take
    for start in range(0, created, size):
        value = np.arange(start, min(start + size, created))
        values = np.stack([value - live, value, value], axis=1).ravel()
        codes = np.tile(np.array([2, 0, 1], np.int8), len(value))
        there = values >= 0
        event = pa.DictionaryArray.from_arrays(codes[there], names)
        yield pa.record_batch({"event": event, "i": values[there]})


def _check(monitor: mopsus.Monitor, created: int, live: int) -> None:
    stats = monitor.stats()
    assert stats.created == created, stats
    assert stats.alive <= live, stats
