"""Errors in the code of specs: what is told of them, and that a condition that raises admits nothing."""

from __future__ import annotations

import logging
import os
import zlib
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from monitor.ways import WAYS, Way
from oracle.compiled import subject_of
from oracle.slicing import AlgorithmC, Instance, instance, run
from oracle.strategies import Case, random_spec, random_trace

import mopsus
from mopsus.model import Code, Event, Fault
from mopsus.model.fault import MOST, Faults
from mopsus.monitor import MonitorError

pytestmark = pytest.mark.interpreter

CASES = int(os.environ.get("MOPSUS_CASES", "5000")) // 100


# ---- conditions that raise


def is_bad(event: str, theta: Instance, salt: int) -> bool:
    return zlib.crc32(repr((event, sorted(map(repr, theta)), salt)).encode()) % 3 == 0


def raising_sometimes(event: Event, salt: int) -> Event:
    """The event with a condition that raises for some values."""

    def condition(*values: object) -> bool:
        if is_bad(event.name, instance(dict(zip(event.parameters, values, strict=True))), salt):
            raise LookupError(event.name)
        return True

    names = ", ".join(event.parameters)
    namespace = {"condition": condition}
    exec(f"def function(self, {names}): return condition({names})", namespace)
    return replace(event, condition=Code("condition()", None, namespace["function"]))


def taking_no(salt: int) -> type[AlgorithmC]:
    """The oracle, with monitors that take no event whose condition raises."""

    class Picky(AlgorithmC):
        def extend(self, event: str, theta: Instance) -> Collection[Instance]:
            everyone = super().extend(event, theta)
            return [] if is_bad(event, theta, salt) else everyone

    return Picky


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_condition_that_raises_admits_nothing(way: Way, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, "mopsus")
    raised = 0
    for seed in range(CASES):
        rng = Random(seed)
        spec = random_spec(rng, parameters=rng.choice((1, 2, 3)))
        if spec.modifiers.suffix:
            continue  # an event that nobody takes begins a suffix all the same
        events = {event.name: event.parameters for event in spec.events}
        trace = random_trace(rng, events, way.values, threads=spec.modifiers.perthread, noise=way.noise)
        picky = replace(spec, events=tuple(raising_sometimes(event, seed) for event in spec.events))
        expected = run(taking_no(seed), subject_of(spec), trace)
        assert way.reports(Case(picky, trace), Random(seed)) == expected, f"seed {seed}\n{Case(spec, trace)}"
        raised += any(
            is_bad(each.event, instance({name: each.binding[name] for name in events[each.event]}), seed)
            for each in trace
            if each.event in events
        )
    assert raised


def monitor_of(text: str) -> mopsus.Monitor:
    (spec,) = mopsus.parse(text, "faulty.mop").values()
    return spec.monitor()


def test_a_guard_that_raises_takes_no_transition(tmp_path: Path) -> None:
    file = tmp_path / "faulty.mop"
    file.write_text(
        """S(q) {
            event put(q; n)
            efsm :
                state init { transition { event put { return 1 / n } success bad failure bad } }
                state bad
            @bad
        }"""
    )
    with mopsus.load(file)["S"].monitor() as monitor:
        monitor.emit("put", q=1, n=0)
        assert monitor.verdicts == []
        monitor.emit("put", q=1, n=2)
    assert len(monitor.verdicts) == 1
    (fault,) = monitor.faults
    assert (fault.code, fault.event, fault.error, fault.place) == ("guard", "put", "ZeroDivisionError", f"{file}:4")


# ---- what is told


PIECES = {
    "condition of event a": "S(x) { event a(x) : condition(x / 0)\n ere : a }",
    "action of event a": "S(x) { event a(x) { x / 0 }\n ere : a a }",
    "handler @match of ere": "S(x) { event a(x)\n ere : a+\n @match { x / 0 } }",
    "initial value of variable n": "S(x) { var n = 1 / 0\n event a(x)\n ere : a a }",
    "block": "S(x) { event a(x)\n efsm : state init { transition { event a success { x / 0 } init } } }",
    "initialization": "S(x) { event a(x)\n efsm : initialization { n = 1 / 0 } state init { transition { event a } } }",
}


@pytest.mark.parametrize("code", PIECES)
def test_which_code_it_was_and_where_and_when(code: str) -> None:
    with monitor_of(PIECES[code]) as monitor:
        monitor.row("a", {"x": 1}, source="trace.csv", row=7)
    (fault,) = monitor.faults
    assert fault.spec == "S"
    assert fault.code == code
    line = PIECES[code][: PIECES[code].index("/ 0")].count("\n") + 1
    assert fault.place == f"faulty.mop:{line}"
    assert (fault.error, fault.message, fault.count) == ("ZeroDivisionError", "division by zero", 1)
    assert fault.traceback.startswith("Traceback")
    assert "monitor.py" not in fault.traceback
    if not code.startswith("init"):
        assert (fault.event, fault.location, fault.row) == ("a", "trace.csv:7", 7)


def test_the_same_error_of_a_line_is_one_fault() -> None:
    with monitor_of("S(x) { event a(x) : condition([][x])\n ere : a }") as monitor:
        for number in (1, 2, "text", 3):
            monitor.row("a", {"x": number})
    counts = {fault.error: fault.count for fault in monitor.faults}
    assert counts == {"IndexError": 3, "TypeError": 1}
    assert monitor.stats().faults == 4


def test_endless_recursion_has_a_short_traceback() -> None:
    with monitor_of("S(x) { event a(x) { def f(n): return f(n + 1)\n f(0) }\n ere : a a }") as monitor:
        monitor.row("a", {"x": 1})
    (fault,) = monitor.faults
    assert fault.error == "RecursionError"
    assert len(fault.traceback.splitlines()) < 100


def test_an_error_that_cannot_be_shown_is_a_fault_all_the_same() -> None:
    text = """S(x) { event a(x) {
        class Odd(Exception):
            def __str__(self): raise ValueError
        raise Odd
    }\n ere : a a }"""
    with monitor_of(text) as monitor:
        monitor.row("a", {"x": 1})
    (fault,) = monitor.faults
    assert fault.error == "Odd"


def test_very_many_different_faults_stay_few() -> None:
    faults = Faults(Fault("S", f"code {number}", None, "KeyError") for number in range(1000))
    assert len(faults) == MOST + 1
    assert sum(fault.count for fault in faults) == 1000


def test_whatever_a_handler_raises_the_verdict_is_reported() -> None:
    monitor = monitor_of("S(x) { event a(x)\n ere : a\n @match { raise SystemExit(0) } }")
    with pytest.raises(SystemExit):
        monitor.emit("a", x=1)
    assert len(monitor.verdicts) == 1


@pytest.mark.parametrize("code", ["{ raise CancelledError }", ": condition(cancelled())", "{ cancelled() }"])
def test_what_cancels_a_task_does_not_get_out_of_code(code: str) -> None:
    variable = "var cancelled = lambda: (_ for _ in ()).throw(CancelledError)"
    monitor = monitor_of(f"from asyncio import CancelledError\nS(x) {{ {variable}\n event a(x) {code}\n ere : a a }}")
    monitor.emit("a", x=1)
    assert [fault.error for fault in monitor.faults] == ["CancelledError"]


@pytest.mark.parametrize("line", ["import no_such_module_", "from os import nothing_", "import leaving_"])
def test_an_import_that_fails_is_an_error_with_its_place(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "leaving_.py").write_text("raise SystemExit(0)")
    monkeypatch.syspath_prepend(str(tmp_path))
    text = f"import os\n{line}\nS(x) {{ event a(x)\n ere : a }}"
    with pytest.raises(MonitorError) as told:
        mopsus.parse(text, "s.mop")["S"].monitor()
    [found] = told.value.diagnostics
    assert (found.code, found.source, found.span and found.span.line) == ("MONITOR-012", line, 2)


def test_a_generators_end_does_not_get_out_of_a_handler() -> None:
    monitor = monitor_of("S(x) { event a(x)\n ere : a\n @match { raise GeneratorExit } }")

    def program() -> object:
        monitor.emit("a", x=1)
        yield 1

    assert list(program()) == [1]
    assert [(fault.code, fault.error) for fault in monitor.faults] == [("handler @match of ere", "GeneratorExit")]


def test_an_order_to_exit_from_an_action_comes_after_the_event() -> None:
    monitor = monitor_of("S(x) { event a(x) { raise SystemExit(3) }\n ere : a }")
    with pytest.raises(SystemExit):
        monitor.emit("a", x=1)
    assert len(monitor.verdicts) == 1


# ---- ending


def test_closed_by_a_fault_nothing_more_comes_of_the_event_or_of_later_ones() -> None:
    text = "S(x) { event a(x) : condition(1 / (x - 2))\n event b(x) { print('never') }\n ere : (a | b)+ }"
    for batch in (False, True):
        monitor = monitor_of(text)
        monitor.on_fault = lambda error, fault, monitor=monitor: monitor.close()
        rows = [{"event": "a", "x": number} for number in (1, 2, 3, 4)]
        if batch:
            pa = pytest.importorskip("pyarrow")
            monitor.run(pa.Table.from_pylist(rows))
        else:
            for row in rows[:2]:
                monitor.row(row["event"], {"x": row["x"]})
            with pytest.raises(mopsus.MopsusError, match="closed"):
                monitor.row("a", {"x": 3})
        assert [verdict.binding["x"] for verdict in monitor.verdicts] == [1]
        assert monitor.closed
        assert len(monitor.faults) == 1
