"""Where the papers on Verde contradict themselves or say nothing: what was decided, and that it is so."""

from __future__ import annotations

import pytest

from mopsus.interactive.scenario.syntax import parse_scenario
from mopsus.logics import compile_spec
from mopsus.spec import SpecError, parse_file

# As the paper prints it: the first guard assigns, and returns nothing.
QUEUE = """
slice on queue
initialization { N = 0; maxSize = 0 }
state init accepting {
    transition { event queue_new(queue, size : int) { maxSize = size - 1 } success { maxSize = size - 1 } queue_ready }
}
state queue_ready accepting {
    transition { event push(queue) { return N < maxSize } success { N = N + 1 } queue_ready failure sink }
    transition { event pop(queue) { return N > 0 } success { N = N - 1 } queue_ready failure sink }
}
state sink non-accepting
"""


def read(text):
    file = parse_file(text, "queue.prop")
    return file.specs["queue"], compile_spec(file.specs["queue"], file.source)


def test_a_guard_that_returns_nothing_succeeds_and_what_it_assigns_changes_no_slice_and_is_told():
    spec, compiled = read(QUEUE.replace("success { maxSize = size - 1 }", "success"))
    monitor = spec.monitor()
    monitor.emit("queue_new", queue="q", size=4)
    states = {tuple(each.binding): (each.state, dict(each.environment)) for each in monitor.slices()}
    assert states == {
        (): ("init", {"N": 0, "maxSize": 0}),
        ("queue",): ("queue_ready", {"N": 0, "maxSize": 0}),
    }
    assert [warning.code for warning in compiled.warnings] == ["LOGIC-090"]


def test_the_limit_is_what_the_property_says_not_what_the_printed_session_shows():
    spec, _ = read(QUEUE)
    monitor = spec.monitor()
    monitor.emit("queue_new", queue="q", size=4)
    for _ in range(4):
        monitor.emit("push", queue="q")
    assert [verdict.category for verdict in monitor.verdicts] == ["sink"]


def test_a_transition_to_where_it_was_is_a_change_and_no_transition_is_none():
    spec, _ = read(QUEUE)
    monitor = spec.monitor()
    changes = []
    monitor.on_change = changes.append
    monitor.emit("push", queue="q")  # nobody knows this queue
    monitor.emit("queue_new", queue="q", size=4)
    monitor.emit("push", queue="q")
    assert [(change.old, change.new) for change in changes] == [("init", "queue_ready"), ("queue_ready", "queue_ready")]


def test_a_state_that_is_declared_twice_is_an_error():
    text = (
        "state init { transition { event f() success s } }\nstate s { }\nstate s { transition { event g() success s } }"
    )
    with pytest.raises(SpecError) as caught:
        parse_file(text, "zsh.prop")
    assert (caught.value.code, caught.value.diagnostics[0].span.line) == ("SPEC-081", 3)


def test_null_is_what_the_guard_of_the_older_paper_calls_null():
    text = """
        state init accepting {
            transition {
                after event write s(s) { return s != None and s != 0 }
                success s_not_null
                failure s_null
            }
        }
        state s_not_null accepting import transitions from state init
        state s_null non-accepting import transitions from state init
    """
    monitor = parse_file(text, "zsh.prop").specs["zsh"].monitor()
    states = []
    for value in (94000, 0, 94008, None):
        monitor.emit("write_s_after", s=value)
        states += [each.state for each in monitor.slices()]
    assert states == ["s_not_null", "s_null", "s_not_null", "s_null"]


def test_syntax_that_the_papers_do_not_show():
    text = """
        state init {
            transition { event f("q->size" as size, {len(names)} as count, ret as r : int) success init }
            transition { event update "x + y"(ret) success init }
            transition { event line 12 success init }
            transition { event #end() success init }
        }
    """
    names = [event.name for event in parse_file(text, "p.prop").specs["p"].events]
    assert names == ["f", "update_x_y", "line_12", "end"]
    scenario = parse_scenario("initialization { n = 0 }\non entering initial state { n += 1 }")
    assert scenario.initialization is not None
