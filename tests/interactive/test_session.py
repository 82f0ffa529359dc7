"""A session over the toy machine: events, verdicts, points, stops."""

from __future__ import annotations

from interactive.sessions import make, start
from interactive.toy import STOP, Toy, ToyDebugger

import mopsus
from mopsus.bus import pack, unpack
from mopsus.interactive.debugger import DebuggerError, Where
from mopsus.interactive.outcome import Outcome
from mopsus.interactive.session import Session
from mopsus.model import Place, PlaceKind

COUNT = [("put", "n", 3), ("add", "x", "x", "one"), ("loop", "n", 1), STOP]
"""Line 1 runs three times."""

TWICE = """
Twice() {
    event turn before(; seen) : line("1") && value(seen = x)
    efsm:
        initialization { times = 0 }
        state init accepting {
            transition { event turn { return times < 2 } success { times += 1 } init failure { times += 1 } bad }
        }
        state bad non-accepting {
            transition { event turn success bad }
        }
}
"""

PAIRS = """
Pairs(x) {
    event open before(x) : (line("0") || line("2")) && value(x = x)
    event close before(x) : line("7") && value(x = x)
    fsm: s0 [open -> s1] s1 [close -> s0]
    @fail {}
}
"""


def counting() -> Toy:
    return Toy(list(COUNT), {"n": 0, "x": 0, "one": 1})


def test_a_violation_stops_the_program_at_its_very_event():
    session, debugger = start(counting(), TWICE)
    debugger.cont()
    assert (debugger.program.pc, debugger.program.data["x"]) == (1, 2)
    assert [verdict.category for verdict in session.verdicts] == ["bad"]
    stop = session.outcome().stop
    assert stop is not None
    assert (stop.reason, stop.location) == ("Twice: bad at toy:1", "toy:1")
    debugger.cont()
    assert debugger.ended
    outcome = session.outcome()
    assert (outcome.status, outcome.stop) == (0, None)
    assert outcome.stats["Twice"]["seen"] == {"turn": 3}


def test_a_property_in_any_logic_stops_the_program():
    program = Toy([("put", "x", 1), ("put", "x", 1), ("put", "x", 2), *[("put", "y", 0)] * 5, STOP], {"x": 1, "y": 0})
    session, debugger = start(program, PAIRS)
    debugger.cont()
    assert program.pc == 2
    assert [str(verdict) for verdict in session.verdicts] == ["Pairs: fail for x=1 at toy:2"]


def test_an_outcome_goes_from_process_to_process():
    session, debugger = start(counting(), TWICE)
    debugger.cont()
    outcome = session.outcome()
    again = unpack(Outcome, pack(outcome))
    assert again.verdicts == outcome.verdicts
    assert (again.stop, again.status, again.error) == (outcome.stop, None, None)


def test_points_are_there_only_while_a_state_needs_them():
    text = """
    Dynamic() {
        event first before() : line("0")
        event second before() : line("2")
        efsm:
            state init { transition { event first success on } }
            state on { transition { event second success off } }
            state off accepting
    }
    """
    session, debugger = start(counting(), text)
    assert {place.what for place in debugger.places} == {"0"}
    debugger.step()
    assert {place.what for place in debugger.places} == {"2"}
    debugger.cont()
    assert debugger.ended
    assert debugger.places == set()
    assert debugger.traps == set()
    assert debugger.hits == 2
    assert session.verdicts == []


def test_two_monitors_share_a_point_and_each_has_the_event():
    session, debugger = start(counting(), TWICE, TWICE.replace("Twice", "Again"))
    assert debugger.set_count == 1
    debugger.cont()
    assert debugger.hits == 3
    assert [verdict.spec for verdict in session.verdicts] == ["Twice", "Again"]
    session.remove(session.watches[0])
    assert {place.what for place in debugger.places} == {"1"}
    session.remove(session.watches[0])
    assert debugger.places == set()


def test_the_developers_point_comes_first_and_monitors_when_the_program_goes_on():
    session, debugger = start(counting(), TWICE)
    debugger.set_break(1)
    debugger.cont()
    assert session.outcome().stats["Twice"]["events"] == 0
    debugger.cont()
    assert session.outcome().stats["Twice"]["events"] == 1
    debugger.remove_break(1)
    debugger.cont()
    assert [verdict.category for verdict in session.verdicts] == ["bad"]


def test_a_violation_may_stop_the_program_where_the_developer_just_went_on():
    session, debugger = start(counting(), TWICE)
    debugger.set_break(1)
    for _ in range(3):
        debugger.cont()
    assert session.verdicts == []
    executed = len(debugger.executed)
    debugger.cont()
    assert [verdict.category for verdict in session.verdicts] == ["bad"]
    assert len(debugger.executed) == executed
    debugger.cont()
    assert debugger.ended


def test_the_end_of_the_program_is_an_event():
    text = """
    Ends() {
        event over before(; status) : endProgram() && value(status = ret)
        efsm: state init { transition { event over { return status == 0 } success fine failure bad } }
              state fine accepting
              state bad non-accepting
    }
    """
    session, debugger = start(counting(), text)
    assert debugger.places == set()
    debugger.cont()
    assert [watch.interface.get_current_states() for watch in session.watches] == [{"fine"}]


def test_what_is_unavailable_is_never_a_value():
    text = """
    Lost(p) {
        event turn before(p) : line("1") && value(p = nowhere)
        efsm: state init { transition { event turn success bad } }
              state bad non-accepting
    }
    """
    session, debugger = start(counting(), text)
    debugger.cont()
    assert debugger.ended
    assert session.verdicts == []
    (warning,) = session.outcome().warnings
    assert warning == "Lost: an event turn is left out: `p` is <unavailable> (the toy has no such variable)"
    unseen = next(each for each in session.outcome().unseen if each.event == "turn")
    assert (unseen.possible, "`p` is <unavailable>" in unseen.reason) == (False, True)


def test_a_python_reading_sees_values_environment_functions_and_program():
    text = """
    Reads() {
        event turn before(; a, b) : line("1") && value(a = x, b = {a + n + offset + double(one)})
        efsm:
            initialization { offset = 10; seen = [] }
            state init { transition { event turn success { seen.append(b) } init } }
    }
    """
    session, debugger = start(counting(), text, functions={"double": lambda value: 2 * value})
    debugger.cont()
    assert session.watches[0].interface.get_env_value(None, "seen") == [15, 15, 15]


def test_a_place_that_is_not_there_is_told_and_the_rest_is_watched():
    session, _ = make(counting(), TWICE, PAIRS.replace('line("7")', 'line("99")'))
    assert session.start() is False
    assert [(each.spec, each.possible, each.reason) for each in session.outcome().unseen if not each.possible] == [
        ("Pairs", False, "there is no place 99")
    ]
    assert session.outcome().error is None


def test_a_property_none_of_whose_events_can_happen_is_an_error():
    session, _ = make(counting(), TWICE.replace('line("1")', 'line("99")'))
    assert session.start() is True
    assert session.outcome().error == "no event of Twice can happen in this program: there is no place 99"


def test_a_program_that_starts_anew_is_watched_from_the_beginning():
    session, debugger = start(counting(), TWICE)
    debugger.cont()
    debugger.program.pc = 0
    debugger.program.data["x"] = 0
    session.start()
    assert session.watches[0].interface.get_env() == {"times": 0}
    debugger.cont()
    assert [verdict.category for verdict in session.verdicts] == ["bad", "bad"]


def test_interrupting_a_property_stops_the_program():
    def interrupt() -> None:
        raise KeyboardInterrupt

    session, debugger = make(counting(), TWICE)
    session.watches[0].interface.register_event("event_applied", lambda _: interrupt())
    session.start()
    debugger.cont()
    assert debugger.program.pc == 1
    stop = session.outcome().stop
    assert stop is not None
    assert stop.reason == "interrupted"


def test_an_expression_that_runs_the_program_tells_no_events():
    session, debugger = make(counting(), TWICE)

    def nested(_: str) -> None:
        assert session.reached(Place(PlaceKind.LINE, "1"), lambda reading: 0) is False

    session.watches[0].interface.register_event("event_applied", nested)
    session.start()
    debugger.cont()
    assert session.outcome().stats["Twice"]["events"] == 3


def test_a_monitor_that_comes_late_starts_at_once():
    session, debugger = start(counting(), TWICE)
    debugger.step()
    debugger.step()
    session.add(mopsus.parse(TWICE.replace("Twice", "Late"))["Late"], quiet=True)
    debugger.cont()
    debugger.cont()
    assert session.outcome().stats["Late"]["events"] == 2


def test_what_a_session_says():
    session, debugger = start(counting(), TWICE, quiet=False)
    debugger.cont()
    text = "\n".join(debugger.lines)
    assert "Initialization (monitor #1, Twice):\n    times: 0" in text
    assert "Event: turn{'seen': 0}" in text
    assert "Current state (monitor #1):\n  Slice 0 None: init (from init) [accepting]\n    times: 1" in text
    assert "  Slice 0 None: bad (from init) [non-accepting]" in text
    stop = [line for line in debugger.lines if line.startswith("Stopped")]
    assert stop == [
        "Stopped: Twice: bad at toy:1\n  at toy:1\n          1. turn(seen=0)  at toy:1\n"
        "          2. turn(seen=1)  at toy:1\n          3. turn(seen=2)  at toy:1\n  monitor #1 Twice: bad\n"
        "Go on, step, or look around as ever; `verde help` lists the commands for monitors."
    ]
    assert isinstance(session, Session)
    assert isinstance(debugger, ToyDebugger)


def test_a_fault_in_a_guard_is_told_once_and_counted():
    session, debugger = start(counting(), TWICE.replace("return times < 2", "return 1 / 0"))
    debugger.cont()
    assert debugger.ended
    (fault,) = session.outcome().faults
    assert (fault.spec, fault.code, fault.error, fault.count) == ("Twice", "guard", "ZeroDivisionError", 3)
    assert session.outcome().stats["Twice"]["faults"] == 3
    assert sum("ZeroDivisionError" in line for line in debugger.lines) == 1


def test_a_debugger_that_refuses_something_at_a_place_does_not_end_the_session():
    session, debugger = start(counting(), TWICE)

    def where() -> Where:
        raise DebuggerError("nobody knows where", hint="look around")

    known, debugger.where = debugger.where, where
    debugger.step()
    debugger.step()
    debugger.where = known
    debugger.cont()
    assert debugger.ended
    assert list(session.warnings) == ["error[DEBUG-001]: nobody knows where (look around)"]
    assert session.outcome().stats["Twice"]["events"] == 2


class Folding(ToyDebugger):
    """Of a program that may do what nobody sees."""

    def doubt(self, place: Place) -> str:
        return f"line {place.what} may be elsewhere"


def test_of_what_no_state_needed_nobody_says_that_it_never_happened():
    """Line 1 runs three times, but only the state `late` looks at it, and that is never reached."""
    text = """
    Late() {
        event begin before() : line("0")
        event never before() : line("4")
        event turn before() : line("1")
        efsm:
            state init { transition { event begin success init } transition { event never success late } }
            state late { transition { event turn success late } }
    }
    """
    program = Toy([*COUNT[:3], ("jump", 5), ("put", "n", 1), STOP], {"n": 0, "x": 0, "one": 1})
    session, debugger = start(program, text, kind=Folding)
    debugger.cont()
    outcome = session.outcome()
    assert outcome.said == ["Late: event never never happened, as far as can be seen: line 4 may be elsewhere"]
    assert [(each.event, bool(each.hint)) for each in outcome.unseen] == [("never", False), ("turn", True)]
