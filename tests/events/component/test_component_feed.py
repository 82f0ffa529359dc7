"""What specs hear of components, and when it fits."""

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mopsus
from mopsus.events.component.dispatch import Dispatcher
from mopsus.events.component.feed import NoComponentsError, make_feed
from mopsus.events.component.matching import fits
from mopsus.events.component.occurrence import Function, Kind, Occurrence
from mopsus.model.symbolic import Any_, Bind, ListOf, Literal, MapOf, Same, TupleOf
from mopsus.model.term import Atom, Pid
from mopsus.spec.component import about_components

P, Q, R = Pid("<0.1.0>"), Pid("<0.2.0>"), Pid("<0.3.0>")
JOB = Function("jobs", "worker", (3,))


def seen(pointcut: str, *events: Occurrence, names: str = "p") -> list[dict[str, object]]:
    """The bindings of the event whose pointcut this is."""
    spec = mopsus.parse(f"S(p, q, x) {{\n event e({names}) : {pointcut}\n ere : e\n @match {{ }}\n}}")["S"]
    with spec.monitor() as monitor:
        feed = make_feed(spec, monitor)
        for event in events:
            feed.event(event.subject, event)
        return [dict(verdict.binding) for verdict in monitor.verdicts]


@pytest.mark.parametrize(
    ("pointcut", "names", "expected"),
    [
        ("fork(p, q, _)", "p, q", {"p": P, "q": Q}),
        ("fork(p, _, jobs.worker(x))", "p, x", {"p": P, "x": 3}),
        ("fork(p, _, x)", "p, x", {"p": P, "x": "jobs.worker"}),
        ("init(p, q, _)", "p, q", {"p": Q, "q": P}),
        ('send(p, q, ("ok", x))', "p, q, x", {"p": Q, "q": R, "x": 1}),
        ("recv(p, x)", "p, x", {"p": Q, "x": "job"}),
        ('exit(p, "normal")', "p", {"p": Q}),
        ('exit(p, _) || recv(p, "none")', "p", {"p": Q}),
    ],
)
def test_what_fits(pointcut, names, expected):
    events = [
        Occurrence(Kind.FORK, P, Q, JOB),
        Occurrence(Kind.INIT, Q, P, JOB),
        Occurrence(Kind.SEND, Q, R, ("ok", 1)),
        Occurrence(Kind.RECV, Q, None, "job"),
        Occurrence(Kind.EXIT, Q, None, Atom("normal")),
    ]
    assert seen(pointcut, *events, names=names) == [expected]


@pytest.mark.parametrize(
    "pointcut",
    ["fork(p, _, jobs.other)", "fork(p, _, jobs.worker(4))", "fork(p, _, jobs.worker())", 'send(p, _, ("ok", 2))'],
)
def test_what_does_not_fit(pointcut):
    assert seen(pointcut, Occurrence(Kind.FORK, P, Q, JOB), Occurrence(Kind.SEND, Q, R, ("ok", 1))) == []


def test_components_picked_by_what_they_run():
    events = [
        Occurrence(Kind.FORK, P, Q, JOB),
        Occurrence(Kind.FORK, P, R, Function("web", "serve")),
        Occurrence(Kind.RECV, Q, None, 1),
        Occurrence(Kind.RECV, R, None, 1),
        Occurrence(Kind.RECV, P, None, 1),
    ]
    assert seen("recv(p, _) && runs(jobs.* | other.f)", *events) == [{"p": Q}]
    assert seen("recv(p, _) && runs(*)", *events) == [{"p": Q}, {"p": R}, {"p": P}]
    assert seen("recv(p, _) && !runs(jobs.worker)", *events) == [{"p": R}, {"p": P}]


def test_a_spec_about_something_else():
    spec = mopsus.parse("S(p) { event e(p) ere : e }")["S"]
    assert not about_components(spec)
    with pytest.raises(NoComponentsError, match="about no components"):
        make_feed(spec, spec.monitor())


def test_instances_go_when_their_component_is_over():
    spec = mopsus.parse("S(p) { event a(p) : recv(p, _) event b(p) : exit(p, _) ere : a b b }")["S"]
    with spec.monitor() as monitor:
        dispatcher = Dispatcher([make_feed(spec, monitor)])
        for number in range(100):
            pid = Pid(f"<0.{number}.0>")
            dispatcher.post(Occurrence(Kind.RECV, pid, None, 1))
            dispatcher.post(Occurrence(Kind.EXIT, pid, None, Atom("normal")))
        assert monitor.stats().created == 100
        assert monitor.stats().alive == 0


def test_where_and_when():
    spec = mopsus.parse("S(p) { event a(p) : recv(p, _) ere : a }")["S"]
    with spec.monitor() as monitor:
        feed = make_feed(spec, monitor)
        feed.event(P, Occurrence(Kind.RECV, P, None, 1, 2.5, "app.py:7"))
        feed.event(Q, Occurrence(Kind.RECV, Q, None, 1, None, "run.log", 12))
        first, second = monitor.verdicts
    assert (first.time, first.location, first.row) == (2.5, "app.py:7", None)
    assert (second.location, second.row) == ("run.log:12", 12)


# ---- matching, against a plain reading


class Point(NamedTuple):
    x: int
    y: int


@dataclass(frozen=True)
class Frozen:
    x: int


class Colour(Enum):
    RED = 1


@pytest.mark.parametrize(
    ("pattern", "value", "bound"),
    [
        (Literal(1), 1, []),
        (Literal(1), 1.0, None),
        (Literal(1), True, None),
        (Literal(True), True, []),
        (Literal("a"), "a", []),
        (Literal("a"), Atom("a"), []),
        (Literal(None), None, []),
        (Literal("red"), Colour.RED, []),
        (TupleOf((Bind(0), Same(0))), (1, 1), [1]),
        (TupleOf((Bind(0), Same(0))), (1, 1.0), None),
        (TupleOf((Bind(0), Any_())), Point(1, 2), [1]),
        (TupleOf((Bind(0), Any_()), "Point"), Point(1, 2), [1]),
        (TupleOf((Bind(0), Any_()), "Line"), Point(1, 2), None),
        (TupleOf((Bind(0),)), Frozen(4), [4]),
        (TupleOf(()), [], None),
        (ListOf((Bind(0),)), [1], [1]),
        (ListOf((Bind(0),)), (1,), None),
        (ListOf((Any_(),), Bind(0)), [1, 2, 3], [[2, 3]]),
        (ListOf((Any_(),), Bind(0)), [], None),
        (MapOf((("k", Bind(0)),)), {"k": 1, "l": 2}, [1]),
        (MapOf((("k", Bind(0)),)), {"l": 2}, None),
        (MapOf((("k", Bind(0)),)), [("k", 1)], None),
    ],
)
def test_values_that_fit(pattern, value, bound):
    slots: list[object] = [None] * len(bound or [0])
    assert fits(pattern, value, slots) is (bound is not None)
    if bound:
        assert slots == bound


values = st.recursive(
    st.one_of(st.integers(0, 2), st.sampled_from(["a", "b"]), st.booleans()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.lists(inner, max_size=2).map(tuple), st.dictionaries(st.just("k"), inner)
    ),
    max_leaves=5,
)


def exact(value):
    """The pattern that only this value fits."""
    match value:
        case tuple():
            return TupleOf(tuple(map(exact, value)))
        case list():
            return ListOf(tuple(map(exact, value)))
        case dict():
            return MapOf(tuple((key, exact(item)) for key, item in value.items()))
    return Literal(value)


def told_apart(one, other) -> bool:
    if type(one) is not type(other):
        return True
    if isinstance(one, tuple | list):
        return len(one) != len(other) or any(map(told_apart, one, other))
    if isinstance(one, dict):  # what is not asked for does not count
        return any(key not in other or told_apart(item, other[key]) for key, item in one.items())
    return one != other


@settings(deadline=None)
@given(values, values)
def test_a_value_fits_what_is_written_like_it(one, other):
    assert fits(exact(one), one, [])
    assert fits(exact(one), other, []) is not told_apart(one, other)
