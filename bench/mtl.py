"""Metric temporal logic: the same however long the interval is, beside other monitors, and from a file.

The events come a millisecond apart. *reelay* and *rtamt*, in discrete time, get a step for each, which is what
they are fastest at; our monitor reads the times. `x` occurs in no trace, so that a rule about it costs its
evaluation and reports nothing.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
from harness import Goal, Row, Side, agree, measure, process, quotients, speed_row
from hasnext import checking
from specs import spec

from mopsus.logics import compile_spec

SPEC = """
Timed {{
    event request()
    event answer()
    event other()
    event x()
    mtl : unit ms; {formula}
}}
"""
WITHIN = "request => once[0,1s] answer"
NAMES = ["request", "answer", "other"]
RATES = [0.1, 0.005, 0.895]

LENGTHS = {"once[0,{}]": ("1s", "1h"), "once[500ms,{}]": ("1s", "1h"), "once[{},1h]": ("1s", "3599s")}
EVENTS = 4_000_000
REELAY_EVENTS = 1_000_000
RTAMT_EVENTS = 20_000
FILE_EVENTS = 5_000_000


def trace(events: int) -> pa.Table:
    """A thousand events a second, of which some are requests and few are answers."""
    codes = np.random.default_rng(3).choice(3, events, p=RATES).astype(np.int8)
    return pa.table({"event": pa.DictionaryArray.from_arrays(codes, NAMES), "time": pa.array(np.arange(events))})


def ours(formula: str, table: pa.Table) -> Side:
    """Our side: a new monitor on the whole table."""
    return checking(compile_spec(spec(SPEC.format(formula=formula))), table, 0)


def reelay(events: Sequence[str]) -> Side:
    """A new monitor per round; the rows are made before, as the dicts it takes."""
    rows = [{"event": event} for event in events]

    def work(monitor: Any) -> int:  # noqa: ANN401 - reelay has no types
        update = monitor.update
        return sum(not update(row)["value"] for row in rows)

    pattern = "{event: request} -> once[0:1000]{event: answer}"
    return Side(
        prepare=partial(import_module("reelay").discrete_timed_monitor, pattern=pattern, condense=False), work=work
    )


def rtamt(events: Sequence[str]) -> Side:
    """A new monitor per round; what holds at each step is made before, as the pairs it takes."""
    module = import_module("rtamt")
    rows = [[(name, float(event == name)) for name in NAMES[:2]] for event in events]

    def prepare() -> object:
        monitor = module.StlDiscreteTimeOnlineSpecification()
        for name in (*NAMES[:2], "out"):
            monitor.declare_var(name, "float")
        monitor.spec = "out = (request >= 0.5) implies (once[0:1000](answer >= 0.5))"
        monitor.parse()
        return monitor

    def work(monitor: Any) -> int:  # noqa: ANN401 - rtamt has no types
        update = monitor.update
        return sum(update(step, row) < 0 for step, row in enumerate(rows))

    return Side(prepare=prepare, work=work)


def rows(scale: float) -> list[Row]:
    """All rows of this benchmark."""
    return [
        *(_long_and_short(pattern, *ends, trace(int(EVENTS * scale))) for pattern, ends in LENGTHS.items()),
        _beside("reelay", reelay, int(REELAY_EVENTS * scale)),
        _beside("rtamt", rtamt, max(int(RTAMT_EVENTS * scale), 100)),
        _from_a_file(int(FILE_EVENTS * scale)),
    ]


def _long_and_short(pattern: str, short: str, long: str, table: pa.Table) -> Row:
    sides = {end: ours(f"x => {pattern.format(end)} answer", table) for end in (short, long)}
    timings = measure(sides, rounds=5)
    events = table.num_rows
    return Row(
        case=f"`{pattern.format(long)}` at 1 kHz",
        unit="ns per event",
        ours=1e3 / timings[long].rate(events),
        base=f"`{pattern.format(short)}`",
        theirs=1e3 / timings[short].rate(events),
        ratio=quotients(timings[long].seconds, timings[short].seconds),
        goal=Goal("≤", 1.2),
    )


def _beside(peer: str, side: Any, events: int) -> Row:  # noqa: ANN401 - one of the two above
    table = trace(events)
    timings = measure({"ours": ours(WITHIN, table), peer: side(table["event"].to_pylist())}, rounds=3)
    agree(timings)
    return speed_row(f"`{WITHIN}`, {events:,} events", events, timings["ours"], peer, timings[peer], Goal("≥", 3))


def _from_a_file(events: int) -> Row:
    with tempfile.TemporaryDirectory() as scratch:
        rule, path = Path(scratch) / "rule.mop", Path(scratch) / "trace.csv"
        rule.write_text(SPEC.format(formula=WITHIN), encoding="utf-8")
        pyarrow.csv.write_csv(trace(events), path)
        check = process("-m", "mopsus", "check", str(rule), str(path))
        timing = measure({"check": check}, rounds=3)["check"]
    return Row(
        case=f"`{WITHIN}`, `mopsus check` of {events:,} events",
        unit="M events/s",
        ours=timing.rate(events),
        goal=Goal("≥", 1.8, "ours"),
    )
