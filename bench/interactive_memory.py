"""Bytes per slice of a property of queues, each with a state and variables of its own, by how many queues there are.

The property is that of `examples/interactive`; its events are those of a debugged program that makes so many queues and
puts something into each."""

from __future__ import annotations

import gc
from pathlib import Path

from harness import Row, in_fresh_process, memory

import mopsus

PROPERTY = Path(__file__).parent.parent / "examples" / "interactive" / "queue.prop"
QUEUES = (1_000, 10_000, 100_000)
PUBLISHED = 1300.0
"""Bytes per queue of the first tool of this kind, as its authors measured them."""


def rows(scale: float) -> list[Row]:
    """All rows of this benchmark."""
    result = []
    for queues in QUEUES:
        counted, grown = in_fresh_process(slices, max(100, int(queues * scale)))
        for case, ours in (("", counted), (", growth of the process", grown)):
            ratio = ours / PUBLISHED
            name = f"{queues:,} queues{case}"
            result.append(Row(name, "bytes per slice", ours, "Verde, as published", PUBLISHED, (ratio, ratio, ratio)))
    return result


def slices(queues: int) -> tuple[float, float]:
    """Bytes per slice that the monitor counts, and that the process grows by."""
    (spec,) = mopsus.load(PROPERTY).values()
    # As addresses are: far apart, and no integers that Python has anyway.
    addresses = [0x5555_5555_0000 + 64 * number for number in range(queues + 1)]
    with mopsus.Monitor(spec, history=0) as monitor:
        made, pushed = monitor.event("queue_new_after"), monitor.event("queue_push")
        made(addresses[0], 16)  # whatever a first event sets up is not per slice
        gc.collect()
        before = memory("VmRSS")
        for address in addresses[1:]:
            made(address, 16)
            pushed(address)
        grown = memory("VmRSS") - before
        stats = monitor.stats()
        return stats.bytes / stats.alive, grown / queues
