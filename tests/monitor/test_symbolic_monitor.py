"""Formulas with data in the real monitor: where the data comes from, what values mean, and how long they live."""

from __future__ import annotations

import enum
import gc
import weakref
from dataclasses import dataclass
from typing import NamedTuple

import pyarrow as pa
import pytest
from oracle.randomly import GOAL

import mopsus
from mopsus.logics import CompiledSpec
from mopsus.model import Event, MopsusError, ObjectRef, Parameter, Property, Severity, Spec, TraceError
from mopsus.model.symbolic import (
    Any_,
    Bind,
    Constant,
    Join,
    Literal,
    MapOf,
    Modality,
    Operation,
    PythonTest,
    Recursion,
    Same,
    Slot,
    SymbolicMachine,
    Truth,
    TupleOf,
)
from mopsus.model.term import Atom, Pid, Reference, String
from mopsus.monitor import Monitor, MonitorError

pytestmark = pytest.mark.interpreter

FORMULA = "[put(X)] is what is written here"


def machine(nodes, root, *, slots=("X", "Y"), linear=False, **more):
    """Over `put(p; value)` and `get(p; value)`."""
    return SymbolicMachine(
        alphabet=("put", "get"),
        goal=GOAL,
        creation=frozenset({"put", "get"}),
        enable={"rejection": {}},
        coenable={},
        nodes=tuple(nodes),
        root=root,
        slots=slots,
        fields=(1, 1),
        linear=linear,
        **more,
    )


def compiled(symbolic, put=("p",), get=("p",)):
    spec = Spec(
        "Store",
        tuple(map(Parameter, sorted({*put, *get}))),
        events=(Event("put", put, fields=("value",)), Event("get", get, fields=("value",))),
        properties=(Property("it", "shml", FORMULA),),
    )
    return CompiledSpec(spec, (symbolic,), {("it", category): Severity.ERROR for category in GOAL})


def never(pattern, guard=()):
    """`[put(pattern) when guard]ff`"""
    return machine([Truth(False), Modality(True, 0, (pattern,), guard, 0, ())], 1)


def remembering(linear=False, limit=100_000):
    """What was put is never got.

    `max X.([put(A)] max Y.([get(A)]ff and [put(_)]Y and [get(_)]Y) and [put(_)]X and [get(_)]X)`
    """
    return machine(
        [
            Recursion("X", 3, begins=True),
            Recursion("X", 0),
            Truth(False),
            Join(True, (4, 5, 6)),
            Modality(True, 0, (Bind(0),), (), 7, (), 0, 8),
            Modality(True, 0, (Any_(),), (), 1, ()),
            Modality(True, 1, (Any_(),), (), 1, ()),
            Recursion("Y", 8, begins=True),
            Join(True, (9, 10, 11)),
            Modality(True, 1, (Same(0),), (), 2, (0,), 9, 2),
            Modality(True, 0, (Any_(),), (), 12, (0,)),
            Modality(True, 1, (Any_(),), (), 12, (0,)),
            Recursion("Y", 7),
        ],
        0,
        linear=linear,
        limit=limit,
    )


def categories(monitor):
    return [verdict.category for verdict in monitor.verdicts]


def fits(pattern, value, guard=()):
    monitor = Monitor(compiled(never(pattern, guard)))
    monitor.event("put")("p", value)
    assert len(monitor.verdicts) == 1
    return categories(monitor) == ["rejection"]


# ---- what values mean ----


class Colour(enum.Enum):
    RED = 1
    DARK_BLUE = "navy"


class Point(NamedTuple):
    x: int
    y: int


@dataclass(frozen=True)
class Job:
    number: int
    name: str


@dataclass
class Changing:
    number: int


@pytest.mark.parametrize(
    ("literal", "value", "expected"),
    [
        (1, 1, True),
        (1, 1.0, False),
        (1, True, False),
        (Atom("true"), True, True),
        (False, Atom("false"), True),
        (Atom("ok"), "ok", True),
        (String("ok"), "ok", True),
        ("ok", Atom("ok"), True),
        (Atom("ok"), Atom("ok"), True),
        (String("ok"), Atom("ok"), False),
        (Atom("ok"), String("ok"), False),
        (Atom("a longer name"), "a longer name", True),
        (Atom("none"), None, True),
        (Atom("undefined"), None, True),
        (None, None, True),
        (Atom("nothing"), None, False),
        (b"ok", b"ok", True),
        ("ok", b"ok", False),
        (Pid("<0.1.0>"), Pid("<0.1.0>"), True),
        (Pid("<0.1.0>"), "<0.1.0>", False),
        (Pid("queue 7"), Pid("queue 7"), True),
        (Reference("#Ref<0.1.2.3>"), Reference("#Ref<0.1.2.3>"), True),
        (2**100, 2**100, True),
        (-(2**100), 2**100, False),
        (Atom("red"), Colour.RED, True),
        (1, Colour.RED, True),
        (Atom("dark_blue"), Colour.DARK_BLUE, True),
        ("navy", Colour.DARK_BLUE, True),
        (Atom("blue"), Colour.DARK_BLUE, False),
        ((1, 2), Point(1, 2), True),
        ((3, "x"), Job(3, "x"), True),
        ((3,), Changing(3), False),
        ([1, [Atom("a")]], [1, ["a"]], True),
        ([1], (1,), False),
        ({"a": 1}, {Atom("a"): 1}, True),
        ("é\ud800", "é\ud800", True),
    ],
)
def test_what_a_literal_fits(literal, value, expected):
    assert fits(Literal(literal), value) is expected


def test_classes_may_be_asked_for():
    assert fits(TupleOf((Any_(), Any_()), "Point"), Point(1, 2))
    assert not fits(TupleOf((Any_(), Any_()), "Point"), (1, 2))
    assert fits(TupleOf((Any_(), Literal("x")), "Job"), Job(1, "x"))


def test_mappings_fit_by_some_of_their_keys():
    assert fits(MapOf((("k", Literal(1)),)), {"j": 2, "k": 1})
    assert not fits(MapOf((("k", Literal(1)),)), {"j": 1})


def test_a_value_that_contains_itself_is_no_end():
    endless = []
    endless.append(endless)
    assert not fits(Literal([[[1]]]), endless)
    assert Monitor(compiled(remembering())).event("put")("p", endless) is None


def test_guards_in_python_get_the_very_values():
    seen = []
    for value in (
        1,
        2.5,
        "text",
        Atom("atom"),
        Pid("<0.1.0>"),
        (1, [2]),
        {"a": (1,)},
        Colour.RED,
        Job(1, "x"),
        None,
        True,
        object(),
    ):
        assert fits(Bind(0), value, ((PythonTest(lambda each: seen.append(each) or True, (0,), "see"),),))
        assert type(seen[-1]) is type(value)
        assert seen[-1] == value


def test_an_error_in_python_does_not_hold_and_does_not_reach_the_program():
    assert not fits(Bind(0), 1, ((PythonTest(lambda _: 1 / 0, (0,), "1 / 0"),),))
    refusal = Operation("not", (PythonTest(lambda _: 1 / 0, (0,), "1 / 0"),))
    assert not fits(Bind(0), 1, ((refusal,),))


def test_integers_have_no_bounds():
    product = Operation("*", (Slot(0), Slot(0)))
    for number in (3, 2**40, -(2**61), 2**100):
        assert fits(Bind(0), number, ((Operation("=:=", (product, Constant(number * number))),),))


# ---- where the data comes from ----


def test_fields_follow_parameters():
    monitor = Monitor(compiled(never(Literal(7))))
    monitor.event("put")("a", 7)
    monitor.event("put")(value=7, p="b")
    monitor.emit("put", p="c", value=7)
    monitor.row("put", {"p": "d", "value": 7})
    monitor.run(pa.table({"event": ["put"], "p": ["e"], "value": [7]}))
    assert [verdict.binding["p"] for verdict in monitor.verdicts] == list("abcde")
    assert set(categories(monitor)) == {"rejection"}


def test_columns_of_every_type():
    for literal, column in [
        (7, pa.array([7], pa.uint64())),
        (2**63, pa.array([2**63], pa.uint64())),
        (0.5, pa.array([0.5])),
        (Atom("ok"), pa.array(["ok"])),
        (String("quite a long text"), pa.array(["quite a long text"]).dictionary_encode()),
        (True, pa.array([True])),
        (b"ok", pa.array([b"ok"])),
        (None, pa.array([None], pa.int64())),
    ]:
        monitor = Monitor(compiled(never(Literal(literal))))
        monitor.run(pa.table({"event": ["put"], "p": ["e"], "value": column}))
        assert categories(monitor) == ["rejection"], literal


def test_a_field_that_is_missing():
    monitor = Monitor(compiled(never(Literal(7))))
    with pytest.raises(MopsusError, match="2 value"):
        monitor.event("put")("a")
    with pytest.raises(MopsusError, match="value"):
        monitor.emit("put", p="a")
    with pytest.raises(TraceError, match="value"):
        monitor.row("put", {"p": "a"})
    with pytest.raises(TraceError, match="value"):
        monitor.run(pa.table({"event": ["put"], "p": ["e"]}))
    with pytest.raises(TraceError, match="unsupported"):
        monitor.run(pa.table({"event": ["put"], "p": ["e"], "value": [[1]]}))
    assert monitor.verdicts == []


def test_events_that_wait_their_turn_keep_their_data():
    spec = compiled(never(Literal("again")))
    monitor = Monitor(
        spec, on_verdict=lambda verdict: verdict.binding["p"] == "a" and monitor.event("put")("b", "again")
    )
    monitor.event("put")("a", "again")
    assert monitor.stats().verdicts == {"rejection": 2}


# ---- states ----


def test_values_are_remembered_by_every_instance():
    monitor = Monitor(compiled(remembering()))
    for p in ("a", "b"):
        for value in range(20):
            monitor.event("put")(p, (p, value))
    monitor.event("get")("a", ("b", 3))
    assert monitor.verdicts == []
    assert monitor.stats().obligations == 63
    monitor.event("get")("a", ("a", 3))
    monitor.event("get")("b", ("b", 19))
    assert categories(monitor) == ["rejection", "rejection"]
    assert monitor.stats().alive == 0


def test_equal_values_are_remembered_once():
    monitor = Monitor(compiled(remembering()))
    for _ in range(1000):
        monitor.event("put")("a", "some text that is no word")
    assert monitor.stats().obligations == 6


def test_too_many_obligations():
    monitor = Monitor(compiled(remembering(limit=50)))
    for value in range(100):
        monitor.event("put")("a", value)
    assert categories(monitor) == ["exhausted"]
    assert monitor.verdicts[0].final


def test_released_values_end_their_instances():
    monitor = Monitor(compiled(remembering()))
    monitor.event("put")("a", 1)
    monitor.row("#release", {"p": "a"})
    assert monitor.stats().alive == 0
    monitor.event("get")("a", 1)  # another one of that name
    assert monitor.verdicts == []


def test_slicing_by_two_parameters():
    monitor = Monitor(compiled(remembering(), put=("p",), get=("p", "q")))
    monitor.event("put")("a", 1)
    monitor.event("get")("a", "x", 2)
    monitor.event("put")("a", 3)
    monitor.event("get")("a", "y", 3)
    assert [(verdict.category, verdict.binding) for verdict in monitor.verdicts] == [
        ("rejection", {"p": "a", "q": "y"})
    ]
    monitor.event("get")("a", "x", 1)
    assert [verdict.binding for verdict in monitor.verdicts[1:]] == [{"p": "a", "q": "x"}]


def test_objects_of_programs_end_with_their_instances():
    class Component:
        pass

    monitor = Monitor(compiled(remembering()))
    component = Component()
    monitor.event("put")(component, 1)
    assert monitor.stats().alive == 1
    del component
    gc.collect()
    assert monitor.stats().alive == 0


class Thing:
    pass


def test_an_object_is_known_by_identity_and_kept_while_it_matters():
    monitor = Monitor(compiled(remembering()))
    thing = Thing()
    gone = weakref.ref(thing)
    monitor.event("put")("a", ("with", thing))
    monitor.event("get")("a", ("with", Thing()))
    assert monitor.verdicts == []
    del thing
    assert gone() is not None
    monitor.event("get")("a", ("with", gone()))
    assert categories(monitor) == ["rejection"]
    gc.collect()
    assert gone() is None


def test_data_that_nobody_needs_is_not_kept():
    monitor = Monitor(compiled(never(TupleOf((Literal(1), Literal(2))))))
    things = [Thing() for _ in range(3)]
    gone = [weakref.ref(thing) for thing in things]
    monitor.event("get")("a", things)
    monitor.event("put")("b", (1, things[0]))
    monitor.event("put")("c", {"k": things[1]})
    del things
    gc.collect()
    assert [each() for each in gone] == [None] * 3


@pytest.mark.parametrize("logic", ["shml : [put(1)] ff", "maxhml : [put(1)] ff or <get(_)> tt"])
def test_a_handler_may_start_an_instance_over(logic):
    spec = mopsus.parse(f"S(p) {{ event put(p; x)\n event get(p; x)\n {logic}\n @rejection {{ __RESET }} }}")["S"]
    monitor = Monitor(spec)
    for _ in range(3):
        monitor.event("put")("a", 1)
    assert categories(monitor) == ["rejection"] * 3


# ---- snapshots ----


def test_a_live_object_cannot_be_saved():
    monitor = Monitor(compiled(remembering()))
    monitor.row("put", {"p": "a", "value": Thing()})
    with pytest.raises(MopsusError, match="object"):
        monitor.snapshot()


@pytest.mark.parametrize("linear", [False, True])
def test_damaged_snapshots(linear):
    monitor = Monitor(compiled(remembering(linear)))
    for value in (1, "text", (Atom("a longer atom"), [2.5, None, Pid("<0.1.2>")]), {"k": 2**80}):
        monitor.row("put", {"p": "a", "value": value})
    good = monitor.snapshot()
    items = good["items"]
    for number in range(len(items)):
        for worse in (
            items[:number],
            [*items[:number], -5, *items[number + 1 :]],
            [*items[:number], "x", *items[number + 1 :]],
        ):
            other = Monitor(compiled(remembering(linear)))
            try:
                other.restore(good | {"items": worse})
            except MonitorError:
                pass
            else:
                other.event("get")("a", 1)
    whole = Monitor(compiled(remembering(linear)))
    whole.restore(good)
    whole.event("get")("a", {"k": 2**80})
    assert categories(whole) == ["rejection"]
    assert whole.verdicts[0].steps[0].binding == {"X": {"k": 2**80}}


# ---- explanations ----


def test_steps_say_what_happened_since_the_loop_began():
    monitor = Monitor(compiled(remembering()))
    for number, value in enumerate([5, 7, 5], 1):
        monitor.row("put", {"p": "a", "value": value}, row=number, source="log", time=number)
    monitor.row("get", {"p": "a", "value": 7}, row=4, source="log", time=9)
    first, last = monitor.verdicts[0].steps
    assert (first.event, first.data, first.fitted, first.binding) == ("put", (7,), True, {"X": 7})
    assert (first.modality, first.unfolded, first.row, first.time, first.location) == (
        "[put(X)]",
        ("Y",),
        2,
        2,
        "log:2",
    )
    assert (last.event, last.data, last.modality, last.row) == ("get", (7,), "is", 4)


def test_explanations_are_off_without_history():
    monitor = Monitor(compiled(never(Any_())), history=0)
    monitor.event("put")("a", 1)
    assert monitor.verdicts[0].steps == ()


def test_an_object_in_an_explanation_is_only_a_likeness():
    thing = Thing()
    gone = weakref.ref(thing)
    monitor = Monitor(compiled(never(Bind(0))))
    monitor.event("put")("a", (Colour.RED, [thing], Point(1, 2)))
    del thing
    gc.collect()
    assert gone() is None
    (step,) = monitor.verdicts[0].steps
    assert step.data == (("red", [ObjectRef("Thing", 0, "<not kept>")], (1, 2)),)
    assert step.binding == {"X": step.data[0]}
