"""Python in a spec: conditions, actions, handlers and monitor variables."""

from __future__ import annotations

import builtins
import logging

import pytest

import mopsus

pytestmark = pytest.mark.interpreter


def spec_of(text: str) -> mopsus.Spec:
    (only,) = mopsus.parse(text).values()
    return only


LIMIT = """
Limit(q) {
    var n: int = 0
    event put(q) { n += 1 }
    event over(q) : condition(n > 2)
    ere : put* over
    @match { out.append((q, n, __LOC, __MONITOR.n, __DEFAULT_MESSAGE)) }
}
"""


@pytest.fixture
def out(monkeypatch):
    """What the code of a spec appends to `out`."""
    found: list[object] = []
    monkeypatch.setattr(builtins, "out", found, raising=False)
    return found


def test_conditions_read_the_variables_of_their_instance(out):
    with spec_of(LIMIT).monitor() as monitor:
        for event, q in [("put", 1), ("over", 1), ("put", 2), ("put", 1), ("put", 1), ("over", 1), ("over", 2)]:
            monitor.row(event, {"q": q}, source="t.csv", row=9)
    assert [(q, n, place, same) for q, n, place, same, _ in out] == [(1, 3, "t.csv:9", 3)]
    assert "Limit" in out[0][4]
    assert [verdict.binding for verdict in monitor.verdicts] == [{"q": 1}]


def test_an_action_runs_before_the_step_and_knows_its_place(out):
    text = """
    S(x) {
        event a(x) : condition(out.append(("condition", __LOC)) or True) { out.append(("action", __LOC)) }
        ere : a a
        @match { out.append(("handler", __LOC)) }
    }
    """
    with spec_of(text).monitor() as monitor:
        for row in (1, 2):
            monitor.row("a", {"x": 0}, source="t.csv", row=row)
    places = [(row, kind) for kind, place in out for row in [place.removeprefix("t.csv:")]]
    assert places == [("1", "condition"), ("1", "action"), ("2", "condition"), ("2", "action"), ("2", "handler")]


def test_an_action_of_a_live_event_knows_the_line_that_sent_it(out):
    with spec_of("S(x) { event a(x) { out.append(__LOC) }\n ere : a a }").monitor() as monitor:
        monitor.emit("a", x=object())
        monitor.event("a")(object())
    assert [place.rpartition(":")[0] for place in out] == [__file__, __file__]
    assert len(set(out)) == 2


def test_a_derived_instance_starts_with_the_variables_of_its_parent(out):
    text = """
    S(a, b) {
        var n: int = 0
        event one(a) { n += 1 }
        event two(a, b) { n += 10 }
        ere : one+ two+
        @match { out.append((a, b, n)) }
    }
    """
    with spec_of(text).monitor() as monitor:
        for event, values in [
            ("one", {"a": 1}),
            ("one", {"a": 1}),
            ("two", {"a": 1, "b": 5}),
            ("two", {"a": 1, "b": 6}),
            ("two", {"a": 1, "b": 5}),
        ]:
            monitor.row(event, values)
    assert out == [(1, 5, 12), (1, 6, 12), (1, 5, 22)]


@pytest.mark.parametrize("form", ["__RESET", "__RESET()"])
def test_a_handler_may_start_over(out, form):
    with spec_of(
        f"S(x) {{ event a(x)\n event b(x)\n ere : a b\n @match {{ out.append(x); {form} }} }}"
    ).monitor() as monitor:
        for event in "ababab":
            monitor.row(event, {"x": 1})
    assert out == [1, 1, 1]


def test_a_raw_spec_only_acts(out):
    with spec_of("S(x) { var n: int = 0\n event a(x) { n += 1; out.append((x, n)) } }").monitor() as monitor:
        for x in (1, 2, 1):
            monitor.row("a", {"x": x})
    assert out == [(1, 1), (2, 1), (1, 2)]
    assert monitor.verdicts == []


@pytest.mark.parametrize(
    "text",
    [
        "S(x) { event a(x) { 1 / 0 }\n ere : a a }",
        "S(x) { event a(x) : condition(1 / 0)\n ere : a a }",
        "S(x) { event a(x)\n ere : a+\n @match { 1 / 0 } }",
    ],
    ids=["action", "condition", "handler"],
)
def test_a_fault_is_logged_once_counted_and_goes_no_further(text, caplog):
    with caplog.at_level(logging.ERROR, "mopsus"), spec_of(text).monitor() as monitor:
        for _ in range(3):
            monitor.emit("a", x=object())
    assert monitor.stats().faults == 3
    [record] = caplog.records
    assert record.exc_info[0] is ZeroDivisionError


def test_a_callback_that_fails_goes_no_further(caplog):
    def fail(verdict: object) -> None:
        raise RuntimeError(str(verdict))

    with caplog.at_level(logging.ERROR, "mopsus"), spec_of("S(x) { event a(x)\n ere : a }").monitor(fail) as monitor:
        monitor.emit("a", x=object())
    assert monitor.stats().faults == 1


def test_an_event_sent_from_an_action_comes_after_it(out, monkeypatch):
    text = """
    S(x) {
        event a(x) { out.append("a"); again() }
        event b(x) { out.append("b") }
        ere : a b
    }
    """
    monitors: list[mopsus.Monitor] = []
    monkeypatch.setattr(builtins, "again", lambda: monitors[0].emit("b", x=1), raising=False)
    with spec_of(text).monitor() as monitor:
        monitors.append(monitor)
        monitor.emit("a", x=1)
    assert out == ["a", "b"]
    assert len(monitor.verdicts) == 1


def test_code_can_be_refused(out):
    with pytest.raises(mopsus.MopsusError, match="Python code"):
        spec_of(LIMIT).monitor(allow_code=False)
