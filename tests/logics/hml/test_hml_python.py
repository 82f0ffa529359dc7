"""Formulas with data in `.mop` files, run by the monitor: patterns and guards of Python, instances, refused code."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from enum import Enum

import pytest

from mopsus import load
from mopsus.model.term import Atom, Pid, String
from mopsus.monitor import Monitor, MonitorError
from mopsus.spec import parse
from mopsus.spec.hml.predicates import PREDICATES


def monitor_of(formula: str, logic: str = "shml", imports: str = "") -> Monitor:
    """A monitor of one event `e(p; x)` that reports every verdict."""
    other = "inconclusive" if logic == "shml" else "acceptance"
    text = f"{imports}S(p) {{\n    event e(p; x)\n    {logic} : {formula}\n    @rejection\n    @{other}\n}}\n"
    return Monitor(parse(text)["S"])


def verdict(formula: str, *values: object, logic: str = "shml", imports: str = "") -> str | None:
    monitor = monitor_of(formula, logic, imports)
    for value in values:
        monitor.emit("e", p=1, x=value)
    return monitor.verdicts[0].category if monitor.verdicts else None


def fits(pattern: str, value: object) -> bool:
    return verdict(f"[e({pattern})] ff", value) == "rejection"


Point = namedtuple("Point", "x y")


@dataclass(frozen=True)
class Cell:
    row: int
    column: int


@dataclass
class Mutable:
    row: int


class Colour(Enum):
    RED = 1
    GREEN = "verde"


class Plain:
    pass


@pytest.mark.parametrize(
    ("pattern", "value", "expected"),
    [
        ("_", object(), True),
        ("1", 1, True),
        ("1", 1.0, False),
        ("1", True, False),
        ("True", True, True),
        ("True", 1, False),
        ("None", None, True),
        ("'a'", "a", True),
        ("'a'", Atom("a"), True),
        ("'a'", String("a"), True),
        ("'a'", b"a", False),
        ("b'a'", b"a", True),
        ("(1, _)", (1, 2), True),
        ("(1, _)", [1, 2], False),
        ("[1, *rest]", [1], True),
        ("[1, *rest]", [], False),
        ("[1, *(2,)]", [1], False),
        ("(a, a)", (3, 3), True),
        ("(a, a)", (3, 4), False),
        ("{'k': 1}", {"k": 1, "more": 2}, True),
        ("{'k': 1}", {"k": 2}, False),
        ("{'k': _}", {}, False),
        ("{}", {}, True),
        ("(1, 2)", Point(1, 2), True),
        ("Point(1, _)", Point(1, 2), True),
        ("Point(1, _)", (1, 2), False),
        ("Other(1, _)", Point(1, 2), False),
        ("Cell(1, c)", Cell(1, 2), True),
        ("(1, 2)", Cell(1, 2), True),
        ("Mutable(1)", Mutable(1), False),
        ("'red'", Colour.RED, True),
        ("1", Colour.RED, True),
        ("'verde'", Colour.GREEN, True),
        ("'green'", Colour.GREEN, True),
        ("'blue'", Colour.GREEN, False),
        ("()", (), True),
        ("-2.5", -2.5, True),
    ],
)
def test_patterns(pattern, value, expected):
    assert fits(pattern, value) is expected


def test_objects_are_known_by_identity():
    one, other = Plain(), Plain()
    assert verdict("[e(a)][e(^a)] ff", one, one) == "rejection"
    assert verdict("[e(a)][e(^a)] ff", one, other) == "inconclusive"


@pytest.mark.parametrize(
    ("guard", "value", "expected"),
    [
        ("x > 3", 4, True),
        ("x > 3", 3, False),
        ("x > 3", "four", False),
        ("x.missing", 4, False),
        ("1 / x > 0", 0, False),
        ("x", [], False),
        ("x", [1], True),
        ("len(x) > 1 and x[0] == 'a'", "ab", True),
        ("any(c == 'b' for c in x)", "ab", True),
        ("(lambda y: y + 1)(x) == 5", 4, True),
        ("isinstance(x, str)", Pid("<0.1.2>"), True),
        ("x == {'a': [1]}", {"a": [1]}, True),
        ("math.floor(x) == 2", 2.5, True),
    ],
)
def test_guards(guard, value, expected):
    assert (verdict(f"[e(x) when {guard}] ff", value, imports="import math\n") == "rejection") is expected


def test_a_guard_that_raises_an_error_is_a_fault_and_holds_for_nobody(tmp_path):
    (tmp_path / "s.mop").write_text(
        "S(p) {\n    event e(p; x)\n    event f(p; x)\n    shml :\n    [e(x) when x.size > 1] ff\n}\n"
    )
    trace = tmp_path / "t.jsonl"
    trace.write_text('{"event": "e", "p": 1, "x": 2}\n' * 2)
    [compiled] = load(tmp_path / "s.mop").values()
    monitor = Monitor(compiled)
    monitor.on_fault = lambda error, fault: None
    monitor.emit("e", p=1, x=1)
    assert monitor.verdicts == []
    [fault] = monitor.faults
    assert (fault.code, fault.error, fault.event) == ("guard `x.size > 1`", "AttributeError", "e")
    assert fault.place == f"{tmp_path / 's.mop'}:5"
    assert fault.location is not None


def test_a_predicate_that_raises_an_error_is_a_fault_and_lets_go_what_leaves(monkeypatch):
    def known(value):
        raise SystemExit(2) if value == 2 else LookupError(value)

    monkeypatch.setitem(PREDICATES, "known", known)
    text = "with m:f(_) monitor [_ ? X when not known(X)]ff."
    monitor = Monitor(parse(text, "k.hml")["k"])
    monitor.on_fault = lambda error, fault: None
    component = Pid("<0.1.0>")
    monitor.emit("start", component=component, module=Atom("m"), function=Atom("f"), arguments=[1])
    monitor.emit("recv", component=component, subject=component, message=1)
    monitor.emit("start", component=Pid("<0.2.0>"), module=Atom("m"), function=Atom("f"), arguments=[1])
    with pytest.raises(SystemExit):
        monitor.emit("recv", component=Pid("<0.2.0>"), subject=component, message=2)
    assert [(fault.code, fault.error) for fault in monitor.faults] == [("guard `known(X)`", "LookupError")]
    assert [verdict for verdict in monitor.verdicts if verdict.category == "rejection"] == []


def test_guards_see_the_objects_themselves():
    seen = []
    formula = "[e(x) when x.append(1) is None] ff"
    monitor = monitor_of(formula)
    monitor.emit("e", p=1, x=seen)
    assert seen == [1]


def test_every_instance_has_its_own_obligations():
    monitor = monitor_of("max X.([e(n)][e(m) when m < n] ff and [e(_)] X)")
    for p, x in [(1, 5), (2, 1), (1, 6), (2, 2), (1, 4)]:
        monitor.emit("e", p=p, x=x)
    assert [(each.category, dict(each.binding)) for each in monitor.verdicts] == [("rejection", {"p": 1})]
    assert dict(monitor.verdicts[0].steps[-1].binding) == {"m": 4}


def test_linear():
    assert verdict("max X.([e(n)] <e(^n)> X)", 1, 1, 2, 2, logic="maxhml") is None
    assert verdict("max X.([e(n)] <e(^n)> X)", 1, 1, 2, 3, logic="maxhml") == "rejection"
    assert verdict("<{e(n) when n > 1}> tt or [e(1)] ff", 0, logic="maxhml") == "acceptance"


def test_states_do_not_grow_without_need():
    """What grows exponentially elsewhere: every correct answer leads to the same two obligations."""
    monitor = monitor_of("max X.([e((a, b, c)) when a + b != c] ff and [e((a, b, c)) when a + b == c] X and [e(_)] X)")
    for number in range(2000):
        monitor.emit("e", p=1, x=(number, 1, number + 1))
    assert not monitor.verdicts
    assert monitor.stats().obligations <= 3


def test_code_is_refused_without_permission():
    text = "S(p) {\n    event e(p; x)\n    shml : [e(x) when x > 1] ff\n}\n"
    with pytest.raises(MonitorError, match="contains Python code"):
        Monitor(parse(text)["S"], allow_code=False)
    plain = text.replace(" when x > 1", "")
    monitor = Monitor(parse(plain)["S"], allow_code=False)
    monitor.emit("e", p=1, x=0)
    assert len(monitor.verdicts) == 1


def test_rejection_is_reported_without_handlers():
    monitor = Monitor(parse("S(p) {\n    event e(p; x)\n    shml : [e(1)] ff\n}\n")["S"])
    monitor.emit("e", p=1, x=2)
    monitor.emit("e", p=2, x=1)
    assert [each.category for each in monitor.verdicts] == ["rejection"]
