"""The features of points, by their numbers in the catalogue: 36 to 44."""

from __future__ import annotations

import pytest
from interactive.gdb.programs import build, debug, events

pytestmark = pytest.mark.gdb

STACK = """
    int depth, low;
    void push(int n) { depth++; }
    void pop(int n) { depth--; }
    int main(void) {
        for (int i = 0; i < 8; i++) { push(i); pop(i); }
        return 0;
    }
"""
EVERY_PUSH = "state init { transition { event push(n) success init } }"
COUNT = (
    "python from mopsus.interactive.gdb.trap import Trap; "
    "print('traps', sum(each.enabled and '__libc' not in each.location for each in Trap.alive()))"
)


def test_feature_36_points_are_set_without_the_developer():
    said = debug(build(STACK), EVERY_PUSH)
    assert len(events(said)) == 8


def test_feature_37_points_exist_only_while_a_state_needs_them():
    """`pop` is watched only while 5 is on the stack, and nothing once that is settled."""
    prop = """
        state init { transition { event push(n) { return n == 5 or None } success added } }
        state added { transition { event pop(n) { return n == 5 or None } success removed } }
        state removed accepting
    """
    said = debug(build(STACK), prop, "break 7", "run", COUNT)
    assert events(said) == [*(f"push{{'n': {n}}}" for n in range(6)), "pop{'n': 5}"]
    assert said.splitlines()[-1] == "traps 0"


def test_feature_38_one_place_for_developer_scenario_and_two_monitors():
    """Each once per arrival: the developer, then the scenario, then the monitors in order."""
    prop = "state init {{ transition {{ event push(n) {{ return n == 3 }} success {{ print('{0}') }} init }} }}"
    said = debug(
        build(STACK),
        [prop.format("first"), prop.format("second")],
        "break push if n == 3",
        "run",
        "echo developer\\n",
        "continue",
        scenario="""
            initialization { set_breakpoint("push", lambda: print("scenario") if get("n") == 3 else None) }
        """,
    )
    order = [line for line in said.splitlines() if line in ("developer", "scenario", "first", "second")]
    assert order == ["developer", "scenario", "first", "second"]


def test_feature_39_points_of_monitors_are_not_seen_and_those_of_the_developer_call_no_monitor():
    said = debug(build(STACK), EVERY_PUSH, "break 4", "run", "info breakpoints", "delete", "continue")
    listed = said[said.index("Num ") : said.index("Event:", said.index("Num "))]
    assert "in pop at program.c:4" in listed
    assert "push" not in listed
    assert all(event.startswith("push") for event in events(said))
    assert len(events(said)) == 8


def test_feature_40_a_point_fires_once_per_arrival():
    """Also when the program is stopped there, looked at, and goes on."""
    prop = "state init { transition { event push(n) { return n == 2 } success odd failure init } }\n"
    prop += "state odd non-accepting import transitions from state init"
    said = debug(build(STACK), prop, "run", "print n", "stepi", "continue", "continue")
    assert events(said) == [f"push{{'n': {n}}}" for n in range(8)]


def test_feature_41_one_function_in_several_places_and_conditions_of_the_developer():
    program = build(
        """
        void show(int n) { }
        void show(double x) { }
        int main() { show(1); show(2.5); show(3); return 0; }
        """,
        language="c++",
    )
    prop = "state init { transition { event show(arg 1 as what) success init } }"
    said = debug(program, prop, "break show(int) if n == 3", "run", "continue")
    assert events(said) == [f"show{{'what': {value}}}" for value in (1, 2.5, 3)]
    assert said.count("Breakpoint 1, show (n=3)") == 1


def test_feature_42_watchpoints_are_in_hardware_while_there_are_some():
    kinds = "python print('kinds', {t.type == gdb.BP_HARDWARE_WATCHPOINT for t in Trap.alive() if t.expression})"
    said = debug(
        build(STACK),
        "state init { transition { after event write depth(depth) success init } }",
        "break pop",
        "run",
        "python from mopsus.interactive.gdb.trap import Trap",
        kinds,
    )
    assert "kinds {True}" in said
    assert events(said) == ["write_depth_after{'depth': 1}"]


def test_feature_43_monitoring_goes_on_while_the_developer_steps():
    said = debug(build(STACK), EVERY_PUSH, "break main", "run", *["step"] * 4, *["next"] * 4)
    assert events(said)[:2] == ["push{'n': 0}", "push{'n': 1}"]


def test_feature_44_programs_with_threads():
    program = build(
        """
        #include <pthread.h>
        void tell(long who) { }
        void *work(void *who) { for (int i = 0; i < 5; i++) tell((long) who); return 0; }
        int main(void) {
            pthread_t threads[4];
            for (long i = 0; i < 4; i++) pthread_create(&threads[i], 0, work, (void *) i);
            for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
            return 0;
        }
        """,
        "-g",
        "-pthread",
    )
    said = debug(program, "slice on who\nstate init { transition { event tell(who) success init } }")
    assert sorted(events(said)) == sorted(f"tell{{'who': {who}}}" for who in range(4) for _ in range(5))
