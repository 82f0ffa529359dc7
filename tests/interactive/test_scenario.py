"""Scenarios over the toy machine: reactions, their order, points, what is put off."""

from __future__ import annotations

import pytest
from interactive.sessions import make, start
from interactive.test_session import TWICE, counting


def run(scenario: str, *properties: str):
    session, debugger = start(counting(), *(properties or (TWICE,)), scenario=scenario)
    debugger.cont()
    return session, debugger


def said(debugger) -> list[str]:
    return [line[1:] for line in debugger.lines if line.startswith("@")]


def test_reactions_run_in_the_order_of_writing_and_a_loop_leaves_and_enters():
    _, debugger = run(
        """
        initialization { count = 0 }
        on entering accepting state { count += 1; print("@accepting", count) }
        on leaving state init { print("@left", old_state, new_state) }
        on entering state init { print("@entered", old_state, new_state) }
        on entering initial state { print("@initial") }
        on entering non-accepting state { print("@bad") }
        """
    )
    loop = ["left init init", "entered init init", "initial"]
    assert said(debugger) == [
        *["accepting 1", "entered None init", "initial"],
        *["accepting 2", *loop],
        *["accepting 3", *loop],
        *["left init bad", "bad"],
    ]
    assert debugger.ended


def test_an_empty_scenario_never_stops_the_program():
    session, debugger = run("")
    assert debugger.ended
    assert [verdict.category for verdict in session.verdicts] == ["bad"]


def test_a_scenario_may_suspend_at_the_start():
    session, debugger = make(counting(), TWICE, scenario="on entering initial state { suspend_execution() }")
    assert session.start() is True
    assert debugger.executed == []


def test_points_of_scenarios_call_back_until_they_are_unset():
    _, debugger = run(
        """
        initialization { seen = 0 }
        on entering initial state {
            if old_state is None:
                def turn():
                    global seen
                    seen += 1
                    print("@turn", seen, get("x"))
                    if seen == 2:
                        unset_breakpoint(point)
                point = set_breakpoint("2", turn)
                set_watchpoint("n", "w", lambda: print("@n", get("n")))
        }
        """
    )
    assert said(debugger) == ["n 0", "turn 1 1", "n 3", "turn 2 2", "n 2", "n 1"]


def test_a_point_without_callback_stops_the_program_before_monitors_see_it():
    session, debugger = run('on entering initial state { set_breakpoint("1") if old_state is None else None }')
    assert debugger.program.pc == 1
    assert session.outcome().stats["Twice"]["events"] == 0
    debugger.cont()
    assert session.outcome().stats["Twice"]["events"] == 1


def test_a_checkpoint_is_taken_after_the_point_and_what_was_put_off_has_its_own_states():
    session, debugger = run(
        """
        initialization { last = None; again = False }
        on entering accepting state {
            last = checkpoint()
            set("x", get("x") + 0)
            after_breakpoint(lambda: print("@checkpoint", checkpoint_get_id(last), old_state, "->", new_state))
        }
        on entering non-accepting state {
            if again:
                suspend_execution()
            else:
                again = True
                restore_checkpoint(last)
                set_watchpoint("x", "w", lambda: print("@x is", get("x")))
        }
        """
    )
    assert said(debugger) == [
        *["checkpoint 0 None -> init", "checkpoint 1 init -> init", "checkpoint 2 init -> init"],
        "x is 1",
    ]
    assert debugger.program.pc == 1
    assert [verdict.category for verdict in session.verdicts] == ["bad", "bad"]
    assert [each.number for each in session.checkpoints] == [0, 1, 2]


def test_each_monitor_has_its_scenario_and_monitors_react_in_their_order():
    _, debugger = run(
        'on entering state bad { print("@", monitor.get_current_states()) }', TWICE, TWICE.replace("Twice", "Again")
    )
    assert said(debugger) == [" {'bad'}", " {'bad'}"]


def test_a_fault_in_a_scenario_is_told_once_and_the_program_goes_on():
    session, debugger = run("on entering state init { 1 / 0 }\non entering state bad { suspend_execution() }")
    assert debugger.program.pc == 1
    (fault,) = session.outcome().faults
    assert (fault.spec, fault.code, fault.place, fault.error) == ("Twice", "scenario", "s.scn:1", "ZeroDivisionError")
    assert fault.count == 3
    assert "ZeroDivisionError: division by zero\n  at s.scn:1: " in debugger.lines


def test_a_checkpoint_that_cannot_be_taken_is_told():
    session, debugger = make(counting(), TWICE, scenario="on entering accepting state { checkpoint() }")
    debugger.checkpoints_fail = True
    session.start()
    debugger.cont()
    assert debugger.ended
    assert list(session.warnings) == ["error[DEBUG-003]: the toy is broken (mend it)"]
    assert list(session.checkpoints) == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ('set_watchpoint("x", "q")', "ScenarioError: a watchpoint is for 'r', 'w' or 'rw', not 'q'"),
        ('set_breakpoint("1", 3)', "ScenarioError: the callback of a point must be callable, not 3"),
        ('unset_breakpoint("f")', "ScenarioError: the scenario has no point f"),
    ],
)
def test_a_call_that_makes_no_sense_is_a_fault(call, message):
    session, _ = run(f"on entering state bad {{ {call} }}")
    (fault,) = session.outcome().faults
    assert (f"{fault.error}: {fault.message}", fault.place) == (message, "s.scn:1")


def test_a_scenario_can_do_what_the_developer_can():
    _, debugger = run(
        """
        on entering state bad {
            print("@", execute("info"), get_pc(), get_memory(0, 3), ask("why?"))
            print("@", backtrace())
            set_memory(0, bytes([1]))
            set("x", 7)
            after_breakpoint(lambda: set_pc(3))
        }
        """
    )
    assert said(debugger) == [
        r" did info 1 b'\\x01\\x01\\x02' no answer to why?".replace("\\\\", "\\"),
        " ['#0 toy:1']",
    ]
    assert debugger.program.data["x"] == 7
    assert debugger.ended


def test_a_step_of_a_scenario_is_made_after_the_point():
    _, debugger = run("on entering state bad { step() }")
    assert debugger.program.pc == 2
    assert debugger.program.data["x"] == 3


def test_a_reaction_to_a_state_that_is_not_there_is_told():
    session, _ = run("on entering state bat { pass }")
    (warning,) = session.warnings
    assert "the property has no state 'bat', so this reaction never runs" in warning
    assert "did you mean 'bad'?" in warning


def test_a_stop_by_a_scenario_shows_how_it_came_to_that():
    _, debugger = run("on entering state bad { suspend_execution() }", TWICE.replace("seen = x", "seen = one"))
    assert debugger.lines[-1].splitlines()[:4] == [
        "Stopped: the scenario of Twice stops the program here",
        "  at toy:1",
        "  Twice: bad at toy:1",
        "        1-3. turn(seen=1)  at toy:1",
    ]


@pytest.mark.parametrize("when", ['execute("kill")', 'after_breakpoint(lambda: execute("kill"))'])
def test_a_program_that_dies_inside_a_scenario_is_told_as_its_end(when):
    session, debugger = run(f"on entering state bad {{ {when}; checkpoint(); suspend_execution() }}")
    outcome = session.outcome()
    assert debugger.ended
    assert (outcome.status, outcome.stop) == (-9, None)
    assert not session.waiting
    session.start()
    assert session.watches[0].interface.get_current_states() == {"init"}


def test_a_scenario_may_bring_back_a_program_that_has_ended():
    text = """
    Ends() {
        event turn before() : line("2")
        event over before() : endProgram()
        efsm: state init { transition { event turn success on } }
              state on accepting { transition { event over success bad } }
              state bad non-accepting
    }
    """
    session, debugger = run(
        """
        initialization { tries = 0 }
        on entering accepting state { last = checkpoint() }
        on entering non-accepting state {
            tries += 1
            print("@try", tries, get("x"))
            if tries < 3:
                restore_checkpoint(last)
        }
        """,
        text,
    )
    assert said(debugger) == ["try 1 3", "try 2 3", "try 3 3"]
    assert debugger.ended
    assert (session.outcome().status, len(session.verdicts)) == (0, 3)


def test_a_scenario_starts_anew_with_the_program():
    session, debugger = run(
        """
        initialization { turns = 0 }
        on entering initial state {
            turns += 1
            print("@turn", turns)
            if old_state is None:
                set_breakpoint("3", lambda: print("@end"))
        }
        """
    )
    debugger.program.pc, debugger.ended = 0, False
    debugger.program.data["x"] = 0
    session.checkpoints.forget()
    session.start()
    debugger.cont()
    assert said(debugger) == ["turn 1", "turn 2", "turn 3", "end"] * 2
