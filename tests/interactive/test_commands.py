"""The `verde` commands, and the interface of a monitor behind `verde exec`, over the toy machine."""

from __future__ import annotations

import pytest
from interactive.sessions import make
from interactive.test_session import TWICE, counting

from mopsus.interactive.commands import COMMANDS, completions
from mopsus.interactive.messages import CommandError, MonitorError
from mopsus.model import MopsusError

FUNCTIONS = """
unmatched = []
def note(event, values): unmatched.append((event, values))
def changed(states): unmatched.append(sorted(states))
"""

SLICES = """
Slices(x) {
    event turn before(x; n) : line("1") && value(x = x, n = n)
    event other before(x) : line("2") && value(x = x)
    efsm:
        initialization { turns = 0 }
        state init accepting { transition { event turn success { turns += 1 } seen } }
        state seen { transition { event turn success { turns += 1 } seen } }
}
"""


@pytest.fixture
def files(tmp_path):
    for name, text in {"twice.mop": TWICE, "slices.mop": SLICES, "f.py": FUNCTIONS}.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "empty.scn").write_text("")
    return tmp_path


def session_of(*commands: str):
    session, debugger = make(counting())
    for command in commands:
        session.command(command)
    return session, debugger


def test_a_session_by_commands_alone(files):
    session, debugger = session_of("new", f"load-property '{files / 'twice.mop'}'", "run")
    debugger.cont()
    assert [verdict.category for verdict in session.verdicts] == ["bad"]
    session.command("exec get_current_states")
    assert debugger.lines[-1] == "{'bad'}"
    session.command("exec get_env_value None times")
    assert debugger.lines[-1] == "3"


def test_the_monitor_is_started_with_the_program(files):
    session, debugger = session_of(f"load-property {files / 'twice.mop'}", "run-with-program")
    assert session.started
    assert debugger.going


def test_functions_and_scenario_may_come_before_or_after_the_property(files):
    prop, functions, scenario = files / "twice.mop", files / "f.py", files / "empty.scn"
    before, _ = session_of("new", f"load-functions {functions}", f"load-scenario {scenario}", f"load-property {prop}")
    after, _ = session_of(f"load-property {prop}", f"load-functions {functions}", f"load-scenario {scenario}")
    with_it, _ = session_of(f"load-property {prop} {functions}")
    for session in (before, after, with_it):
        assert "note" in session.watches[0].functions
        assert (session.watches[0].scenario is None) == (session is with_it)


def test_monitors_are_chosen_by_number(files):
    session, debugger = session_of(
        f"load-property {files / 'twice.mop'}", "new", f"load-property {files / 'slices.mop'}"
    )
    session.command("get-current")
    assert debugger.lines[-1].startswith("monitor #2 Slices")
    session.command("set-current 1")
    session.command("get-current")
    assert debugger.lines[-1].startswith("monitor #1 Twice")
    session.command("delete")
    assert [watch.number for watch in session.watches] == [2]
    session.command("get-current")
    assert debugger.lines[-1].startswith("monitor #2 Slices")
    session.command("delete 2")
    with pytest.raises(MonitorError, match="there is no monitor"):
        session.command("get-current")


def test_checkpoints_by_commands(files):
    session, debugger = session_of(f"load-property {files / 'twice.mop'}", "run")
    debugger.step()
    session.command("checkpoint")
    debugger.cont()
    assert debugger.program.data["x"] == 2
    for name in ("checkpoint-restart", "restore-checkpoint"):
        session.command(f"{name} 0")
        assert debugger.program.data["x"] == 0
        assert session.watches[0].interface.get_env() == {"times": 0}
        debugger.cont()
        assert debugger.program.data["x"] == 2
    session.command("checkpoints")
    assert debugger.lines[-1] == "checkpoint 0 at toy:1 (Twice: init; 0 events)"
    session.command("checkpoint-discard 0")
    with pytest.raises(MopsusError, match="there is no checkpoint 0"):
        session.command("checkpoint-restart 0")


def test_a_group_of_commands_runs_at_its_end(files):
    session, _ = session_of("cmd-group-begin", f"load-property {files / 'twice.mop'}", "run")
    assert session.watches == []
    session.command("cmd-group-end")
    assert session.started
    assert len(session.watches) == 1
    with pytest.raises(CommandError, match="no group"):
        session.command("cmd-group-end")


def test_the_graph_and_the_help_are_text(files):
    session, debugger = session_of(f"load-property {files / 'twice.mop'}", "show-graph text")
    text = "\n".join(debugger.lines)
    assert "2 states, starts in init" in text
    debugger.lines.clear()
    session.command("help")
    assert [line.split()[1] for line in debugger.lines] == list(COMMANDS)
    debugger.lines.clear()
    session.command("")
    assert len(debugger.lines) == len(COMMANDS)
    assert completions("check") == ["checkpoint", "checkpoint-restart", "checkpoint-discard", "checkpoints"]


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        ("chekpoint", "no command `verde chekpoint`", "did you mean `verde checkpoint`?"),
        ("checkpoint-restart", "does not take that", "write `verde checkpoint-restart N`"),
        ("checkpoint-restart x", "`x` is no number", ""),
        ("set-current 7", "there is no monitor #7", "there are none"),
        ("exec get_states", "there is no monitor", "`verde load-property FILE` makes one"),
        ("load-property 'x", "cannot be read", "close the quotes"),
    ],
)
def test_a_wrong_command_says_what_is_wrong(line, message, hint):
    session, _ = make(counting())
    with pytest.raises(MopsusError, match=message) as raised:
        session.command(line)
    assert raised.value.hint == hint


def test_files_that_are_not_there_or_wrong(files):
    (files / "bad.py").write_text("1 / 0")
    session, _ = session_of(f"load-property {files / 'twice.mop'}")
    with pytest.raises(MopsusError, match=r"cannot read .*none\.prop"):
        session.command(f"load-property {files / 'none.prop'}")
    with pytest.raises(MopsusError, match=r"cannot read .*none\.py"):
        session.command(f"load-functions {files / 'none.py'}")
    with pytest.raises(MopsusError, match="ZeroDivisionError"):
        session.command(f"load-functions {files / 'bad.py'}")
    assert len(session.watches) == 1


def test_code_may_be_forbidden(files):
    session, _ = make(counting(), allow_code=False)
    for line in (f"load-property {files / 'twice.mop'}", f"load-property {files / 'twice.mop'} {files / 'f.py'}"):
        with pytest.raises(MopsusError, match="contains Python code"):
            session.command(line)
    assert session.watches == []


# ---- the interface of a monitor


def sliced():
    session, debugger = make(counting(), SLICES)
    session.start()
    debugger.cont()
    return session, session.watches[0].interface, debugger


def test_slices_and_their_variables():
    _, interface, _ = sliced()
    assert interface.get_states() == {"init", "seen"}
    assert interface.get_current_states() == {"init", "seen"}
    assert interface.get_slice_bindings() == [{}, {"x": 0}, {"x": 1}, {"x": 2}]
    assert len(interface.get_slices()) == 4
    assert interface.get_env() == {"turns": 0}
    assert interface.get_env(1) == {"turns": 1}
    assert list(interface.get_env_keys(1)) == interface.get_env_keys(1, as_iterator=False) == ["turns"]
    interface.set_env_value(1, "turns", 7)
    assert interface.get_env_value(interface.get_slices()[1], "turns") == 7
    interface.set_env_dict(2, {"turns": 9})
    assert interface.get_env_dict(2) == {"turns": 9}
    assert interface.get_env(0) == {"turns": 0}


def test_what_is_not_there_is_an_error():
    _, interface, _ = sliced()
    with pytest.raises(MonitorError, match="no variable `turn`"):
        interface.get_env_value(None, "turn")
    with pytest.raises(MonitorError, match="no slice 9"):
        interface.get_env(9)
    with pytest.raises(MonitorError, match="no state `sen`"):
        interface.set_current_state("sen")
    with pytest.raises(MonitorError, match="no event type `changed`"):
        interface.register_event("changed", print)
    with pytest.raises(MonitorError, match="was not registered"):
        interface.unregister_event("state_changed", print)
    with pytest.raises(MonitorError, match="no function `nobody`"):
        interface.set_transition_debug_function("nobody")


def test_a_state_that_is_set_changes_the_points():
    text = """
    Two() {
        event first before() : line("1")
        event second before() : line("2")
        efsm: state init { transition { event first success init } }
              state other { transition { event second success other } }
    }
    """
    session, debugger = make(counting(), text)
    session.start()
    session.watches[0].interface.set_current_state("other")
    assert {place.what for place in debugger.places} == {"2"}
    debugger.cont()
    assert session.outcome().stats["Two"]["seen"] == {"first": 0, "second": 3}


def test_callbacks_are_told_and_may_fail():
    session, debugger = make(counting(), TWICE)
    interface, told = session.watches[0].interface, []
    interface.register_event("transition_taken", lambda transition, point: told.append((transition.event, point)))
    interface.register_event("state_changed", told.append)
    interface.register_event("event_applied", lambda event: 1 / 0)
    interface.register_event("event_applied", told.append)
    session.start()
    debugger.cont()
    step = [("turn", "success"), "turn"]
    assert told == [*step, *step, ("turn", "failure"), {"bad"}, "turn"]
    (fault,) = session.outcome().faults
    assert (fault.spec, fault.code, fault.count) == ("Twice", "callback of monitor #1", 3)
    assert (fault.error, fault.message) == ("ZeroDivisionError", "division by zero")
    interface.unregister_event("state_changed", told.append)


def test_events_that_no_state_takes_are_told(files):
    text = TWICE.replace("return times < 2", "return None if times else True")
    session, debugger = make(counting(), text)
    session.command(f"load-functions {files / 'f.py'}")
    session.command("exec set_transition_debug_function note")
    session.start()
    debugger.cont()
    assert session.watches[0].functions["unmatched"] == [("turn", {"seen": 1}), ("turn", {"seen": 2})]
    session.command("exec set_transition_debug_function")
    session.start()


def test_step_by_step_and_quiet(files):
    session, debugger = make(counting(), TWICE)
    session.command("exec step_by_step")
    session.command("exec set_quiet False")
    session.start()
    debugger.cont()
    stop = session.outcome().stop
    assert stop is not None
    assert stop.reason == "a step of monitor #1"
    assert "Event: turn{'seen': 0}" in debugger.lines
    session.command("exec step_by_step False")
    debugger.cont()
    assert [verdict.category for verdict in session.verdicts] == ["bad"]


def test_a_monitor_can_stop_itself_and_the_program():
    session, debugger = make(counting(), TWICE, functions={"end": lambda: interface.stop_execution()})
    interface = session.watches[0].interface
    interface.register_event("event_applied", lambda _: interface.stop_execution())
    session.start()
    debugger.cont()
    assert debugger.program.pc == 1
    assert debugger.places == set()
    debugger.cont()
    assert debugger.ended
    assert session.outcome().stats["Twice"]["events"] == 1


def test_the_prompt_by_a_property(files):
    session, debugger = make(counting(), TWICE.replace("init failure", "shell() init failure"))
    session.watches[0].use_functions({"shell": session.watches[0].interface.debugger_shell})
    session.start()
    debugger.cont()
    stop = session.outcome().stop
    assert stop is not None
    assert stop.reason == "monitor #1 asks for the prompt"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("exec get_state", "has no method `get_state`"),
        ("exec _slice", "has no method `_slice`"),
        ("exec get_env_value", "does not take that"),
    ],
)
def test_a_wrong_call_of_the_interface(line, message):
    session, _ = make(counting(), TWICE)
    with pytest.raises(CommandError, match=message):
        session.command(line)
