"""HasNext(i): one parameter, against a bare C loop and against a loop by hand in Python, for every type of column."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from harness import Goal, Row, Side, agree, measure, speed_row
from native import step_loop
from specs import HAS_NEXT, HAS_NEXT_TABLE, UNSAFE, spec
from traces import Kind, Trace, has_next

import mopsus
from mopsus.logics import CompiledSpec, compile_spec

EVENTS = 10_000_000
ITERATORS = (1_000, 100_000)
C_LOOP, BY_HAND = "bare C loop", "dict loop in Python"


def run(monitor: mopsus.Monitor, table: pa.Table) -> int:
    """Check a whole table; how many verdicts there are."""
    monitor.run(table)
    return sum(monitor.stats().verdicts.values())


def checking(compiled: CompiledSpec, table: pa.Table, history: int) -> Side:
    """Our side: a new monitor on the whole table."""
    return Side(prepare=lambda: mopsus.Monitor(compiled, history=history), work=lambda monitor: run(monitor, table))


def by_hand(events: Iterable[str], iterators: Iterable[int]) -> int:
    """The property as one would write it for the occasion."""
    asked: dict[int, bool] = {}
    bad = 0
    for event, iterator in zip(events, iterators, strict=True):
        if event == "hasnext":
            asked[iterator] = True
        elif event == "next":
            if not asked.get(iterator):
                bad += 1
            asked[iterator] = False
    return bad


def rows(scale: float) -> list[Row]:
    """All rows of this benchmark."""
    return [row for iterators in ITERATORS for row in _rows(has_next(int(EVENTS * scale), iterators), iterators)]


def _rows(trace: Trace, iterators: int) -> list[Row]:
    events = len(trace.event)
    compiled = compile_spec(spec(HAS_NEXT))
    loop = step_loop(trace.event, trace.columns["i"].astype(np.int32), HAS_NEXT_TABLE, UNSAFE)
    lists = trace.lists()
    where = f"{iterators:,} iterators"

    def against(kind: Kind, history: int, *, hand: bool, goals: bool = False) -> list[Row]:
        table = trace.table(kind)
        sides = {"ours": checking(compiled, table, history), C_LOOP: Side(lambda _: loop())}
        if hand:
            sides[BY_HAND] = Side(lambda _: by_hand(*lists))
        timings = measure(sides, rounds=5)
        agree(timings)
        case = f"{where}, {kind} columns, history {history or 'off'}"
        wanted = {C_LOOP: Goal("≥", 0.2), BY_HAND: Goal("≥", 10)} if goals else {}
        return [
            speed_row(case, events, timings["ours"], base, timings[base], wanted.get(base))
            for base in sides
            if base != "ours"
        ]

    return [
        *against("dictionary", 0, hand=True, goals=True),
        *against("dictionary", 32, hand=True),
        *against("int64", 0, hand=True),
        *against("string", 0, hand=True),
    ]
