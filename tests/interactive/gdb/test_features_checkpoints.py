"""The features of checkpoints, by their numbers in the catalogue: 53 to 58. The program and its monitors go back
together, and come to the same verdict again."""

from __future__ import annotations

import re

import pytest
from interactive.gdb.programs import build, debug, events

pytestmark = pytest.mark.gdb

QUEUE = """
    #include <stdio.h>
    int size;
    void queue_push(int value) { size++; }
    void queue_pop(void) { size--; }
    int deep(int n) { if (n) return deep(n - 1) + 1; queue_push(7); return 0; }
    int main(void) {
        for (int i = 0; i < 3; i++) queue_push(i);
        for (int i = 0; i < 4; i++) queue_pop();
        deep(2);
        return 5;
    }
"""
NEVER_EMPTY = """
    initialization { stored = 0 }
    state init accepting {
        transition { event queue_push(value) success { stored += 1 } init }
        transition { event queue_pop() { return stored > 0 } success { stored -= 1 } init failure empty }
    }
    state empty non-accepting
"""
THREADS = """
    #include <pthread.h>
    #include <unistd.h>
    int size, open_ = 0;
    pthread_barrier_t ready;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
    void queue_push(int value) { size++; }
    void queue_pop(void) { size--; }
    void *consume(void *unused) {
        pthread_barrier_wait(&ready);
        for (;;) {
            pthread_mutex_lock(&lock);
            while (!open_) pthread_cond_wait(&opened, &lock);
            queue_pop();
            pthread_mutex_unlock(&lock);
            usleep(1000);
        }
    }
    int main(void) {
        pthread_t thread;
        pthread_barrier_init(&ready, 0, 3);
        for (int i = 0; i < 2; i++) pthread_create(&thread, 0, consume, 0);
        pthread_barrier_wait(&ready);
        for (int i = 0;; i++) {
            pthread_mutex_lock(&lock);
            queue_push(i);
            if (i == 2) open_ = 1, pthread_cond_broadcast(&opened);
            pthread_mutex_unlock(&lock);
            usleep(1000);
        }
    }
"""
REWINDING = """
    initialization { kept = None; tries = 0 }
    on entering state init {
        if old_state is not None and kept is None:
            kept = checkpoint()
    }
    on entering state empty {
        tries += 1
        print("* violated", tries, get("size"))
        if tries < 3:
            restore_checkpoint(kept)
        else:
            suspend_execution()
    }
"""


def told(said: str, *starts: str) -> list[str]:
    return [line.strip() for line in said.splitlines() if line.strip().startswith(starts)]


def test_feature_53_the_program_and_its_monitor_go_back_together_and_come_to_the_same_verdict():
    said = debug(
        build(QUEUE), NEVER_EMPTY, "break queue_pop", "run", "verde checkpoint", "delete", "continue", "print size",
        "verde exec get_env_value None stored", "verde checkpoint-restart 0", "print size",
        "verde exec get_env_value None stored", "continue", "print size",
    )  # fmt: skip
    assert re.findall(r"\$\d+ = (\d+)", said) == ["0", "3", "0"]
    assert re.findall(r"(?m)^\d$", said) == ["0", "3"]
    first, again = re.findall(r"(?m)^Stopped: .*", said)
    assert first == again
    assert "Back at checkpoint 0" in said
    happened = [event.split("{")[0] for event in events(said)]
    assert happened == ["queue_push"] * 3 + ["queue_pop"] * 4 + ["queue_pop"] * 4


def test_feature_54_developers_and_scenarios_take_and_restore_them_by_the_least_free_number():
    said = debug(
        build(QUEUE), NEVER_EMPTY, "break queue_push", "run", "verde checkpoint", "continue", "verde checkpoint",
        "verde checkpoint-restart 0", "print value", "verde checkpoint-restart 1", "print value",
        "verde checkpoint", "verde checkpoint-restart 7",
    )  # fmt: skip
    assert re.findall(r"^Checkpoint (\d)", said, re.MULTILINE) == ["0", "1", "2"]
    assert re.findall(r"\$\d+ = (\d+)", said) == ["0", "1"]
    assert "there is no checkpoint 7" in said


def test_feature_55_a_scenario_rewinds_a_program_with_one_thread_by_fork():
    said = debug(build(QUEUE), NEVER_EMPTY, "run", "info checkpoints", "kill", scenario=REWINDING)
    assert told(said, "*")[:3] == ["* violated 1 0", "* violated 2 0", "* violated 3 0"]
    assert len(re.findall(r"(?m)^[* ] \d .*(?:process|LWP) \d+", said)) == 2  # the program and the copy


def test_feature_56_criu_says_why_it_cannot_be_used_and_other_kinds_still_can():
    said = debug(
        build(QUEUE), NEVER_EMPTY, "break queue_pop", "run", "set mopsus-checkpoints criu", "verde checkpoint",
        "set mopsus-checkpoints auto", "verde checkpoint", "show mopsus-checkpoints",
    )  # fmt: skip
    usable = "CRIU cannot be used here" not in said
    assert re.findall(r"^Checkpoint (\d)", said, re.MULTILINE) == (["0", "1"] if usable else ["0"])
    assert usable or re.search("`criu check` fails: |criu is not installed", said)
    assert "Checkpoints save the program by: auto." in said


def test_feature_56_a_scenario_rewinds_a_program_with_threads_in_place():
    said = debug(build(THREADS, "-g", "-O0", "-pthread"), NEVER_EMPTY, "run", "kill", scenario=REWINDING)
    assert told(said, "*") == [f"* violated {count} 0" for count in (1, 2, 3)]


def test_feature_57_points_of_the_developer_stay_and_those_of_monitors_follow_their_states():
    said = debug(
        build(QUEUE), NEVER_EMPTY, "break queue_pop", "run", "verde checkpoint", "delete", "break main", "continue",
        "maintenance info breakpoints", "verde checkpoint-restart 0", "info breakpoints",
        "maintenance info breakpoints",
    )  # fmt: skip
    stopped, _, back = said.partition("Back at checkpoint")
    on = r"(?m)^-\d+ +breakpoint +keep y .*\b(queue_push|queue_pop)\b"
    assert re.findall(on, stopped) == []  # nothing is needed in the state `empty`
    assert sorted(set(re.findall(on, back))) == ["queue_pop", "queue_push"]
    assert re.search(r"(?m)^2 +breakpoint +keep y .* main", back)


def test_feature_58_no_trap_is_saved():
    """The code of a copy, looked at from outside, is that of the program's file."""
    said = debug(
        build(QUEUE), NEVER_EMPTY, "break queue_pop", "run",
        "verde checkpoint",
        "python code = open(gdb.current_progspace().filename, 'rb').read()",
        "python copy = max(int(line.split('process ')[1].split()[0]) for line in"
        " gdb.execute('info checkpoints', to_string=True).splitlines() if 'process ' in line)",
        "python memory = open(f'/proc/{copy}/mem', 'rb', buffering=0)",
        "python start = memory.seek(int(gdb.parse_and_eval('(long) &queue_pop')))",
        "python print('* whole:', memory.read(16) in code)",
    )  # fmt: skip
    assert told(said, "*") == ["* whole: True"]


def test_calls_that_are_open_at_a_checkpoint_return_after_going_back():
    returning = """
        state init accepting {
            transition { after event deep(n) success { print("* returned", n) } init }
        }
    """
    said = debug(
        build(QUEUE), returning, "break queue_push if value == 7", "run", "verde checkpoint", "continue",
        "verde checkpoint-restart 0", "continue",
    )  # fmt: skip
    assert told(said, "*") == [f"* returned {n}" for n in (0, 1, 2)] * 2


def test_a_program_that_has_ended_does_not_run_on_in_a_checkpoint():
    said = debug(
        build(QUEUE), NEVER_EMPTY, "break queue_pop", "run", "verde checkpoint", "delete", "continue", "continue",
        "continue", "verde checkpoint-restart 0", "print size", "kill",
    )  # fmt: skip
    assert "The program has ended. `verde checkpoint-restart N` goes back" in said
    assert re.findall(r"\$\d+ = (\d+)", said) == ["3"]


def test_a_program_with_threads_and_copies_can_be_killed():
    """GDB would wait for ever for its threads."""
    said = debug(
        build(THREADS, "-g", "-O0", "-pthread"), NEVER_EMPTY, "break main", "run", "verde checkpoint",
        "break queue_pop", "continue", "verde checkpoint-restart 0", "kill",
    )  # fmt: skip
    assert "the program has started threads since the checkpoint" in said
    assert "killed]" in said
