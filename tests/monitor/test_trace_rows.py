"""What `run` and `row` do with rows that are not as they should be, and with the ends of values."""

from __future__ import annotations

from collections import Counter
from random import Random

import pyarrow as pa
import pytest
from monitor.ways import COLUMNS, Recorder
from oracle.compiled import subject_of
from oracle.slicing import RELEASE, AlgorithmC, Occurrence, run
from oracle.strategies import Case, random_case

from mopsus.model import Event, Handler, MopsusError, Parameter, Property, Spec
from mopsus.monitor import Monitor

PAIR = Spec(
    "Pair",
    (Parameter("a"), Parameter("b")),
    events=(Event("both", ("a", "b")), Event("one", ("a",))),
    properties=(Property("p", "ere", "both one", (Handler("match"),)),),
)
EACH = Property("p", "fsm", "s [one -> t] t [one -> s]", (Handler("s"), Handler("t")))
"""Says something of every event `one`."""
GOOD = {"event": ["both", "one"], "a": ["x", "x"], "b": ["y", None]}


def reports(monitor: Monitor) -> list[tuple[int | None, str]]:
    return [(verdict.row, verdict.category) for verdict in monitor.verdicts]


def test_columns_that_an_event_does_not_need_may_be_null():
    with Monitor(PAIR) as monitor:
        monitor.run(pa.record_batch(GOOD))
        assert reports(monitor) == [(2, "match")]


@pytest.mark.parametrize(
    ("columns", "row"),
    [
        ({"event": ["both", "one", "one"], "a": ["x", "x", None], "b": ["y", None, None]}, 3),
        ({"event": ["both", "one", None], "a": ["x", "x", "x"], "b": ["y", None, None]}, 3),
        ({"event": ["both", "one", "both"], "a": ["x", "x", "x"], "b": ["y", None, None]}, 3),
    ],
)
@pytest.mark.parametrize("dictionary", [False, True])
def test_a_bad_row_stops_the_run_after_everything_before_it(columns, row, dictionary):
    table = pa.table(columns)
    if dictionary:
        table = pa.table({name: table[name].dictionary_encode() for name in table.schema.names})
    with Monitor(PAIR) as monitor, pytest.raises(MopsusError) as caught:
        monitor.run(table)
    assert caught.value.row == row
    assert reports(monitor) == [(2, "match")]


@pytest.mark.parametrize("dictionary", [False, True])
def test_bad_rows_can_be_skipped_and_are_counted(dictionary):
    table = pa.table({"event": ["both", "one", None, "one"], "a": ["x", None, "x", "x"], "b": ["y", None, "y", None]})
    if dictionary:
        table = pa.table({name: table[name].dictionary_encode() for name in table.schema.names})
    with Monitor(PAIR) as monitor:
        monitor.run(table, bad_rows="skip")
        assert reports(monitor) == [(4, "match")]
        assert monitor.stats().bad_rows == 2
        assert monitor.stats().events == 2


def test_a_needed_column_that_is_missing_is_an_error():
    with Monitor(PAIR) as monitor, pytest.raises(MopsusError) as caught:
        monitor.run(pa.table({"event": ["both"], "a": ["x"]}))
    assert "b" in str(caught.value)


def test_a_trace_without_an_event_column_is_refused():
    with Monitor(PAIR) as monitor, pytest.raises(MopsusError):
        monitor.run(pa.table({"a": ["x"], "b": ["y"]}))


@pytest.mark.parametrize("data", [None, 1, "text", [1], {"event": ["one"]}])
def test_what_is_no_arrow_data_is_refused(data):
    with Monitor(PAIR) as monitor, pytest.raises((MopsusError, TypeError)):
        monitor.run(data)


def with_releases(rng: Random, case: Case) -> tuple[list[dict[str, object]], list[Occurrence]]:
    """Rows in which values end now and then, and the trace they mean: what comes back is another value."""
    rows: list[dict[str, object]] = []
    meant: list[Occurrence] = []
    lives: Counter[tuple[str, object]] = Counter()
    seen: list[tuple[str, object]] = []
    for entry in case.trace:
        rows.append({"event": entry.event, **entry.binding})
        meant.append(
            Occurrence(entry.event, {name: (value, lives[name, value]) for name, value in entry.binding.items()})
        )
        seen += entry.binding.items()
        if seen and rng.random() < 0.2:
            name, value = rng.choice(seen)
            rows.append({"event": RELEASE, name: value})
            meant.append(Occurrence(RELEASE, {name: (value, lives[name, value])}))
            lives[name, value] += 1
    return rows, meant


@pytest.mark.parametrize("batch", [False, True], ids=["row", "run"])
def test_a_released_value_that_comes_back_is_another_value(batch):
    for seed in range(300):
        rng = Random(seed)
        case = random_case(rng, COLUMNS[:1] if rng.random() < 0.5 else COLUMNS[1:2])
        if case.spec.modifiers.perthread or case.spec.modifiers.connected:
            continue  # a value may end in one thread or parameter, and go on in another
        rows, meant = with_releases(rng, case)
        recorder = Recorder(case)
        recorder.index = None
        with Monitor(case.spec, on_verdict=recorder) as monitor:
            if batch:
                names = ["event", *(parameter.name for parameter in case.spec.parameters)]
                monitor.run(pa.table({name: [row.get(name) for row in rows] for name in names}))
            else:
                for number, row in enumerate(rows, start=1):
                    values = {name: value for name, value in row.items() if name != "event"}
                    monitor.row(str(row["event"]), values, row=number)
        expected = [
            (index, prop, category, sorted((name, repr(value[1][0])) for name, value in theta))
            for index, prop, category, theta in run(AlgorithmC, subject_of(case.spec), meant)
        ]
        found = [
            (index, prop, category, sorted((name, repr(value)) for name, value in theta))
            for index, prop, category, theta in recorder.result()
        ]
        assert sorted(found) == sorted(expected), f"seed {seed}\n{rows}\n{case}"


@pytest.mark.parametrize("bulk", [True, False])
def test_reports_are_not_put_off_to_the_end_of_a_long_batch(bulk):
    """A signal once had to wait until the verdicts of the whole batch were reported."""
    parameters = ("a",) if bulk else ("a", "b")
    every = Spec(
        "Every",
        tuple(map(Parameter, parameters)),
        events=(Event("one", parameters),),
        properties=(EACH,),
    )
    count, told = 20_000, []

    def leave(verdict):
        told.append(verdict.row)
        if len(told) == 10:
            raise KeyboardInterrupt

    with Monitor(every, on_verdict=leave) as monitor:
        columns = {name: [k % 7 for k in range(count)] for name in parameters}
        with pytest.raises(KeyboardInterrupt):
            monitor.run(pa.record_batch({"event": ["one"] * count, **columns}))
    assert 10 <= len(told) < count / 2
    assert told == list(range(1, len(told) + 1))


def test_a_handler_may_change_the_monitor_in_the_midst_of_a_batch():
    """What the batch had looked up of the monitor no longer holds then."""
    every = Spec(
        "Every",
        (Parameter("a"),),
        events=(Event("one", ("a",)), Event("two", ("a",))),
        properties=(EACH,),
    )
    count, told = 20_000, []
    columns = {"event": ["one"] * count, "a": [k % 7 for k in range(count)]}

    def release(verdict):
        told.append(verdict.binding["a"])
        number = len(told)  # more may be told while an event of the handler is at work
        if number % 1500 == 0:
            monitor.row(RELEASE, {"a": told[-1]})
            monitor.row("two", {"a": f"new {number}"})
        if number == 14_000:
            monitor.close()

    plain = pa.record_batch(columns)
    for data in (plain, plain.set_column(1, "a", plain.column("a").dictionary_encode())):
        told.clear()
        with Monitor(every, on_verdict=release) as monitor:
            monitor.run(data)
        assert 14_000 <= len(told) < count
        assert told == columns["a"][: len(told)]
