"""Checkpoints of a program that has hooks: taken and restored again and again, it goes on as it does with traps."""

from __future__ import annotations

import re

import pytest
from interactive.gdb.hooked.runs import Case, Watched, differences, run_cases
from interactive.gdb.hooked.specs import Property
from interactive.gdb.programs import build

pytestmark = pytest.mark.gdb

ROUNDS = """
    #include <pthread.h>
    #include <stdio.h>
    #include <unistd.h>
    int total;
    int step(int x) { total += x; return total; }
    int give(int x) { return x + total % 5; }
    void last(int x) { total += x; }
    void *wait(void *given) { for (;;) pause(); return given; }
    int main(int count, char **words) {
        pthread_t thread;
        if (count > 1) pthread_create(&thread, 0, wait, 0);
        for (int round = 0; round < 5; round++) {
            for (int i = 0; i < 60; i++) give(step(i % 3) % 2);
            last(round % 3);
            printf("%d\\n", total);
            fflush(stdout);
        }
    }
"""
ROUND = """
    Round(x) {
        event step before(x) : call(step) && value(x = arg 1)
        event give after(x; got) : call(give) && value(x = arg 1, got = ret)
        event last before(x) : call(last) && value(x = arg 1)
        fsm :
            even [ step -> odd give -> even last -> over ]
            odd [ step -> even give -> third last -> late ]
            third [ step -> third give -> odd last -> over ]
            over [ step -> even give -> odd last -> over ]
            late [ step -> odd give -> even last -> over ]
        @over { }
        @late { }
    }
"""
STATES = ("verde exec get_slice_bindings", "verde exec get_current_states", "print total")
COMMANDS = (
    ("verde checkpoint", *STATES, "continue"),
    ("verde checkpoint", *STATES, "continue"),
    ("verde checkpoint-restart 1", *STATES, "continue"),
    ("verde checkpoint-restart 0", *STATES, "continue"),
    ("verde checkpoint", *STATES, "verde checkpoint-restart 1", *STATES, "continue"),
    (
        "verde checkpoint-discard 1",
        "verde checkpoint-restart 0",
        *STATES,
        "verde checkpoint-restart 2",
        *STATES,
        "continue",
    ),
    (*STATES, "continue"),
)


KINDS = (("fork", ""), ("snapshot", ""), ("auto", "and a thread more"))
TOTALS = ["60", "120", "120", "60", "120", "120", "60", "120", "181", "243"]


def case_of(kind: str, arguments: str) -> Case:
    first, *rest = COMMANDS
    commands = ((f"set mopsus-checkpoints {kind}", *first), *rest)
    return Case(build(ROUNDS, "-g", "-O0", "-pthread"), arguments, (Watched(Property(ROUND, ".mop")),), commands)


def test_checkpoints_of_programs_with_hooks():
    cases = [case_of(*each) for each in KINDS]
    for hooked, trapped in zip(run_cases(cases, hooks=True), run_cases(cases, hooks=False), strict=True):
        assert differences(hooked, trapped) == ""
        assert not hooked.unhooked
        assert trapped.arrivals > 4 * hooked.arrivals
        assert re.findall(r"\$\d+ = (\d+)", str(hooked.seen["stops"])) == TOTALS
