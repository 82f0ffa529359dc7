"""What slices did last, compared with a monitor that is worked out by hand, event by event."""

from __future__ import annotations

from collections import Counter
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interactive.sessions import make
from interactive.toy import Toy

from mopsus.interactive.live import trail as trail_module
from mopsus.interactive.live.trail import MOST_SLICES, Trail
from mopsus.interactive.watch import Watch

EVENTS = """
    event open before(i) : line("0") && value(i = x)
    event use before(i) : line("1") && value(i = x)
    event close before(i) : line("2") && value(i = x)
"""
GUARDED = f"""
Door(i) {{
    {EVENTS}
    efsm:
        state init accepting {{ transition {{ event open success opened }} transition {{ event use success bad }} }}
        state opened accepting {{ transition {{ event use success opened }} transition {{ event close success init }} }}
        state bad non-accepting
}}
"""
TABLE = f"""
Door(i) {{
    {EVENTS}
    fsm: closed [open -> opened close -> closed] opened [use -> opened close -> closed]
    @fail {{ }}
}}
"""
STEPS = {
    ("init", "open"): "opened",
    ("init", "use"): "bad",
    ("opened", "use"): "opened",
    ("opened", "close"): "init",
}
traces = st.lists(st.tuples(st.sampled_from(["open", "use", "close"]), st.integers(0, 3)), max_size=30)


def watch_of(text: str) -> Watch:
    session, _ = make(Toy([("put", "x", 1)] * 3, {"x": 0}), text)
    return session.watches[0]


@pytest.mark.parametrize("many", [trail_module._MANY, 0], ids=["one by one", "from afar"])
@settings(max_examples=30)
@given(trace=traces)
def test_the_slices_of_a_guarded_machine_are_followed_exactly(many, trace):
    with patch.object(trail_module, "_MANY", many):
        follow_guarded(trace)


def follow_guarded(trace):
    watch = watch_of(GUARDED)
    watch.be_observed()
    trail = Trail(watch)
    names = [node.name for node in trail.automata[0].nodes]
    edges = trail.automata[0].edges
    states: dict[int | None, str] = {None: "init"}
    last: tuple[str, str, str] | None = None
    moved: dict[int, tuple[str, str]] = {}
    for event, value in trace:
        watch.monitor.emit(event, i=value)
        trail.happened(watch.take_moves())
        old = states.get(value, "init")
        if (old, event) in STEPS:
            new = states[value] = STEPS[old, event]
            last = old, event, new
            moved[value] = old, event
        now, slices, count = trail.look(harmless=False)
        assert {names[node]: many for node, many in now[0].counts.items()} == Counter(states.values())
        assert count == len(states) == len(slices)
        taken = [(names[edges[edge].source], edges[edge].label, names[edges[edge].target]) for edge in now[0].taken]
        assert taken == ([] if last is None else [last])
        assert [names[node] for node in now[0].previous] == ([] if last is None else [last[0]])
        for each in slices:
            if each.binding:
                came, by = moved[int(each.binding["i"])]
                assert each.previous is not None
                assert each.edge is not None
                assert (names[each.previous], edges[each.edge].label) == (came, by)


@pytest.mark.parametrize("many", [trail_module._MANY, 0], ids=["one by one", "from afar"])
@settings(max_examples=30)
@given(trace=traces)
def test_the_slices_of_a_table_are_found_by_comparing(many, trace):
    with patch.object(trail_module, "_MANY", many):
        follow_table(trace)


def follow_table(trace):
    watch = watch_of(TABLE)
    trail = Trail(watch)
    names = [node.name for node in trail.automata[0].nodes]
    edges = trail.automata[0].edges
    for event, value in trace:
        before = dict(_standings(watch))
        watch.monitor.emit(event, i=value)
        trail.happened(watch.take_moves())
        after = dict(_standings(watch))
        now, slices, _ = trail.look(harmless=False)
        assert {names[node]: many for node, many in now[0].counts.items()} == Counter(after.values())
        changed = {key for key in after if before.get(key, "closed") != after[key]}
        for each in slices:
            if int(each.binding["i"]) in changed:
                assert each.previous is not None
                assert names[each.previous] == before.get(int(each.binding["i"]), "closed")
                assert each.edge is not None
                assert event in edges[each.edge].label
        if changed:
            assert {edges[edge].target for edge in now[0].taken} == {names.index(after[key]) for key in changed}


def _standings(watch: Watch) -> list[tuple[int, str]]:
    return [(each.binding["i"], each.state) for each in watch.monitor.slices()]


def test_of_very_many_slices_those_that_moved_last_are_shown_and_all_are_counted():
    watch = watch_of(GUARDED)
    watch.be_observed()
    trail = Trail(watch)
    many = MOST_SLICES + 50
    for value in range(many):
        watch.monitor.emit("open", i=value)
        trail.happened(watch.take_moves())
    now, slices, count = trail.look(harmless=False)
    assert count == many + 1
    assert sum(now[0].counts.values()) == many + 1
    assert [each.binding for each in slices[:2]] == [{"i": str(many - 1)}, {"i": str(many - 2)}]
    assert len(slices) == MOST_SLICES


@pytest.mark.parametrize("text", [GUARDED, TABLE], ids=["guarded", "table"])
def test_a_crowd_is_seen_from_afar(text):
    watch = watch_of(text)
    watch.be_observed()
    trail = Trail(watch)
    many = 3 * trail_module._MANY
    for value in range(many):
        watch.monitor.emit("open", i=value)
        trail.happened(watch.take_moves())
    trail.look(harmless=False)
    for value in (7, 5):
        watch.monitor.emit("close", i=value)
        trail.happened(watch.take_moves())
    with patch.object(watch.monitor, "slices", side_effect=AssertionError("all slices were made")):
        now, slices, count = trail.look(harmless=False)
    names = [node.name for node in trail.automata[0].nodes]
    alone = [each for each in watch.monitor.slices() if not each.binding]
    assert count == many + len(alone)
    assert {names[node]: number for node, number in now[0].counts.items()} == Counter(
        each.state for each in watch.monitor.slices()
    )
    assert {each.binding["i"] for each in slices[:2]} == {"5", "7"}
    assert [(names[each.previous], names[each.node]) for each in slices[:2]] == [("opened", slices[0].state)] * 2
    assert [names[trail.automata[0].edges[edge].source] for edge in now[0].taken] == ["opened"]
    assert len(slices) == MOST_SLICES


def test_code_of_the_program_is_not_run_where_that_could_do_harm():
    class Loud:
        asked = 0

        def __repr__(self) -> str:
            Loud.asked += 1
            return "loud"

    watch = watch_of(GUARDED)
    watch.be_observed()
    trail = Trail(watch)
    value = Loud()
    watch.monitor.emit("open", i=value)
    trail.happened(watch.take_moves())
    _, slices, _ = trail.look(harmless=True)
    assert Loud.asked == 0
    assert slices[0].binding["i"].startswith("<Loud at 0x")
    _, slices, _ = trail.look(harmless=False)
    assert slices[0].binding == {"i": "loud"}
    _, slices, _ = trail.look(harmless=True)
    assert slices[0].binding == {"i": "loud"}
    assert Loud.asked == 1
