"""HasNext with other tools that install with pip, on the same trace, each saying it exactly.

*reelay* has past temporal logic over data: at a `next` of x there has been a `hasnext` of x and no `next` of x since.

*nfer* has rules that make intervals out of events: two `next` of the same iterator, unless there is a `hasnext` of it
between them. Where the first event of every iterator is `hasnext`, as here, the ends of these intervals are exactly the
violations. It keeps every event and so gets slower as the trace gets longer; it gets a short one.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from statistics import median
from typing import Any

from harness import Goal, Row, Side, Timing, agree, in_fresh_process, measure, speed_row
from hasnext import checking
from specs import HAS_NEXT, spec
from traces import has_next

from mopsus.logics import compile_spec

REELAY = "forall[x]. ({event: next, i: *x} -> pre((not {event: next, i: *x}) since {event: hasnext, i: *x}))"
NFER = """
pair :- a:next before b:next where a.i = b.i map { i -> a.i }
unsafe :- p:pair unless contain h:hasnext where p.i = h.i map { i -> p.i }
"""
REELAY_EVENTS = 1_000_000
NFER_EVENTS = 10_000
ITERATORS = 1_000


def reelay(events: Sequence[str], iterators: Sequence[int]) -> Side:
    """A new monitor per round; the rows are made before, as the dicts it takes."""
    rows = [{"event": event, "i": str(iterator)} for event, iterator in zip(events, iterators, strict=True)]

    def work(monitor: Any) -> int:  # noqa: ANN401 - reelay has no types
        update = monitor.update
        return sum(not update(row)["value"] for row in rows)

    def prepare() -> object:
        return import_module("reelay").discrete_timed_monitor(pattern=REELAY, condense=False)

    return Side(prepare=prepare, work=work)


def nfer(events: Sequence[str], iterators: Sequence[int]) -> Side:
    """It cannot forget what it has seen, so there is one round per process."""
    rows = [(event, {"i": iterator}) for event, iterator in zip(events, iterators, strict=True)]
    module = import_module("_nfer")  # the interface below the thread and the queue of `nfer.monitor`

    def work(_: object) -> int:
        bad = set()
        for at, (event, data) in enumerate(rows):
            for name, _begin, end, _data in module.add(event, at, at, data) or ():
                if name == "unsafe":
                    bad.add(end)
        return len(bad)

    module.scan(NFER)
    module.minimal(False)  # or else an interval of one iterator hides that of another
    return Side(work)


def nfer_round(events: int) -> tuple[float, float]:
    """Our seconds and nfer's, in a process that has seen nothing else."""
    trace = has_next(events, ITERATORS)
    ours = measure({"ours": checking(compile_spec(spec(HAS_NEXT)), trace.table("dictionary"), 0)}, rounds=5)
    theirs = measure({"nfer": nfer(*trace.lists())}, rounds=1, warm_up=False)
    agree(ours | theirs)
    return median(ours["ours"].seconds), theirs["nfer"].seconds[0]


def rows(scale: float) -> list[Row]:
    """All rows of this benchmark."""
    return [_against_reelay(int(REELAY_EVENTS * scale)), _against_nfer(int(NFER_EVENTS * scale))]


def _against_reelay(events: int) -> Row:
    trace = has_next(events, ITERATORS)
    ours = checking(compile_spec(spec(HAS_NEXT)), trace.table("dictionary"), 0)
    timings = measure({"ours": ours, "reelay": reelay(*trace.lists())}, rounds=3)
    agree(timings)
    return _row(events, "reelay", timings["ours"], timings["reelay"])


def _against_nfer(events: int) -> Row:
    ours, theirs = zip(*(in_fresh_process(nfer_round, events) for _ in range(3)), strict=True)
    return _row(events, "nfer", Timing([*ours], None), Timing([*theirs], None))


def _row(events: int, peer: str, ours: Timing, theirs: Timing) -> Row:
    return speed_row(f"{events:,} events, {ITERATORS:,} iterators", events, ours, peer, theirs, Goal("≥", 1))
