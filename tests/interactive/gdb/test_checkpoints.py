"""The program itself, saved and brought back: by fork, in place, by CRIU. Monitors have no part in this."""

from __future__ import annotations

import re
import subprocess

import pytest
from interactive.gdb.programs import HERE, SOURCES, build, run_gdb

from mopsus.interactive.gdb.launch import START

pytestmark = pytest.mark.gdb

COUNTING = """
    #include <stdio.h>
    #include <stdlib.h>
    int total;
    char *log_text;
    void tick(int i) { total += i; }
    int main(int argc, char **argv) {
        FILE *in = fopen(argv[1], "r"), *out = fopen(argv[2], "w");
        setvbuf(in, 0, _IONBF, 0), setvbuf(out, 0, _IONBF, 0);
        for (int i = 0; i < 6; i++) {
            char line[20];
            tick(i);
            fgets(line, sizeof line, in);
            log_text = realloc(log_text, 1 + 100000 * i);
            fprintf(out, "%d %d %s", i, total, line);
            printf("said %d\\n", i), fflush(stdout);
        }
        return total;
    }
"""
THREADS = """
    #include <pthread.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <unistd.h>
    #define WORKERS 3
    volatile long sums[WORKERS];
    volatile int round_number;
    pthread_barrier_t begin, done;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct item { struct item *next; char text[1000]; } *grown[WORKERS];
    __attribute__((noinline)) void finished(int number, long sum) { __asm__ volatile(""); }
    void *work(void *which) {
        long me = (long) which;
        double weight = 0.5 * me;
        for (;;) {
            pthread_barrier_wait(&begin);
            for (int i = 0; i < 20000; i++) weight += 0.25 * i, sums[me] = (long) weight;
            for (int i = 0; i < 300; i++) {
                struct item *item = calloc(1, sizeof *item);
                weight += item->text[i]++;
                item->next = grown[me], grown[me] = item;
            }
            pthread_barrier_wait(&done);
        }
        return 0;
    }
    int main(void) {
        pthread_t workers[WORKERS];
        pthread_barrier_init(&begin, 0, WORKERS + 1), pthread_barrier_init(&done, 0, WORKERS + 1);
        for (long i = 0; i < WORKERS; i++) pthread_create(&workers[i], 0, work, (void *) i);
        for (round_number = 0; round_number < 5; round_number++) {
            pthread_barrier_wait(&begin), pthread_barrier_wait(&done);
            finished(round_number, sums[0] + sums[1] + sums[2]);
        }
        usleep(100000);  // GDB 13 loses a program whose threads end in the very moment in which it lets them go on
        _exit(7);
    }
"""
SHOWN = re.compile(r"(?:said|shown|ended|refused|kind|exited with)\b.*")


def run(program, *commands):
    """What the program and the commands said, in order."""
    said = run_gdb(
        program,
        ["set confirm off", f"python saving_root = {str(SOURCES)!r}", f"source {HERE / 'saving.py'}", *commands],
    )
    return [found.rstrip("]") for found in SHOWN.findall(said)]


@pytest.fixture
def counting(tmp_path):
    """The counting program, reading and writing files, stopped as i becomes 2."""
    source, target = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_text("".join(f"line {i}\n" for i in range(9)))
    begin = (f"set args {source} {target}", "break tick", "run", "continue", "continue")
    return build(COUNTING), begin, target


SHOW = r'printf "shown %d %d\n", i, total'


def test_a_copy_goes_back_again_and_again_with_its_files(counting):
    program, begin, target = counting
    said = run(
        program, *begin, "save a", "kind a", "continue", "continue", SHOW, "back a", SHOW, "continue", "back a", SHOW,
        "delete", "continue",
    )  # fmt: skip
    assert said == [
        *("said 0", "said 1", "kind: Copy", "said 2", "said 3", "shown 4 6"),
        *("shown 2 1", "said 2", "shown 2 1", *(f"said {i}" for i in range(2, 6)), "exited with code 017"),
    ]
    assert target.read_text() == "".join(f"{i} {sum(range(i + 1))} line {i}\n" for i in range(6))


def test_several_copies_each_bring_their_own_time_back_and_leave_no_process(counting):
    program, begin, target = counting
    count = f"shell pgrep -fc '^{program} .*{target}' | sed 's/^/shown /'"
    said = run(
        program, *begin, "save a", "continue", "save b", "continue", SHOW, "back a", SHOW, "back b", SHOW,
        "back b", "drop a", SHOW, count,
    )  # fmt: skip
    assert said[-5:] == ["shown 4 6", "shown 2 1", "shown 3 3", "shown 3 3", "shown 2"]  # the program and b


def test_a_ctrl_c_that_reached_a_copy_too_does_not_hurt_it(counting):
    program, begin, _ = counting
    copies = "python for pid in re.findall('^  .*process ([0-9]+)', gdb.execute('info checkpoints', False, True), re.M)"
    said = run(
        program, *begin, "save a", "continue", "python import os, re, signal",
        f"{copies}: os.kill(int(pid), signal.SIGINT)", "back a", SHOW, "delete", "info signals SIGINT", "continue",
    )  # fmt: skip
    assert said == [
        *("said 0", "said 1", "said 2", "shown 2 1", *(f"said {i}" for i in range(2, 6)), "exited with code 017")
    ]


def test_a_program_that_has_ended_comes_back(counting):
    program, begin, _ = counting
    said = run(
        program, *begin, "save a", "save b", "delete", "continue", "ended", "back a", "ended", SHOW, "continue",
        "back b", SHOW, "kill",
    )  # fmt: skip
    told = [line for line in said if not line.startswith("said")]
    assert told == [
        *("exited with code 017", "ended: True", "ended: False", "shown 2 1"),
        *("exited with code 017", "shown 2 1"),
    ]


def test_points_of_the_developer_stay_and_no_trap_is_in_a_copy(counting):
    program, begin, _ = counting
    said = run(
        program, *begin, "watch total", "save a", "continue", "tbreak fgets", "back a", SHOW, "continue",
        r'printf "shown watched %d\n", total', "info breakpoints",
    )  # fmt: skip
    assert said[-2:] == ["shown 2 1", "shown watched 3"]


def test_a_copy_cannot_be_left_for_once_threads_run():
    program = build(THREADS, "-g", "-O0", "-pthread")
    said = run(
        program, "break main", "run", "save a", "kind a", "break finished", "continue", "back a", "drop a", "kill"
    )
    assert said[0] == "kind: Copy"
    assert said[1].startswith("refused: the program has started threads since the checkpoint")


def test_threads_that_were_there_before_monitors_were_count():
    """As at the prompt of a GDB that reads the commands for monitors when the program is under way."""
    program = build(THREADS, "-g", "-O0", "-pthread")
    lines = ["set confirm off", "break finished", "run", f"source {START}", "verde checkpoint", "verde checkpoints"]
    said = run_gdb(program, [*lines, "kill"])
    assert "multiple threads" not in said
    assert "program.c:12 in finished (0 events)" in said


ROUND = r'printf "shown %d %ld\n", number, sum'


def test_a_program_with_threads_goes_back_in_place():
    """Memory, allocated later or not, vector registers and sleeping system calls: every round gives the same sums."""
    program = build(THREADS, "-g", "-O2", "-pthread")
    rounds = ["continue", ROUND]
    said = run(
        program, "break finished", "run", "continue", ROUND, "save a", "kind a", *rounds * 3, "back a", ROUND,
        *rounds * 2, "back a", ROUND, *rounds * 3, "delete", "continue",
    )  # fmt: skip
    first, kind, *later, end = said
    assert kind == "kind: Snapshot"
    assert end == "exited with code 07"
    plain = [first, *later[:3]]
    assert len(set(plain)) == 4
    assert later[3:] == [*plain[:3], *plain]


def test_a_point_where_the_program_went_back_to_is_not_hit_again():
    program = build(THREADS, "-g", "-O0", "-pthread")
    said = run(
        program, "break finished", "run", "save a", ROUND, "back a", ROUND, "continue", ROUND, "continue", "back a",
        "continue", ROUND, "kill",
    )  # fmt: skip
    assert [line.split()[1] for line in said] == ["0", "0", "1", "1"]


CHANGING = """
    #include <pthread.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <sys/mman.h>
    #include <unistd.h>
    void moment(int i) { }
    pthread_barrier_t ready;
    void *sleeping(void *waits) { if (waits) pthread_barrier_wait(&ready); for (;;) pause(); }
    int main(int argc, char **argv) {
        pthread_t one;
        int change = atoi(argv[1]);
        pthread_barrier_init(&ready, 0, 2);
        pthread_create(&one, 0, sleeping, &ready), pthread_barrier_wait(&ready);
        char *area = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        FILE *file = fopen("/proc/self/status", "r");
        moment(1);
        if (change == 0) munmap(area, 4096);
        if (change == 1) mprotect(area, 4096, PROT_READ);
        if (change == 2) pthread_create(&one, 0, sleeping, 0);
        if (change == 3) pthread_cancel(one), pthread_join(one, 0);
        if (change == 4) fclose(file);
        if (change == 5) mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        moment(2);
        _exit(0);
    }
"""


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (0, "memory of the checkpoint was unmapped or protected since"),
        (1, "memory of the checkpoint was unmapped or protected since"),
        (2, "1 thread began since the checkpoint"),
        (3, "1 thread of the checkpoint ended since"),
        (4, "status (descriptor"),
        (5, None),
    ],
)
def test_what_cannot_be_brought_back_in_place_is_refused_with_the_reason(change, reason):
    program = build(CHANGING, "-g", "-O0", "-pthread")
    said = run(
        program, f"set args {change}", "break moment", "run", "save a", "continue", "back a", r'printf "shown %d\n", i',
        "kill",
    )  # fmt: skip
    if reason is None:
        assert said == ["shown 1"]
    else:
        refusal, shown = said
        assert refusal.startswith("refused: ")
        assert reason in refusal
        assert shown == "shown 2"


def test_criu_is_used_where_its_own_check_passes_and_refused_with_its_reason_elsewhere():
    program = build(THREADS, "-g", "-O0", "-pthread")
    said = run(
        program, "set mopsus-checkpoints criu", "break finished", "run", "save a", "continue", ROUND, "back a", ROUND,
        "kill",
    )  # fmt: skip
    if subprocess.run("criu check", shell=True, capture_output=True).returncode == 0:
        assert [line.split()[1] for line in said] == ["1", "0"]
    else:
        assert said[0].startswith("refused: CRIU cannot be used here: ")
        assert re.search("criu check` fails: .|not installed", said[0])


def test_a_program_that_criu_has_written_goes_on_as_if_nothing_had_happened(tmp_path):
    """GDB lets go of it and takes it up again, whatever CRIU does meanwhile: here, nothing."""
    criu = tmp_path / "criu"
    criu.write_text(f"#!/bin/sh\necho $1 >> {tmp_path}/calls\n")
    criu.chmod(0o755)
    said = run(
        build(THREADS, "-g", "-O0", "-pthread"), f"python import os; os.environ['PATH'] = '{tmp_path}:/usr/bin:/bin'",
        "set mopsus-checkpoints criu", "break finished", "run", "save a", "kind a", ROUND, "continue", ROUND, "delete",
        "continue",
    )  # fmt: skip
    assert [line.split()[:2] for line in said] == [
        ["kind:", "Image"],
        ["shown", "0"],
        ["shown", "1"],
        ["exited", "with"],
    ]
    assert (tmp_path / "calls").read_text().split() == ["check", "dump"]


def test_a_program_whose_other_threads_have_ended_comes_back(tmp_path):
    """GDB's own copies of such a program cannot be gone on with: it would wait for ever."""
    program = build(
        r"""
        #include <pthread.h>
        int total;
        void step(int i) { total += i; }
        void *work(void *nothing) { step(10); return 0; }
        int main(void) {
            pthread_t worker;
            pthread_create(&worker, 0, work, 0), pthread_join(worker, 0);
            for (int i = 1; i < 4; i++) step(i);
            return total;
        }
        """,
        "-g",
        "-pthread",
    )
    said = run(program, "break step if i == 2", "run", "save a", "kind a", "next", "back a", "continue", "back a")
    assert said[:2] == ["kind: Snapshot", "exited with code 020"]
    assert said[-1] == "refused: the run that the checkpoint was taken in is over; run it to a new checkpoint"
