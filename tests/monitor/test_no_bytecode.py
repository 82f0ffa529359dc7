"""`monitor.run` stays in native code: what Python executes does not grow with the number of events."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pyarrow as pa
import pytest

from mopsus.model import Event, Handler, Parameter, Property, Spec
from mopsus.monitor import Monitor

pytestmark = pytest.mark.interpreter

HAS_NEXT = Spec(
    "HasNext",
    (Parameter("i"),),
    events=(Event("hasnext", ("i",)), Event("next", ("i",))),
    properties=(Property("p", "ere", "(hasnext+ next)* next", (Handler("match"),)),),
)
UNSAFE_ITER = Spec(
    "UnsafeIter",
    (Parameter("c"), Parameter("i")),
    events=(Event("create", ("c", "i")), Event("update", ("c",)), Event("next", ("i",))),
    properties=(Property("p", "ere", "create next* update+ next", (Handler("match"),)),),
)


def lawful(spec: Spec, rows: int) -> pa.RecordBatch:
    """A trace without any report, because a report does run Python."""
    if spec is HAS_NEXT:
        events = ["hasnext" if row % 2 == 0 else "next" for row in range(rows)]
        return pa.record_batch({"event": events, "i": [row // 2 % 100 for row in range(rows)]})
    events = ["create" if row % 4 == 0 else "next" if row % 4 < 3 else "update" for row in range(rows)]
    return pa.record_batch(
        {"event": events, "c": [row // 4 % 10 for row in range(rows)], "i": [row // 4 for row in range(rows)]}
    )


def encoded(batch: pa.RecordBatch, form: str) -> pa.RecordBatch:
    columns = {}
    for name in batch.schema.names:
        column = batch.column(name)
        if form == "string":
            column = column.cast(pa.string())
        columns[name] = column.dictionary_encode() if form == "dictionary" else column
    return pa.record_batch(columns)


def counted_opcodes(action: Callable[[], object]) -> int:
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes = True
        count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(before)
    return count


def counted_calls(action: Callable[[], object]) -> int:
    count = 0

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += 1

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        action()
    finally:
        sys.setprofile(before)
    return count


def counted_instructions(action: Callable[[], object]) -> int:
    count = 0

    def take(code: object, offset: int) -> None:
        nonlocal count
        count += 1

    events = sys.monitoring.events
    tool = next(number for number in range(6) if sys.monitoring.get_tool(number) is None)
    sys.monitoring.use_tool_id(tool, "count")
    sys.monitoring.register_callback(tool, events.INSTRUCTION, take)
    sys.monitoring.set_events(tool, events.INSTRUCTION)
    try:
        action()
    finally:
        sys.monitoring.set_events(tool, 0)
        sys.monitoring.register_callback(tool, events.INSTRUCTION, None)
        sys.monitoring.free_tool_id(tool)
    return count


COUNTERS = [counted_opcodes, counted_calls] + ([counted_instructions] if sys.version_info >= (3, 12) else [])


@pytest.mark.parametrize("counter", COUNTERS, ids=lambda counter: counter.__name__)
@pytest.mark.parametrize("form", ["dictionary", "plain", "string"])
@pytest.mark.parametrize("history", [0, 32])
@pytest.mark.parametrize("spec", [HAS_NEXT, UNSAFE_ITER], ids=lambda spec: spec.name)
def test_no_python_runs_per_event(spec, history, form, counter):
    counts = []
    for rows in (400, 20_000):
        batch = encoded(lawful(spec, rows), form)
        with Monitor(spec, history=history) as monitor:
            counts.append(counter(lambda monitor=monitor, batch=batch: monitor.run(batch)))
            assert monitor.stats().events == rows
            assert monitor.verdicts == []
    # A collection of garbage may run a finaliser meanwhile; 19,600 more rows would be 19,600 more at the least.
    assert abs(counts[1] - counts[0]) < 500
    assert counts[0] > 0


def test_the_counters_do_count():
    for counter in COUNTERS:
        assert counter(lambda: [len(str(number)) for number in range(1000)]) >= 1000
