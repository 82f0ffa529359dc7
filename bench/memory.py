"""Bytes per live monitor of one parameter, by our own count and by what the process grows."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from harness import Goal, Row, in_fresh_process
from harness import memory as resident
from online import Thing
from specs import HAS_NEXT, spec

import mopsus

LIVE = 1_000_000
KINDS = {"instances": "instances of a class", "iterators": "list iterators", "int64": "int64 values of a trace"}


def rows(scale: float) -> list[Row]:
    """All rows of this benchmark."""
    live = int(LIVE * scale)
    reference = in_fresh_process(weak_references, live)
    goal = Goal("≤", 100, of="ours")
    result = []
    for kind, name in KINDS.items():
        counted, grown = in_fresh_process(monitors, kind, live)
        case = f"{name}, growth of the process"
        if kind == "instances":  # the other two need no weak reference
            case += f", less {reference:.0f} for Python's weak reference"
            grown -= reference
        result += [
            Row(name, "bytes per monitor", counted, goal=goal),
            Row(case, "bytes per monitor", grown, goal=goal),
        ]
    return result


def monitors(kind: str, live: int) -> tuple[float, float]:
    """Bytes per monitor that the core counts, and that the process grows by."""
    with mopsus.Monitor(spec(HAS_NEXT), history=0) as monitor:
        objects = _objects(kind, live)
        monitor.run(pa.table({"event": ["hasnext"], "i": [-1]}))  # whatever a first event sets up is not per monitor
        gc.collect()
        before = resident("VmRSS")
        if kind == "int64":
            # The events and the values are there before, so that only what the monitor keeps is new.
            monitor.run(objects)
        else:
            hasnext = monitor.event("hasnext")
            for each in objects:
                hasnext(each)
        grown = resident("VmRSS") - before
        stats = monitor.stats()
        assert stats.alive == live + 1
        return stats.bytes / stats.alive, grown / live


def _objects(kind: str, live: int) -> Iterable[object]:
    if kind == "instances":
        return [Thing() for _ in range(live)]
    if kind == "iterators":
        return [iter([]) for _ in range(live)]
    event = pa.DictionaryArray.from_arrays(np.zeros(live, np.int8), ["hasnext"])
    table: Iterable[object] = pa.table({"event": event, "i": np.arange(live)})
    return table


def weak_references(live: int) -> float:
    """Bytes that a weak reference of Python's takes, with a callback that all share."""
    objects = [Thing() for _ in range(live)]
    references: list[object] = [None] * live
    gc.collect()
    before = resident("VmRSS")
    for place, each in enumerate(objects):
        references[place] = weakref.ref(each, print)
    return (resident("VmRSS") - before) / live
