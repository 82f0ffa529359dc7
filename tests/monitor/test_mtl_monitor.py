"""Metric properties end to end: sliced as the definition says, by rows and batches, live, saved, and collected."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from logics.timed_support import CATEGORIES, MTL, spec_of, timed_formulas, written
from oracle.slicing import AlgorithmC, Subject, instance

import mopsus
from mopsus.logics.mtl.reference import reports
from mopsus.model import Event, Handler, MopsusError, Parameter, Property, Spec
from mopsus.monitor import Monitor

PARAMETERS = {"a": ("p",), "b": ("q",), "c": ("p", "q")}


class TimedSlicer(AlgorithmC):
    """Algorithm C whose states are the timed slices themselves, judged by the reference."""

    def __init__(self, formula):
        super().__init__(Subject(("p", "q"), PARAMETERS, (), frozenset(PARAMETERS), (frozenset(),)))
        self.formula = formula
        self.now = None

    def _step(self, theta, event):
        self.states[theta] = (*self.states[theta], (event, self.now))
        word, times = zip(*self.states[theta], strict=True)
        return [reports(self.formula, word, times)[-1]]

    def _can_report(self, theta):
        return True


def expected(formula, trace):
    slicer = TimedSlicer(formula)
    found = set()
    for index, (event, binding, now) in enumerate(trace):
        slicer.now = now
        found |= {(index, each.category, each.instance) for each in slicer.feed(index, event, instance(binding))}
    return found


def sliced_spec(formula):
    return Spec(
        name="Timed",
        parameters=(Parameter("p"), Parameter("q")),
        events=tuple(Event(name, parameters) for name, parameters in PARAMETERS.items()),
        properties=(Property("mtl", "mtl", MTL.print(formula), tuple(Handler(each) for each in CATEGORIES)),),
    )


def by_row(monitor, trace, first):
    for number, (event, binding, now) in enumerate(trace, first):
        monitor.row(event, binding, time=written(now), row=number)


def by_batch(monitor, trace, first):
    columns = {
        "event": pa.array([event for event, _, _ in trace], pa.string()),
        "time": pa.array([None if now is None else float(now) for _, _, now in trace], pa.float64()),
    }
    for name in ("p", "q"):
        columns[name] = pa.array([binding.get(name) for _, binding, _ in trace], pa.int64())
    monitor.run(pa.table(columns), first_row=first)


def by_timestamps(monitor, trace, first):
    table = {
        "event": pa.array([event for event, _, _ in trace], pa.string()).dictionary_encode(),
        "time": pa.array([None if now is None else int(now * 1000) for _, _, now in trace], pa.timestamp("ms")),
    }
    for name in ("p", "q"):
        table[name] = pa.array([binding.get(name) for _, binding, _ in trace], pa.int64()).dictionary_encode()
    monitor.run(pa.table(table), first_row=first)


def result(monitor):
    return {(each.row - 1, each.category, instance(each.binding)) for each in monitor.verdicts}


@st.composite
def traces(draw):
    trace, now = [], Fraction(0)
    for _ in range(draw(st.integers(0, 14))):
        event = draw(st.sampled_from(sorted(PARAMETERS)))
        binding = {name: draw(st.integers(0, 1)) for name in PARAMETERS[event]}
        now += draw(st.sampled_from([Fraction(n, 2) for n in (0, 1, 2, 3, 5, 9)]))
        bad = draw(st.sampled_from((0, 0, 0, 0, 0, 0, 1, 2)))
        trace.append((event, binding, (now, now - 2, None)[bad]))
    return trace


@pytest.mark.parametrize("feed", [by_row, by_batch, by_timestamps])
def test_slices_are_judged_on_their_own(feed):
    @settings(max_examples=60, deadline=None)
    @given(timed_formulas(max_leaves=4), traces(), st.integers(0, 14), st.sampled_from((0, 32)))
    def compare(formula, trace, cut, history):
        spec = sliced_spec(formula)
        first, second = Monitor(spec, history=history), Monitor(spec, history=history)
        feed(first, trace[:cut], 1)
        second.restore(json.loads(json.dumps(first.snapshot())))
        feed(second, trace[cut:], 1 + len(trace[:cut]))
        assert result(first) | result(second) == expected(formula, trace)

    compare()


# ---- time ----


@pytest.mark.parametrize(
    ("unit", "type"), [("s", pa.timestamp("s")), ("ms", pa.timestamp("us", "UTC")), ("h", pa.timestamp("ns"))]
)
def test_timestamps_are_instants_whatever_the_unit(unit, type):
    monitor = Monitor(spec_of(f"unit {unit}; a => <*>[0,2s] b"))
    scale = {"s": 1, "us": 10**6, "ns": 10**9}[type.unit]
    times = [1_700_000_000 * scale, 1_700_000_002 * scale, 1_700_000_003 * scale]
    monitor.run(pa.table({"event": ["b", "a", "a"], "time": pa.array(times, type)}))
    assert [each.category for each in monitor.verdicts] == ["validation", "validation", "violation"]
    seconds = {"s": 1, "ms": 0.001, "h": 3600}[unit]
    assert monitor.verdicts[-1].time == pytest.approx(1_700_000_003 / seconds)


def test_timestamps_that_no_nanoseconds_reach_have_no_time():
    monitor = Monitor(spec_of("a"))
    monitor.run(pa.table({"event": ["a"], "time": pa.array([2**62], pa.timestamp("s"))}))
    assert [each.category for each in monitor.verdicts] == ["untimed"]


def test_a_column_of_nothing_is_no_time():
    monitor = Monitor(spec_of("a"))
    monitor.run(pa.table({"event": ["a", "a", "a"], "time": pa.array([1, None, 3])}))
    monitor.run(pa.table({"event": ["a"], "time": ["noon"]}))
    monitor.run(pa.table({"event": ["a"]}))
    found = [each.category for each in monitor.verdicts]
    assert found == ["validation", "untimed", "validation", "untimed", "untimed"]


def test_live_events_have_the_time_of_the_clock():
    monitor = Monitor(spec_of("b => <*>[0,50ms] a"))
    before = time.time()
    monitor.emit("a")
    monitor.event("b")()
    time.sleep(0.1)
    monitor.emit("b")
    assert [each.category for each in monitor.verdicts] == ["validation", "validation", "violation"]
    times = [each.time for each in monitor.verdicts]
    assert times == sorted(times)
    assert before - 1 < times[0] < time.time() + 1
    assert times[2] - times[1] >= 0.1
    assert [each.time for each in monitor.verdicts[-1].witness] == times


def test_live_events_of_other_logics_have_no_time():
    spec = mopsus.parse("T { event a() ere : a @match {} }")["T"]
    with Monitor(spec) as monitor:
        monitor.emit("a")
        assert monitor.verdicts[0].time is None


def test_events_sent_by_a_handler_come_later():
    spec = spec_of("<*>[0,1s] a", categories=("violation", "disordered", "untimed"))

    def react(verdict):
        if verdict.category == "violation" and len(found) < 5:
            found.append(verdict)
            monitor.emit("b")
        found.append(verdict)

    found = []
    monitor = Monitor(spec, on_verdict=react)
    monitor.emit("b")
    assert {each.category for each in found} == {"violation"}
    assert [each.time for each in found] != []


# ---- collection ----


class Thing:
    """An object that can die."""


def test_instances_go_with_the_objects_of_the_events_that_report():
    spec = mopsus.parse("T(p, q) { event a(p) event b(q) event c(p, q) mtl : a => <*>[0,5s] (b or c) }")["T"]
    kept = Thing()
    with Monitor(spec) as monitor:
        for _ in range(50):
            monitor.emit("c", p=Thing(), q=kept)
        gc.collect()
        assert monitor.stats().alive <= 1  # at most the one that binds `q` alone
        for _ in range(50):
            monitor.emit("c", p=kept, q=Thing())
        gc.collect()
        assert monitor.stats().alive >= 50  # `a` may still come


def test_released_values_end_their_instances():
    spec = mopsus.parse("T(p) { event a(p) event b(p) mtl : a => <*>[5s,9s] b }")["T"]
    with Monitor(spec, history=0) as monitor:
        for number in range(1000):
            monitor.row("b", {"p": number}, time=number)
            monitor.row("#release", {"p": number})
        assert monitor.stats().alive == 0
        assert monitor.stats().bytes < 200_000
        monitor.row("a", {"p": 3}, time=1008)  # a new one of the same name
        assert [each.category for each in monitor.verdicts] == ["violation"]


def test_a_reset_forgets_what_was():
    text = "T { event a() event b() mtl : b => <*>[0,9s] a @validation { __RESET } @violation {} }"
    with Monitor(mopsus.parse(text)["T"]) as monitor:
        for event, now in (("a", 0), ("b", 1), ("b", 2)):
            monitor.row(event, {}, time=now)
        assert [each.category for each in monitor.verdicts] == ["validation", "violation", "violation"]


@pytest.mark.parametrize("formula", ["c => (a => {})", "not (c and (a and not {}))", "c => not (a and not {})"])
def test_connectives_in_each_other_are_known_as_soon_as_one_of_their_operands_decides(formula):
    text = f"T {{ event a() event c() mtl : {formula.format('<>[2,5] c')} @validation @violation }}"
    with Monitor(mopsus.parse(text)["T"]) as monitor:
        for number, (event, now) in enumerate([("a", 0), ("c", 0), ("a", 5), ("c", 5)], 1):
            monitor.row(event, {}, time=now)
            assert [each.category for each in monitor.verdicts] == ["validation"] * number


def test_damaged_snapshots_are_refused_or_harmless():
    rng = Random(5)
    spec = spec_of("(a => <>[1,4] b) and (c S[1,3] (*)a)")
    monitor = Monitor(spec)
    for number in range(12):
        monitor.row("abc"[rng.randrange(3)], {}, time=number / 2)
    saved = monitor.snapshot()
    refused = 0
    for at in range(len(saved["items"])):
        for value in (-1, 0, 7, 2**62, "x"):
            items = [*saved["items"]]
            items[at] = value
            other = Monitor(spec)
            try:
                other.restore(saved | {"items": items})
            except MopsusError:
                refused += 1
                continue
            for number in range(9):
                other.row("abc"[number % 3], {}, time=100 + number)
    assert refused > len(saved["items"])


# ---- the command ----

DOOR = """
Door(card) {
  event auth(card)
  event open(card)
  mtl : open => <*>[0,5s] auth
}
"""

ROWS = [
    {"event": "auth", "card": "x", "time": 0.5},
    {"event": "open", "card": "x", "time": 5.5},
    {"event": "open", "card": "x", "time": 5.75},
    {"event": "open", "card": "y", "time": 6},
]


def check(tmp_path, spec, name, text):
    (tmp_path / "spec.mop").write_text(spec)
    (tmp_path / name).write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "mopsus", "check", "--json", "spec.mop", name],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    return [(each["witness"][-1]["row"], each["category"]) for each in json.loads(done.stdout)["verdicts"]]


def test_check_of_csv_and_json_lines(tmp_path):
    lines = "".join(json.dumps(row) + "\n" for row in ROWS)
    table = "event,card,time\n" + "".join(f"{row['event']},{row['card']},{row['time']}\n" for row in ROWS)
    wanted = [(3, "violation"), (4, "violation")]
    assert check(tmp_path, DOOR, "t.jsonl", lines) == wanted
    assert check(tmp_path, DOOR, "t.csv", table) == wanted
    in_ms = "event,card,time\n" + "".join(f"{row['event']},{row['card']},{int(row['time'] * 1000)}\n" for row in ROWS)
    assert check(tmp_path, DOOR.replace("mtl :", "mtl : unit ms;"), "t.csv", in_ms) == wanted


def test_check_says_what_is_wrong_with_times(tmp_path):
    table = "event,card,time\nauth,x,5\nopen,x,4\nopen,x,\nopen,x,7\n"
    assert check(tmp_path, DOOR, "t.csv", table) == [(2, "disordered"), (3, "untimed")]
    assert check(tmp_path, DOOR, "t.csv", "event,card\nauth,x\n") == [(1, "untimed")]


def test_the_example_of_the_doors(tmp_path):
    doors = Path(__file__).resolve().parents[2] / "examples" / "doors"
    found = check(tmp_path, (doors / "doors.mop").read_text(), "t.csv", (doors / "doors.csv").read_text())
    assert found == [(8, "violation"), (12, "violation")]
