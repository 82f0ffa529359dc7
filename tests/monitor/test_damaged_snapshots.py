"""A snapshot that was damaged, by chance or on purpose, is refused, or harmless whatever comes afterwards."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from monitor import test_cfg_verdicts, test_ptcaret_monitor, test_srs_monitor
from monitor.ways import COLUMNS
from oracle import automata, randomly, strategies

import mopsus
from mopsus.logics import CompiledSpec, compile_spec
from mopsus.model import Spec
from mopsus.monitor import Monitor, MonitorError

CASES = max(12, int(os.environ.get("MOPSUS_CASES", "0")) // 50)
SLOW = settings(max_examples=CASES, deadline=None, suppress_health_check=list(HealthCheck))
VALUES = (*COLUMNS, (1, 2, "x", 3.5), (1.0, True, "1", b"1", 2**70, (None, 1, ("x", 2.5)), "\ud800"))

Row = tuple[str, dict[str, Any], Any]  # the last one is the thread
Case = tuple[Spec | CompiledSpec, Sequence[Row]]

CONNECTED = mopsus.parse(
    """connected maximal-binding U(m, i) {
    event a(m)
    event b(m, i)
    event d(i)
    fsm : s [a -> s, b -> t] t [d -> s]
    @fail {}
    @t {}
}"""
)["U"]


def feed(monitor: Monitor, rows: Sequence[Row], first: int = 1) -> None:
    for number, (event, binding, thread) in enumerate(rows, first):
        monitor.row(event, binding, thread=thread, row=number, time=float(number), source="trace.csv")


def snapshot_of(spec: Spec | CompiledSpec, rows: Sequence[Row], history: int) -> dict[str, Any]:
    with Monitor(spec, history=history) as monitor:
        feed(monitor, rows)
        data: dict[str, Any] = json.loads(json.dumps(monitor.snapshot()))
        return data


def taken(spec: Spec | CompiledSpec, data: dict[str, Any], rows: Sequence[Row], history: int) -> bool:
    """Was it taken over? Then rows come, and everything that a monitor is asked is asked."""
    with Monitor(spec, history=history) as monitor:
        try:
            monitor.restore(data)
        except MonitorError:
            assert monitor.stats().created == 0, "nothing of what is refused may stay"
            feed(monitor, rows)
            restored(spec, monitor.snapshot(), history)
            return False
        feed(monitor, rows)
        monitor.stats()
        list(map(repr, monitor.verdicts))
        try:
            again = monitor.snapshot()
        except MonitorError:
            return True
    once = restored(spec, again, history)
    twice = restored(spec, once, history)
    assert twice["items"] == once["items"], (data["items"], rows, again["items"])
    return True


def restored(spec: Spec | CompiledSpec, data: dict[str, Any], history: int) -> dict[str, Any]:
    with Monitor(spec, history=history) as monitor:
        monitor.restore(data)
        return monitor.snapshot()


def damage(items: list[Any], rng: Random) -> list[Any]:
    items = list(items)
    for _ in range(rng.randint(1, 4)):
        if not items:
            break
        at, other = rng.randrange(len(items)), rng.randrange(len(items))
        size = rng.choice((1, 1, 1, 2, 5))
        match rng.randrange(7):
            case 0:
                items[at] = rng.choice((0, 1, 2, 3, -1, rng.randrange(300), 2**31, 2**32 - 1, 2**63 - 1, -(2**63)))
            case 1 if isinstance(items[at], int):
                items[at] += rng.choice((-1, 1))
            case 1:
                items[at] = changed(items[at], rng)
            case 2:
                items[at] = items[other]
            case 3:
                del items[at : at + size]
            case 4:
                items[at:at] = items[other : other + size]
            case 5:
                items[at], items[other] = items[other], items[at]
            case _:
                items[at] = rng.choice(("", "x", "0", "-", "{}", "J3:C11", "J" * 20, str(items[at])))
    return items


def changed(text: str, rng: Random) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(("", "0", "A", ":", "\x00", "\xff")) + text[at + rng.randrange(2) :]


def compare_all(spec: Spec | CompiledSpec, rows: Sequence[Row], rng: Random) -> None:
    history = rng.choice((0, 1, 4))
    cut = rng.randint(0, len(rows))
    data = snapshot_of(spec, rows[:cut], history)
    assert taken(spec, data, rows[cut:], history)
    for _ in range(5):
        later = rng.choices(rows, k=20) if rows else []
        taken(spec, data | {"items": damage(data["items"], rng)}, later, history)


def rows_of(case: strategies.Case) -> Case:
    return case.spec, [(each.event, dict(each.binding), each.thread) for each in case.trace]


FORMULAS = (
    "(a => <>[1,4] b) and (c S[1,3] (*)a)",
    "a S[1,2] b",
    "[][0,3] (a => (c U[1,2] b))",
    "(*)[0,1] <>[0,2] a",
)


def timed(rng: Random) -> Case:
    formula = rng.choice(FORMULAS)
    (spec,) = mopsus.parse(
        f"T(p, q) {{ event a(p)\n event b(q)\n event c(p, q)\n mtl : {formula}\n @violation\n @validation }}"
    ).values()
    events = [(event.name, event.parameters) for event in spec.events]
    drawn = [rng.choice(events) for _ in range(30)]
    return spec, [(event, {name: rng.choice("pq") for name in names}, None) for event, names in drawn]


MAKERS: dict[str, Callable[[Random], Case]] = {
    "tables": lambda rng: rows_of(strategies.random_case(rng, VALUES, noise=True)),
    "stacks": lambda rng: rows_of(test_cfg_verdicts.random_cfg_case(rng, VALUES)),
    "rewriting": lambda rng: rows_of(test_srs_monitor.random_case(rng, VALUES)),
    "calls": lambda rng: rows_of(test_ptcaret_monitor.random_case(rng, VALUES)),
    "times": timed,
}


@pytest.mark.parametrize("kind", MAKERS)
def test_random_damage(kind: str) -> None:
    source = Random(None if os.environ.get("MOPSUS_RANDOM") else 1)
    for _ in range(CASES):
        seed = source.randrange(2**32)
        rng = Random(seed)
        spec, rows = MAKERS[kind](rng)
        compare_all(spec, rows, rng)


@SLOW
@given(
    machine=st.booleans().flatmap(lambda linear: randomly.machines(linear=linear)),
    word=st.lists(st.tuples(st.sampled_from("pq"), randomly.events), min_size=1, max_size=8),
    rng=st.randoms(use_true_random=False),
)
def test_random_damage_of_data(machine: Any, word: Any, rng: Random) -> None:
    names = randomly.NAMES
    rows = [
        (names[n], {"p": p} | {f"{names[n]}{k}": each for k, each in enumerate(data)}, None) for p, (n, data) in word
    ]
    compare_all(randomly.compiled(machine), rows, rng)


@SLOW
@given(case=automata.cases(), rng=st.randoms(use_true_random=False))
def test_random_damage_of_slices(case: automata.Case, rng: Random) -> None:
    rows = [(each.event, each.values, None) for each in case.trace]
    compare_all(compile_spec(case.spec), rows, rng)


def test_every_single_change_of_a_small_snapshot() -> None:
    """A value without a class crashed the process at the next row."""
    rng = Random(7)
    rows: list[Row] = [
        ("a", {"m": 1}, None),
        ("b", {"m": 1, "i": "x"}, None),
        ("d", {"i": "x"}, None),
        ("b", {"m": 1, "i": 2}, None),
        ("d", {"i": 2}, None),
    ]
    data = snapshot_of(CONNECTED, rows, 4)
    items = data["items"]
    refused = 0
    for at in range(len(items)):
        others = (0, 1, 2, 7, -1, 2**40, "x")
        for wrong in (
            items[:at],
            [*items[:at], *items[at + 1 :]],
            *([*items[:at], one, *items[at + 1 :]] for one in others),
        ):
            refused += not taken(CONNECTED, data | {"items": wrong}, rng.choices(rows, k=10), 4)
    assert refused > 4 * len(items)


def test_a_value_is_of_one_class_and_all_that_instances_bind_have_one() -> None:
    rows: list[Row] = [("a", {"m": 1}, None), ("b", {"m": 1, "i": "x"}, None), ("b", {"m": 3.5, "i": 2}, None)]
    data = snapshot_of(CONNECTED, rows, 0)
    counts = 6 + 3 + 2 + 6  # in the end: of instances, events, other rows, instances of threads
    classes = data["items"][:-counts]
    # Of each of the four values: its node, the one that stands for its class, and whether it is buried.
    assert classes[-12:-9:3] == [1]
    for wrong in ([*classes[:-12], 0, *classes[-9:]], [*classes[:-9], 1, 1, 0, *classes[-6:]]):
        assert not taken(CONNECTED, data | {"items": wrong + data["items"][-counts:]}, rows, 0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"items": 5},
        {"items": [2**70]},
        {"items": ["\u0416"]},
        {"items": [None]},
        {"verdicts": []},
        {"verdicts": {"match": "many"}},
        {"verdicts": {"match": -1}},
    ],
    ids=str,
)
def test_what_is_no_data_of_a_snapshot_is_refused(wrong: dict[str, Any]) -> None:
    rows: list[Row] = [("a", {"m": 1}, None)]
    assert not taken(CONNECTED, snapshot_of(CONNECTED, rows, 0) | wrong, rows, 0)


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "C",
        "C1",
        "C:1",
        "C2:1",
        "C01:1",
        "C1:x",
        "B0:",
        "A1:1",
        "Z1:1",
        "C20:18446744073709551616",
        "E1:2",
        "I3:0x1",
        "J2:C9",
    ],
)
def test_a_tuple_that_is_none_is_refused(text: str) -> None:
    """It got as far as to the report of it, and was an error of another kind there."""
    spec = mopsus.parse("S(i) { event e(i)\n ere : e e\n @match }")["S"]
    data = snapshot_of(spec, [("e", {"i": (1, 2)}, None)], 0)
    where = data["items"].index("C1:1C1:2")
    damaged = [*data["items"][:where], text, *data["items"][where + 1 :]]
    assert not taken(spec, data | {"items": damaged}, [("e", {"i": (1, 2)}, None)], 0)


def test_tuples_too_deep_to_be_plain_are_refused() -> None:
    spec = mopsus.parse("S(i) { event e(i)\n ere : e e\n @match }")["S"]
    data = snapshot_of(spec, [("e", {"i": (1, 2)}, None)], 0)
    where = data["items"].index("C1:1C1:2")
    text = ""
    for _ in range(2000):
        text = f"J{len(text)}:{text}"
    data["items"][where] = text
    assert not taken(spec, data, [], 0)
