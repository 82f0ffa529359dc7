"""A trap tells once of each time that the program comes to it, whatever comes in between."""

from __future__ import annotations

import pytest
from interactive.gdb.programs import build, events
from interactive.gdb.programs import debug as debug_with
from interactive.gdb.sessions import at_prompt, debug

pytestmark = pytest.mark.gdb

RINGS = """
    #include <signal.h>
    #include <stdio.h>
    #include <sys/time.h>
    volatile int steps, rings;
    int never(int x) { return x; }
    int step(int x) { __atomic_add_fetch(&steps, 1, __ATOMIC_RELAXED); return x; }
    void ring(int number) { rings++; step(number); }
    int main(void) {
        struct itimerval often = {{0, 5000}, {0, 5000}}, off = {{0, 0}, {0, 0}};
        signal(SIGALRM, ring);
        setitimer(ITIMER_REAL, &often, 0);
        while (rings < 30) step(1);
        setitimer(ITIMER_REAL, &off, 0);
        printf("%d\\n", steps);
    }
"""
STEPS = """
    Steps(x) {
        event step %s : call(step) && value(x = arg 1)
        event never before(x) : call(never) && value(x = arg 1)
        fsm : even [ step -> odd ] odd [ step -> even ]
        @fail { }
    }
"""


@pytest.mark.parametrize("when", ["before(x)", "after(x)"])
def test_a_signal_that_comes_at_a_trap_does_not_make_it_two_events(when):
    report = debug(build(RINGS), STEPS % when, "--no-hooks")
    assert report["stats"]["events"] == int(report["output"])


def test_a_function_that_a_library_has_too_is_seen_in_each_run():
    """The C library has a `step` of its own, which is not meant."""
    program = build("void step(int x) {} int main(void) { for (int i = 0; i < 3; i++) step(i); return 0; }")
    said = debug_with(program, "state init { transition { event step(x) success init } }", "run", "run", "run")
    assert events(said) == [f"step{{'x': {x}}}" for x in range(3)] * 3


def test_a_program_that_can_load_no_library_is_seen_by_traps_and_told_why():
    """It has neither a C library nor a `main`."""
    program = build(
        """
        int never(int x) { return x; }
        int step(int x) { return x; }
        void _start(void) {
            for (int i = 0; i < 9; i++) step(1);
            __asm__ volatile("syscall" : : "a"(60), "D"(7));
        }
        """,
        *("-g", "-O0", "-static", "-nostdlib"),
    )
    said = at_prompt(program, STEPS % "before(x)", "break 6", "run", "verde hooks", "delete", "continue")
    assert "Steps: the program stops for each event: no library can be loaded into the program" in said
    assert "exited with code 07" in said
    assert debug(program, STEPS % "before(x)")["stats"]["events"] == 9


def test_a_program_that_becomes_another_has_no_trap_of_the_first():
    """Where calls of the one were to return to, the other has something else."""
    program = build(
        """
        #include <unistd.h>
        volatile int sink;
        __attribute__((noinline)) int step(int x) { sink++; return x + 1; }
        int never(int x) { return x; }
        int main(void) {
            for (int k = 0; k < 20; k++) step(k % 3);
            return execl("/bin/echo", "echo", "bye", (char *) 0);
        }
        """,
        *("-g", "-O1"),
    )
    report = debug(program, STEPS % "after(x)", "--no-hooks")
    assert (report["output"], report["program"]["status"], report["stats"]["events"]) == ("bye\n", 0, 20)
