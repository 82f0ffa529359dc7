"""A monitor with more live instances than it may have is given up, says so, and disturbs nobody."""

import gc
import random
import threading
import weakref

import pyarrow as pa
import pytest

from mopsus import Monitor, Spec, parse
from mopsus.model import Verdict

PAIRS = """
Pairs(u, f) {
    event login(u)
    event open(f)
    event access(u, f)
    event logout(u)
    event close(f)
    ptltl : access => ((not logout S login) and (not close S open))
    @violation
}
"""
DATA = """
Data(x) {
    event a(x; v)
    event b(x; v)
    maxhml : max X.([a(v)]([b(w) when w == v]ff and X) and [b(_)]X)
}
"""
FLAT = "Flat(x) { event a(x) event b(x) ere : a b b @match }"


def spec_of(text: str) -> Spec:
    (spec,) = parse(text).values()
    return spec


def table_of(rows: list[dict[str, object]]) -> pa.Table:
    return pa.Table.from_pylist(rows)


def rows(draw, count):
    found = []
    for _ in range(count):
        event = draw.choice(["login", "open", "access"])
        row = {"event": event, "u": None, "f": None}
        if event != "open":
            row["u"] = f"u{draw.randrange(40)}"
        if event != "login":
            row["f"] = f"f{draw.randrange(40)}"
        found.append(row)
    return found


def feed(monitor, row):
    monitor.row(row["event"], {name: value for name, value in row.items() if name != "event" and value is not None})


def test_verdicts_are_those_of_an_unlimited_monitor_up_to_the_limit():
    for seed in range(20):
        draw = random.Random(seed)
        events, limit = rows(draw, 200), draw.randrange(1, 400)
        free: list[Verdict] = []
        unlimited, wanted, over = Monitor(spec_of(PAIRS), free.append), 0, False
        limited = Monitor(spec_of(PAIRS), max_live=limit)
        for row in events:
            feed(unlimited, row)
            feed(limited, row)
            if not over:
                wanted = len(free)
            over = over or unlimited.stats().alive > limit
        assert limited.verdicts == free[:wanted]
        stats = limited.stats()
        assert stats.events == len(events)
        assert [fault.code for fault in limited.faults] == ["live monitors"] * over
        if over:
            assert stats.alive == 0
            assert stats.collected == stats.created
            assert limited.instances() == []


@pytest.mark.parametrize(("text", "limit"), [(FLAT, 100), (PAIRS, 100), (PAIRS, 5000)])
def test_a_batch_is_given_up_in_its_middle(text, limit):
    spec = spec_of(text)
    first, second = spec.events[0], spec.events[1]
    batches = [
        table_of([{"event": event.name, event.parameters[0]: k} for k in range(1000)]) for event in (first, second)
    ]
    monitor = Monitor(spec, max_live=limit)
    for batch in batches * 2:
        monitor.run(batch)
    assert len(monitor.faults) == 1
    assert f"more than {limit} monitors were live" in monitor.faults[0].message
    stats = monitor.stats()
    assert limit < stats.created < 100_000  # not all combinations
    assert stats.alive == 0
    assert stats.bytes < 100_000


@pytest.mark.parametrize(("text", "fields"), [(FLAT, ()), (DATA, ("v",))], ids=["flat", "with data"])
def test_objects_are_let_go(text, fields):
    class Thing:
        pass

    monitor = Monitor(spec_of(text), max_live=3)
    things = [Thing() for _ in range(10)]
    for thing in things:
        monitor.emit("a", x=thing, **dict.fromkeys(fields, thing))
        monitor.emit("b", x=thing, **dict.fromkeys(fields, 1))
    assert len(monitor.faults) == 1
    known = weakref.ref(things[0])
    assert weakref.getweakrefcount(things[0]) == 1
    things.clear()
    gc.collect()
    assert known() is None
    monitor.emit("a", x=Thing(), **dict.fromkeys(fields))
    assert monitor.stats().alive == 0


def test_every_thread_counts():
    text = FLAT.replace("Flat", "perthread Flat")
    monitor = Monitor(spec_of(text), max_live=25)

    def work():
        for k in range(10):
            monitor.emit("a", x=k)

    for _ in range(2):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    monitor.emit("a", x=1)
    assert not monitor.faults  # ended threads have none
    for k in range(40):
        monitor.emit("a", x=k)
    assert len(monitor.faults) == 1
    work()
    assert monitor.stats().alive == 0


def test_a_handler_that_resets_while_the_limit_is_reached():
    text = "R(x) { event a(x) event b(x) ere : a b @match { __RESET } }"
    data = [{"event": "a", "x": k} for k in range(50)] + [{"event": "b", "x": k} for k in range(50)] * 2
    for limit in (10, 49, 50):
        by_row, by_batch = Monitor(spec_of(text), max_live=limit), Monitor(spec_of(text), max_live=limit)
        for row in data:
            by_row.row(row["event"], {"x": row["x"]})
        for first in range(0, len(data), 10):
            by_batch.run(table_of(data[first : first + 10]))
        assert len(by_row.faults) == len(by_batch.faults) == (limit < 50)
        assert len(by_row.verdicts) == len(by_batch.verdicts) == (0 if limit < 50 else 50)


def test_a_callback_that_sends_events_beyond_the_limit():
    found: list[Verdict] = []

    def more(verdict):
        found.append(verdict)
        for k in range(100, 120):
            monitor.emit("a", x=k)

    monitor = Monitor(spec_of("R(x) { event a(x) event b(x) ere : a b @match }"), more, max_live=5)
    monitor.emit("a", x=1)
    monitor.emit("b", x=1)
    monitor.emit("b", x=1)
    assert len(found) == 1
    assert len(monitor.faults) == 1
    assert monitor.stats().alive == 0


def test_a_snapshot_of_a_monitor_that_was_given_up():
    monitor = Monitor(spec_of(FLAT), max_live=2)
    for k in range(5):
        monitor.row("a", {"x": k})
    state = monitor.snapshot()
    again = Monitor(spec_of(FLAT), max_live=2)
    again.restore(state)
    assert [fault.code for fault in again.faults] == ["live monitors"]
    for k in range(5):
        again.row("a", {"x": k})
        again.row("b", {"x": k})
        again.row("b", {"x": k})
    assert not again.verdicts
    assert again.stats().seen == {"a": 10, "b": 10}


def test_back_to_where_there_were_fewer():
    monitor = Monitor(spec_of(FLAT), max_live=2)
    monitor.emit("a", x=1)
    before = monitor.checkpoint()
    for k in range(5):
        monitor.emit("a", x=k)
    assert monitor.faults
    monitor.rewind(before)
    monitor.emit("b", x=1)
    monitor.emit("b", x=1)
    assert len(monitor.verdicts) == 1


def test_what_is_noted_costs_memory_and_no_more():
    """The history of a monitor used to take two megabytes from its first event on."""
    monitor = Monitor(spec_of(FLAT))
    monitor.emit("a", x=1)
    assert monitor.stats().bytes < 10_000
    for k in range(100_000):
        monitor.emit("a", x=k % 7)
        monitor.emit("b", x=k % 7)
    assert monitor.stats().bytes < 100_000
