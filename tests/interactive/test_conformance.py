"""What an implementation of interactive runtime verification must do at the least: a test or more for each point.

Where a point has random tests of its own, they are named: `test_rules` compares whole sessions with the rules.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interactive.sessions import start
from interactive.test_rules import as_spec, random_machine, random_program
from interactive.toy import STOP, Toy, ToyDebugger

import mopsus
from mopsus.interactive.scenario.syntax import parse_scenario
from mopsus.interactive.session import Session
from mopsus.spec import SpecError, print_spec

# ---- every construct is read, and printed again; what is wrong is said

EVERYTHING = """
slice on q, t
initialization { import math
                 total = 0 }
state init accepting {
    transition { before event push(q, arg 2 as value : int, *p as pointee, &p as place, ^line as caller)
                 { return value > 0 }
                 success { total += value } note() ready
                 failure { return "bad" } bad }
    transition { after event Queue.pop(ret as t) success ready }
    transition { after event write counter(counter) success { total = counter } }
    transition { event read counter() success ready }
    transition { event access counter() success ready }
    transition { event update "q->size" () success ready }
    transition { event queue.c:12("q->size" as n, {total + 1} as m) success ready }
    transition { event #end() success ready }
}
state ready import transitions from state init {
    transition { call done(q) success closed }
}
state closed accepting final
state bad non-accepting warn()
"""


def test_every_construct_of_properties_is_read_and_printed_again():
    (spec,) = mopsus.parse(EVERYTHING, "every.prop").values()
    assert mopsus.parse(print_spec(spec))[spec.name] == spec


def test_every_construct_of_scenarios_is_read():
    text = "initialization { n = 0 }\n" + "\n".join(
        f"on {moment} {target} {{ n += 1 }}"
        for moment in ("entering", "leaving")
        for target in ("state a", "accepting state", "non-accepting state", "initial state")
    )
    assert len(parse_scenario(text).reactions) == 8


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("state init {} state init {}", "init"),
        ("state other {}", "init"),
        ("state init { transition { event f() success nowhere } }", "nowhere"),
        ("state init import transitions from state nowhere", "nowhere"),
        ("slice on q state init { transition { event f() success init } }", "q"),
        ("state init { transition { event f() { return ( } success init } }", ""),
    ],
)
def test_what_is_wrong_with_a_property_is_said_with_its_place(text, said):
    with pytest.raises(SpecError) as raised:
        mopsus.parse(text, "wrong.prop")
    assert said in str(raised.value)
    assert "wrong.prop:1:" in str(raised.value)


# ---- guards

GUARDS = {"": True, "{ return True }": True, "{ return False }": False, "{ return None }": None, "{ x = 1 }": True}


@pytest.mark.parametrize("failure", [True, False], ids=["failure end", "no failure end"])
@pytest.mark.parametrize(("guard", "outcome"), GUARDS.items())
def test_what_a_guard_says_decides_the_end(guard, outcome, failure):
    end = "failure no" if failure else ""
    text = f"state init {{ transition {{ event f() {guard} success yes {end} }} }} state yes state no"
    (spec,) = mopsus.parse(text, "guard.prop").values()
    with spec.monitor() as monitor:
        monitor.emit("f")
        (only,) = monitor.slices()
    assert only.state == {True: "yes", False: "no" if failure else "init", None: "init"}[outcome]


# ---- slices

WINDOWS = """
slice on w, t
initialization { seen = []; count = 0 }
state init {
    transition { event open(w) success { count += 1; seen.append(w) } opened }
}
state opened {
    transition { event open(w) success { count += 1 } }
    transition { event tab(w, t) success { count += 1 } tabbed }
    transition { event close(w) success { count += 10 } closed }
}
state tabbed {
    transition { event tab(w, t) success { count += 1 } tabbed }
    transition { event close(w) success { count += 10 } closed }
    transition { event end(w, t) success over }
}
state closed
state over final
"""


@pytest.fixture
def windows():
    (spec,) = mopsus.parse(WINDOWS, "windows.prop").values()
    with spec.monitor() as monitor:
        yield monitor


def slices(monitor) -> dict[tuple[object, ...], tuple[str, int]]:
    return {tuple(s.binding.values()): (s.state, s.environment["count"]) for s in monitor.slices()}


def test_a_slice_begins_as_a_copy_of_its_most_specific_ancestor_which_stays(windows):
    windows.emit("open", w=1)
    windows.emit("open", w=1)
    windows.emit("tab", w=1, t=7)
    assert slices(windows) == {(): ("init", 0), (1,): ("opened", 2), (1, 7): ("tabbed", 3)}
    root, window, tab = windows.slices()
    assert (tab.parent.binding, window.parent.binding, root.parent) == ({"w": 1}, {}, None)


def test_an_event_with_fewer_parameters_is_for_all_more_specific_slices(windows):
    windows.emit("open", w=1)
    windows.emit("tab", w=1, t=7)
    windows.emit("tab", w=1, t=8)
    windows.emit("close", w=1)
    assert slices(windows) == {
        (): ("init", 0),
        (1,): ("closed", 11),
        (1, 7): ("closed", 12),
        (1, 8): ("closed", 12),
    }


def test_a_final_slice_is_forgotten_and_the_next_of_its_values_begins_anew(windows):
    windows.emit("open", w=1)
    windows.emit("tab", w=1, t=7)
    windows.emit("end", w=1, t=7)
    assert (1, 7) not in slices(windows)
    windows.emit("tab", w=1, t=7)
    assert slices(windows)[1, 7] == ("tabbed", 2)


def test_variables_are_copied_one_level_deep(windows):
    windows.emit("open", w=1)
    windows.emit("open", w=2)
    root, *others = windows.slices()
    assert root.environment["seen"] == [1, 2]
    assert all(each.environment["seen"] is root.environment["seen"] for each in others)


def test_the_tree_of_slices_is_saved_and_brought_back(windows):
    windows.emit("open", w=1)
    windows.emit("tab", w=1, t=7)
    before = slices(windows)
    saved = windows.checkpoint()
    for _ in range(2):
        windows.emit("close", w=1)
        windows.emit("open", w=2)
        windows.rewind(saved)
        assert slices(windows) == before
        assert windows.slices()[0].environment["seen"] == [1]


# ---- points


@settings(max_examples=150, deadline=None)
@given(st.randoms(use_true_random=False))
def test_points_are_always_those_of_the_events_that_live_slices_need(draw: random.Random):
    program = random_program(draw)
    machines = [random_machine(draw, program) for _ in range(2)]
    debugger = ToyDebugger(program, 40)
    session = debugger.driver = Session(debugger)
    for number, machine in enumerate(machines):
        session.add(mopsus.parse(as_spec(machine, number))[f"P{number}"], quiet=True)
    session.start()
    while not debugger.ended and debugger.fuel:
        needed = {
            (place.kind, place.what)
            for watch, machine in zip(session.watches, machines, strict=True)
            for state in watch.interface.get_current_states()
            for event in machine.needed(state)
            for place in machine.places[event]
        }
        assert {(place.kind, place.what) for place in debugger.places} == needed
        debugger.step()


STACK = [("put", "n", 7), ("put", "x", 1), ("loop", "n", 1), ("put", "n", 7), ("put", "x", 0), ("loop", "n", 4), STOP]
"""Seven pushes, then seven pops."""


@pytest.mark.parametrize(("full", "hits"), [("", 8), ("transition { event pop success full }", 14)])
def test_points_that_no_state_needs_cost_nothing(full, hits):
    text = """
    Stack() {
        event push before() : line("1")
        event pop before() : line("4")
        efsm: state init {
                  transition { event push success init }
                  transition { event pop success full }
              }
              state full { FULL }
    }
    """
    _, debugger = start(Toy(list(STACK), {"n": 0, "x": 0}), text.replace("FULL", full))
    debugger.cont()
    assert debugger.ended
    assert debugger.hits == hits


def test_developer_scenario_and_monitors_at_one_place_each_once_in_this_order():
    log: list[str] = []
    text = 'Seen() { event here before() : line("1") efsm: state init { transition { event here success init } } }'
    scenario = 'on entering initial state { if old_state is None: set_breakpoint("1", lambda: print("@scenario")) }'
    program = Toy([("put", "n", 2), ("put", "x", 0), ("loop", "n", 1), STOP], {"n": 0, "x": 0})
    session, debugger = start(program, text, text.replace("Seen", "Again"), scenario=scenario)
    for watch in session.watches:
        name = watch.spec.name
        watch.interface.register_event("event_applied", lambda _, name=name: debugger.lines.append(f"@{name}"))
    debugger.set_break(1)
    while not debugger.ended:
        debugger.cont()
        log += [line[1:] for line in debugger.lines if line.startswith("@")]
        log += ["developer"] if not debugger.ended else []
        debugger.lines.clear()
    arrival = ["developer", "scenario", "scenario", "Seen", "Again"]
    assert log == [*arrival, *arrival]


# ---- calls that have returned


def test_each_of_nested_calls_returns_with_its_own_values(tmp_path):
    (tmp_path / "f.py").write_text("def fact(n):\n    return n * fact(n - 1) if n else 1\n\n\nfact(4)\n")
    (tmp_path / "f.prop").write_text("state init { transition { after event fact(n, ret as r) success init } }")
    command = ["debug", "--batch", "--quiet", "--prop", "f.prop", "--record", "r.jsonl", "f.py"]
    subprocess.run([sys.executable, "-m", "mopsus", *command], cwd=tmp_path, check=True)
    rows = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    assert [(row["n"], row["r"]) for row in rows] == [(0, 1), (1, 1), (2, 2), (3, 6), (4, 24)]


# ---- checkpoints: see also `test_rules`


def test_program_monitors_and_points_come_back_together_and_the_developers_points_stay():
    text = """
    Phases() {
        event first before() : line("0")
        event second before() : line("2")
        efsm: initialization { turns = 0 }
              state init { transition { event first success on } }
              state on { transition { event second success { turns += 1 } on } }
    }
    """
    program = Toy([("put", "n", 3), ("put", "x", 5), ("loop", "n", 1), STOP], {"n": 0, "x": 0})
    session, debugger = start(program, text)
    number = session.checkpoint()
    debugger.set_break(2)
    debugger.cont()
    debugger.cont()
    assert session.watches[0].interface.get_env() == {"turns": 1}
    assert {place.what for place in debugger.places} == {"2"}
    debugger.remove_break(2)
    debugger.set_break(1)
    session.restore(number)
    assert (program.pc, program.data) == (0, {"n": 0, "x": 0})
    assert session.watches[0].interface.get_current_states() == {"init"}
    assert session.watches[0].interface.get_env() == {"turns": 0}
    assert {place.what for place in debugger.places} == {"0"}
    assert debugger.breaks == {1}
    assert debugger.traps == {0, 1}
