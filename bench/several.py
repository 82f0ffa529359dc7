"""Three specifications over the same table, against three bare C loops over the same arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pyarrow as pa
import specs
from harness import Row, Side, agree, measure, speed_row
from hasnext import C_LOOP, ITERATORS, run
from native import step_loop
from traces import Kind, has_next

import mopsus
from mopsus.logics import compile_spec

EVENTS = 10_000_000
THREE = {
    specs.HAS_NEXT: specs.HAS_NEXT_TABLE,
    specs.ADVANCED_ONCE: specs.ADVANCED_ONCE_TABLE,
    specs.ASKED_ONCE: specs.ASKED_ONCE_TABLE,
}
BAD = 2
"""The state that each of the three reports."""
KINDS: tuple[Kind, ...] = ("dictionary", "int64", "string")


def _run_all(loops: list[Callable[[], int]], _: object) -> int:
    return sum(loop() for loop in loops)


def rows(scale: float) -> list[Row]:
    """All rows of this benchmark."""
    compiled = [compile_spec(specs.spec(text)) for text in THREE]

    def monitors() -> list[mopsus.Monitor]:
        return [mopsus.Monitor(each, history=0) for each in compiled]

    def checking(table: pa.Table) -> Side:
        return Side(prepare=monitors, work=lambda made: sum(run(monitor, table) for monitor in made))

    result = []
    for iterators in ITERATORS:
        trace = has_next(int(EVENTS * scale), iterators)
        ids = trace.columns["i"].astype(np.int32)
        loops = [step_loop(trace.event, ids, table, BAD) for table in THREE.values()]
        bare = Side(partial(_run_all, loops))
        timings = measure({**{kind: checking(trace.table(kind)) for kind in KINDS}, C_LOOP: bare}, rounds=5)
        agree(timings)
        result += [
            speed_row(
                f"{iterators:,} iterators, {kind} columns",
                len(trace.event),
                timings[kind],
                "three bare C loops",
                timings[C_LOOP],
            )
            for kind in KINDS
        ]
    return result
