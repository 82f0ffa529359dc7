"""Guarded machines in the monitor: slices, environments, guards, what is told, and going back."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable

import pytest
from monitor.guarded_specs import guarded, to, when

import mopsus
from mopsus.model import Acceptance, Change, Event
from mopsus.model.guarded import State

pytestmark = pytest.mark.interpreter

GOOD, BAD = Acceptance.ACCEPTING, Acceptance.NON_ACCEPTING


def queue() -> mopsus.Monitor:
    """A queue of `size` elements is not pushed onto more often than that."""
    return mopsus.Monitor(
        guarded(
            (
                State("init", GOOD, transitions=(when("new", None, to("ready", "room = size")),)),
                State(
                    "ready",
                    GOOD,
                    transitions=(
                        when("push", "return n < room", to("ready", "n += 1\nlog.append(n)"), to("sink")),
                        when("free", None, to("gone")),
                    ),
                ),
                State("sink", BAD),
                State("gone", final=True),
            ),
            (Event("new", ("q",), fields=("size",)), Event("push", ("q",)), Event("free", ("q",)), Event("end")),
            ("q",),
            initialization="n = room = 0\nlog = []\ndef doubled(): return 2 * n",
            variables=("n", "room", "log", "doubled"),
        )
    )


def standing(monitor: mopsus.Monitor) -> list[tuple[dict[str, object], str]]:
    return [(each.binding, each.state) for each in monitor.slices()]


def test_a_slice_begins_as_a_copy_of_its_parent() -> None:
    monitor = queue()
    monitor.emit("new", q=1, size=2)
    root, child = monitor.slices()
    assert (root.binding, root.state, root.parent) == ({}, "init", None)
    assert (child.binding, child.state, child.parent) == ({"q": 1}, "ready", root)
    assert (root.environment["room"], child.environment["room"]) == (0, 2)
    # The copy is shallow, and functions see the variables of their slice.
    monitor.emit("push", q=1)
    assert root.environment["log"] is child.environment["log"]
    assert (root.environment["doubled"](), child.environment["doubled"]()) == (0, 2)


def test_a_non_accepting_state_is_a_verdict_with_a_witness() -> None:
    monitor = queue()
    monitor.emit("new", q=1, size=1)
    monitor.emit("push", q=1)
    monitor.emit("push", q=1)
    (verdict,) = monitor.verdicts
    assert (verdict.category, verdict.binding, verdict.final) == ("sink", {"q": 1}, True)
    assert [each.event for each in verdict.witness] == ["new", "push", "push"]
    assert monitor.stats().verdicts == {"sink": 1}


def test_a_final_state_forgets_the_slice() -> None:
    monitor = queue()
    monitor.emit("new", q=1, size=1)
    monitor.emit("free", q=1)
    assert standing(monitor) == [({}, "init")]
    monitor.emit("new", q=1, size=5)
    assert monitor.slices()[1].environment["room"] == 5
    assert monitor.stats().collected == 1


def test_what_is_needed_follows_the_states() -> None:
    monitor = queue()
    assert monitor.needed() == {"new"}
    monitor.emit("new", q=1, size=0)
    assert monitor.needed() == {"new", "push", "free"}
    assert monitor.needed() is monitor.needed()
    monitor.emit("push", q=1)
    assert standing(monitor)[1] == ({"q": 1}, "sink")
    assert monitor.needed() == {"new"}


def test_changes_and_unmatched_events_are_told() -> None:
    monitor = queue()
    changes: list[Change] = []
    unmatched: list[tuple[str, dict[str, object]]] = []
    monitor.on_change = changes.append
    monitor.on_unmatched = lambda event, values: unmatched.append((event, dict(values)))
    monitor.emit("push", q=3)
    monitor.emit("new", q=3, size=1)
    monitor.emit("push", q=3)
    monitor.emit("push", q=3)
    monitor.emit("end")
    assert [(each.old, each.new, each.end) for each in changes] == [
        ("init", "ready", "success"),
        ("ready", "ready", "success"),
        ("ready", "sink", "failure"),
    ]
    assert all(each.binding == {"q": 3} for each in changes)
    assert [each.transition.event for each in changes] == ["new", "push", "push"]
    assert unmatched == [("push", {"q": 3}), ("end", {})]
    monitor.on_change = monitor.on_unmatched = None
    monitor.emit("push", q=8)
    assert len(unmatched) == 2


@pytest.mark.parametrize(
    ("guard", "failure", "arrives"),
    [
        (None, False, "yes"),
        ("return True", False, "yes"),
        ("return x == 1", False, "yes"),
        ("pass", False, "yes"),
        ("y = x", False, "yes"),
        ("return False", True, "no"),
        ("return False", False, "init"),
        ("return None", True, "init"),
        ("return", True, "init"),
    ],
)
def test_guards_have_three_values(guard: str | None, failure: bool, arrives: str) -> None:
    transition = when("e", guard, to("yes"), to("no") if failure else None)
    states = (State("init", transitions=(transition,)), State("yes"), State("no"))
    monitor = mopsus.Monitor(guarded(states, (Event("e", fields=("x",)),), variables=("y",)))
    monitor.emit("e", x=1)
    assert standing(monitor) == [({}, arrives)]
    assert "y" not in monitor.slices()[0].environment


def test_the_first_transition_that_has_the_end_is_taken() -> None:
    transitions = (
        when("e", "return None", to("wrong")),
        when("e", "return False", to("wrong")),
        when("e", "return False", to("wrong"), to("right")),
        when("e", None, to("wrong")),
    )
    states = (State("init", transitions=transitions), State("right"), State("wrong"))
    monitor = mopsus.Monitor(guarded(states, (Event("e"),)))
    monitor.emit("e")
    assert standing(monitor) == [({}, "right")]


def test_what_a_guard_assigns_is_lost() -> None:
    states = (State("init", transitions=(when("e", "n += 1\nreturn n == 1", to("init")),)),)
    monitor = mopsus.Monitor(guarded(states, (Event("e"),), initialization="n = 0", variables=("n",)))
    changes: list[Change] = []
    monitor.on_change = changes.append
    monitor.emit("e")
    monitor.emit("e")
    assert len(changes) == 2
    assert monitor.slices()[0].environment == {"n": 0}


def test_a_block_may_choose_the_state() -> None:
    block = "n += 1\nif n == 2:\n    return 'second'"
    states = (State("init", transitions=(when("e", None, to("first", block)),)), State("first"), State("second"))
    monitor = mopsus.Monitor(guarded(states, (Event("e"),), initialization="n = 1", variables=("n",)))
    monitor.emit("e")
    assert standing(monitor) == [({}, "second")]


def test_faults_are_reported_once_and_change_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    transitions = (
        when("guard", "return 1 / 0", to("lost"), to("lost")),
        when("block", None, to("init", "{}[1]")),
        when("state", None, to("init", "return 'nowhere'")),
        when("action", None, to("init", action="missing")),
    )
    states = (State("init", transitions=transitions), State("lost"))
    monitor = mopsus.Monitor(guarded(states, tuple(map(Event, ("guard", "block", "state", "action")))))
    taken: list[Change] = []
    monitor.on_change = taken.append
    with caplog.at_level(logging.ERROR):
        for event in ("guard", "guard", "block", "state", "action"):
            monitor.emit(event)
    assert monitor.stats().faults == 5
    assert [each.transition.event for each in taken] == ["block", "state", "action"]
    assert [record.exc_info[0] for record in caplog.records if record.exc_info] == [
        ZeroDivisionError,
        KeyError,
        ValueError,
        NameError,
    ]


def test_functions_are_found_where_they_are_at_that_moment() -> None:
    states = (
        State("init", transitions=(when("e", "return wanted(x)", to("there", action="note")),)),
        State("there", action="arrived"),
    )
    monitor = mopsus.Monitor(
        guarded(states, (Event("e", fields=("x",)),), initialization="n = start()", variables=("n",))
    )
    said: list[str] = []
    functions: dict[str, object] = {"start": lambda: 7, "wanted": lambda x: False, "print": said.append}
    monitor.use_functions(functions)
    monitor.emit("e", x=1)
    functions["wanted"] = lambda x: x == 1
    functions["note"] = lambda: said.append("taken")
    functions["arrived"] = lambda: said.append("there")
    monitor.emit("e", x=1)
    assert said == ["taken", "there"]
    assert monitor.slices()[0].environment == {"n": 7}


def pairs() -> mopsus.Monitor:
    """Windows and their tabs: a window's closing concerns all of its tabs."""
    transitions = (
        when("open", None, to("open")),
        when("tab", None, to("open")),
        when("close", None, to("closed")),
    )
    return mopsus.Monitor(
        guarded(
            (State("init", transitions=transitions), State("open", transitions=transitions), State("closed")),
            (Event("open", ("w",)), Event("tab", ("w", "t")), Event("close", ("w",)), Event("only", ("t",))),
            ("w", "t"),
        )
    )


def test_an_event_about_less_goes_to_all_more_specific_slices() -> None:
    monitor = pairs()
    for window, tab in ((1, 1), (1, 2), (2, 1)):
        monitor.emit("tab", w=window, t=tab)
    monitor.emit("close", w=1)
    # Somebody knew window 1, so it got no slice of its own.
    assert standing(monitor) == [
        ({}, "init"),
        ({"w": 1, "t": 1}, "closed"),
        ({"w": 1, "t": 2}, "closed"),
        ({"w": 2, "t": 1}, "open"),
    ]


def test_a_slice_begins_as_its_most_specific_ancestor() -> None:
    monitor = pairs()
    monitor.emit("close", w=1)
    monitor.emit("tab", w=1, t=1)
    assert standing(monitor) == [({}, "init"), ({"w": 1}, "closed")]
    monitor.emit("open", w=2)
    monitor.emit("tab", w=2, t=1)
    child = monitor.slices()[-1]
    assert (child.binding, child.parent and child.parent.binding) == ({"w": 2, "t": 1}, {"w": 2})


def test_a_slice_can_be_put_anywhere() -> None:
    monitor = queue()
    monitor.put(monitor.slices()[0], "ready")
    assert monitor.needed() == {"push", "free"}
    monitor.emit("push", q=1)
    assert standing(monitor) == [({}, "ready"), ({"q": 1}, "sink")]
    with pytest.raises(mopsus.MopsusError, match="no state `redy`") as caught:
        monitor.put(monitor.slices()[0], "redy")
    assert "ready" in (caught.value.hint or "")
    root = monitor.slices()[0]
    monitor.put(root, "gone")
    with pytest.raises(mopsus.MopsusError, match="no longer there"):
        monitor.put(root, "ready")


def test_a_snapshot_has_the_data_and_the_rest_is_made_anew() -> None:
    text = "import math\nn = 0\nlog = []\ndef twice(): return 2 * n"
    block = "n = math.floor(x)\nlog.append(twice())"
    states = (State("init", transitions=(when("e", None, to(block=block)),)),)
    compiled = guarded(
        states, (Event("e", fields=("x",)),), initialization=text, variables=("math", "n", "log", "twice")
    )
    first, second = mopsus.Monitor(compiled), mopsus.Monitor(compiled)
    first.row("e", {"x": 1.5})
    second.restore(json.loads(json.dumps(first.snapshot())))
    second.row("e", {"x": 4.5})
    assert second.slices()[0].environment["log"] == [2, 8]
    first.slices()[0].environment["log"] = {1, 2}
    with pytest.raises(mopsus.MopsusError, match="a snapshot cannot hold"):
        first.snapshot()


class TestGoingBack:
    def test_the_same_events_give_the_same_again_and_again(self) -> None:
        monitor = queue()
        monitor.emit("new", q=1, size=2)
        monitor.emit("push", q=1)
        checkpoint = monitor.checkpoint()
        found = []
        for _ in range(3):
            monitor.verdicts.clear()
            monitor.emit("push", q=1)
            monitor.emit("new", q=2, size=0)
            monitor.emit("push", q=1)
            slices = [
                (each.binding, each.state, each.environment["n"], each.environment["log"]) for each in monitor.slices()
            ]
            found.append((monitor.verdicts[:], slices, monitor.stats()))
            monitor.rewind(checkpoint)
        assert found[0] == found[1] == found[2]
        assert [each.event for each in found[0][0][0].witness] == ["new", "push", "push", "push"]
        assert standing(monitor) == [({}, "init"), ({"q": 1}, "ready")]
        assert monitor.stats().events == 2

    def test_what_slices_share_is_shared_afterwards(self) -> None:
        monitor = queue()
        monitor.emit("new", q=1, size=9)
        checkpoint = monitor.checkpoint()
        old = monitor.slices()[0].environment["log"]
        monitor.emit("push", q=1)
        monitor.rewind(checkpoint)
        root, child = monitor.slices()
        assert root.environment["log"] is child.environment["log"] is not old
        assert root.environment["log"] == []
        monitor.emit("push", q=1)
        assert child.environment["doubled"]() == 2

    def test_what_cannot_be_copied_is_shared(self) -> None:
        states = (State("init", transitions=(when("e", None, to(block="seen.append(math.floor(x))")),)),)
        names = ("math", "lock", "seen")
        text = "import math, threading\nlock = threading.Lock()\nseen = []"
        monitor = mopsus.Monitor(guarded(states, (Event("e", fields=("x",)),), initialization=text, variables=names))
        monitor.emit("e", x=1.5)
        lock = monitor.slices()[0].environment["lock"]
        checkpoint = monitor.checkpoint()
        monitor.emit("e", x=2.5)
        monitor.rewind(checkpoint)
        monitor.emit("e", x=3.5)
        environment = monitor.slices()[0].environment
        assert (environment["lock"], environment["seen"]) == (lock, [1, 3])

    def test_objects_live_as_long_as_the_checkpoint(self) -> None:
        class Thing: ...

        monitor = queue()
        thing = Thing()
        monitor.emit("new", q=thing, size=1)
        checkpoint = monitor.checkpoint()
        monitor.emit("push", q=thing)
        monitor.rewind(checkpoint)
        del thing
        assert len(monitor.slices()) == 2
        monitor.rewind(checkpoint)
        monitor.emit("push", q=monitor.slices()[1].binding["q"])
        assert not monitor.verdicts
        del checkpoint
        assert standing(monitor) == [({}, "init")]

    def test_not_from_within_an_event(self) -> None:
        states = (State("init", transitions=(when("e", None, to(action="go_back")),)),)
        monitor = mopsus.Monitor(guarded(states, (Event("e"),)))
        refused: list[str] = []

        def attempt(do: Callable[[], object]) -> None:
            with pytest.raises(mopsus.MopsusError) as caught:
                do()
            refused.append(caught.value.code)

        def go_back() -> None:
            attempt(monitor.checkpoint)
            attempt(lambda: monitor.rewind(checkpoint))
            attempt(lambda: monitor.put(root, "init"))

        monitor.use_functions({"go_back": go_back})
        checkpoint, root = monitor.checkpoint(), monitor.slices()[0]
        monitor.emit("e")
        assert refused == ["MONITOR-010"] * 3
        assert monitor.stats().faults == 0

    def test_from_within_a_change_what_was_not_told_is_dropped(self) -> None:
        states = (State("init", transitions=(when("e", None, to("bad")),)), State("bad", BAD))
        monitor = mopsus.Monitor(guarded(states, (Event("e"),)))
        checkpoint = monitor.checkpoint()
        monitor.on_change = lambda change: monitor.rewind(checkpoint)
        monitor.emit("e")
        assert standing(monitor) == [({}, "init")]
        assert monitor.verdicts == []


def test_code_may_look_at_the_monitor_and_send_events_which_come_later() -> None:
    states = (
        State("init", transitions=(when("e", None, to("there", "look()\nsend()")), when("later", None, to("wrong")))),
        State("there", transitions=(when("later", None, to("end")),)),
        State("end"),
        State("wrong"),
    )
    monitor = mopsus.Monitor(guarded(states, (Event("e"), Event("later")), initialization="start()"))
    seen: list[object] = []
    monitor.use_functions(
        {
            "start": lambda: seen.append(monitor.stats().events),
            "look": lambda: seen.append((standing(monitor), monitor.needed())),
            "send": lambda: monitor.emit("later"),
        }
    )
    monitor.emit("e")
    assert seen == [1, ([({}, "init")], {"e", "later"})]
    assert standing(monitor) == [({}, "end")]


def test_an_event_that_initialization_sends_is_the_first() -> None:
    states = (State("init", transitions=(when("e", None, to("there")),)), State("there"))
    monitor = mopsus.Monitor(guarded(states, (Event("e"),), initialization="send()"))
    monitor.use_functions({"send": lambda: monitor.emit("e")})
    assert standing(monitor) == [({}, "there")]


def test_objects_that_end_take_their_slices_with_them() -> None:
    class Thing: ...

    monitor = queue()
    things = [Thing() for _ in range(100)]
    for thing in things:
        monitor.emit("new", q=thing, size=1)
    del things, thing
    assert standing(monitor) == [({}, "init")]
    assert (monitor.stats().created, monitor.stats().collected) == (101, 100)


def test_objects_that_an_action_ends_are_missed_when_it_is_done() -> None:
    class Thing: ...

    states = (
        State("init", transitions=(when("new", None, to("ready")),)),
        State("ready", transitions=(when("use", None, to("ready", action="drop")), when("new", None, to("init")))),
    )
    events = (Event("new", ("q",)), Event("use", ("q",)))
    monitor = mopsus.Monitor(guarded(states, events, ("q",)))
    things = [Thing(), Thing()]

    def drop() -> None:
        things.pop()
        assert len(monitor.slices()) == 3

    monitor.use_functions({"drop": drop})
    for thing in things:
        monitor.emit("new", q=thing)
    del thing
    monitor.emit("use", q=things[0])
    assert len(monitor.slices()) == 2
    assert monitor.stats().faults == 0


def test_code_is_refused_where_it_is_forbidden() -> None:
    plain = guarded((State("init", transitions=(when("e", None, to("init")),)),), (Event("e"),))
    mopsus.Monitor(plain, allow_code=False).emit("e")
    for transition in (
        when("e", "pass", to("init")),
        when("e", None, to("init", "pass")),
        when("e", None, to(action="f")),
    ):
        coded = guarded((State("init", transitions=(transition,)),), (Event("e"),))
        with pytest.raises(mopsus.MopsusError, match="contains Python code"):
            mopsus.Monitor(coded, allow_code=False)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("S { event e\n efsm : state init {}\n fsm : s [ e -> s ]\n @s }", "other logics"),
        ("S { var n: int = 0\n event e\n efsm : state init {} }", "monitor variables"),
        ("S { event e { print() }\n efsm : state init {} }", "a condition or an action"),
        ("connected S { event e\n efsm : state init {} }", "connected"),
        ("maximal-binding S { event e\n efsm : state init {} }", "maximal-binding"),
    ],
)
def test_what_slices_cannot_be_combined_with_is_refused(text: str, what: str) -> None:
    (spec,) = mopsus.parse(text).values()
    with pytest.raises(mopsus.MopsusError, match=what) as caught:
        mopsus.Monitor(spec)
    assert caught.value.code == "MONITOR-009"


def test_full_binding_reports_slices_of_all_parameters_only() -> None:
    text = """full-binding S(a, b) { event one(a)\n event two(a, b)
        efsm : state init { transition { event one success bad } transition { event two success bad } }
               state bad non-accepting import transitions from state init }"""
    (spec,) = mopsus.parse(text).values()
    monitor = mopsus.Monitor(spec)
    monitor.emit("one", a=1)
    monitor.emit("two", a=1, b=2)
    assert [verdict.binding for verdict in monitor.verdicts] == [{"a": 1, "b": 2}]


def test_several_machines_have_slices_of_their_own() -> None:
    text = """S(q) { event a(q)\n event b(q)
        efsm : state init { transition { event a success one } } state one non-accepting
        efsm : initialization { n = 0 }
               state init { transition { event b success { n += 1 } two } }
               state two non-accepting }"""
    (spec,) = mopsus.parse(text).values()
    monitor = mopsus.Monitor(spec)
    monitor.emit("a", q=1)
    monitor.emit("b", q=2)
    first, second = (prop.name for prop in spec.properties)
    assert [(each.property, each.binding, each.state) for each in monitor.slices()] == [
        (first, {}, "init"),
        (first, {"q": 1}, "one"),
        (second, {}, "init"),
        (second, {"q": 2}, "two"),
    ]
    assert [(each.property, each.category) for each in monitor.verdicts] == [(first, "one"), (second, "two")]
    assert monitor.needed() == {"a", "b"}
