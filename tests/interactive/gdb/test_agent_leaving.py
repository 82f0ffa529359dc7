"""A program with hooks that is let go, killed, copied, replaced or dies is left in a defined state: no hook stays
behind in a process that lives on."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from ending import end_all
from interactive.gdb.programs import START, build
from interactive.gdb.sessions import at_prompt, debug

pytestmark = pytest.mark.gdb

LOOP = """
    #include <pthread.h>
    #include <signal.h>
    #include <stdio.h>
    #include <unistd.h>
    volatile sig_atomic_t over;
    void end(int number) { over = number; }
    int step(int x) { return x; }
    int last(int x) { return x; }
    void *run(void *given) {
        for (long i = 0; !over; i++) {
            step((int) (i % 4));
            if (i % 1000 == 999) last(1);
            if (i % 100 == 99) usleep(100);
        }
        return given;
    }
    int main(int count, char **words) {
        pthread_t threads[3];
        signal(SIGTERM, end);
        puts("ready");
        fflush(stdout);
        for (int k = 1; k < count; k++) pthread_create(&threads[k - 1], 0, run, 0);
        run(0);
        for (int k = 1; k < count; k++) pthread_join(threads[k - 1], 0);
        return 5;
    }
"""
LAST = """
    Last(x) {
        event step before(x) : call(step) && value(x = arg 1)
        event last before(x) : call(last) && value(x = arg 1)
        fsm : begun [ step -> begun last -> odd ] odd [ step -> odd last -> even ] even [ step -> even last -> odd ]
        @odd { }
        @even { }
    }
"""
NEVER = """
    Never(x) {
        event step before(x) : call(step) && value(x = arg 1)
        event last before(x) : call(last) && value(x = arg 1)
        event end before(x) : call(end) && value(x = arg 1)
        fsm : begun [ step -> begun last -> begun ]
        @fail { }
    }
"""


JUMP, TRAP = 0xE9, 0xCC


@contextmanager
def running(*words: str) -> Iterator[subprocess.Popen[str]]:
    """A program that runs already, with a thread more for each word; it must end well."""
    program = subprocess.Popen(
        [build(LOOP, "-g", "-O0", "-pthread"), *words], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
        yield program
        program.terminate()
        assert program.wait(120) == 5
    finally:
        end_all(program)


def changed_code(process: int) -> bytes:
    """What is in the code of a process where its file has something else."""
    program = os.readlink(f"/proc/{process}/exe")
    data = Path(program).read_bytes()
    found = b""
    with open(f"/proc/{process}/maps") as maps, open(f"/proc/{process}/mem", "rb", buffering=0) as memory:
        for line in maps:
            addresses, protection, offset, _, _, *name = line.split()
            if name == [program] and "x" in protection:
                start, end = (int(text, 16) for text in addresses.split("-"))
                memory.seek(start)
                there = memory.read(end - start)
                first = int(offset, 16)
                found += bytes(here for here, was in zip(there, data[first:], strict=False) if here != was)
    return found


def wait_until(condition: Callable[[], bool]) -> None:
    """Looks again and again: what is waited for tells nobody."""
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("threads", [(), ("one", "two")], ids=["a thread", "three threads"])
@pytest.mark.parametrize("ending", [("detach",), ("continue", "delete", "detach"), (), ("quit",)], ids=" ".join)
def test_a_program_that_was_attached_to_is_hooked_and_left_as_it_was(ending, threads):
    with running(*threads) as program:
        said = at_prompt(
            None,
            LAST,
            "continue",
            "verde hooks",
            "python print('code:', bytes(gdb.selected_inferior().read_memory(gdb.parse_and_eval('(long) &step'), 1)))",
            *ending,
            first=(f"attach {program.pid}",),
        )
        assert said.count("Stopped: Last") == 1 + ending.count("continue")
        assert "step: stepped inside of the program" in said
        assert "last: stepped inside of the program" in said
        assert "code: b'\\xe9'" not in said, "who looks at the code sees no hook"
        assert not changed_code(program.pid)


def gdb_on(program: subprocess.Popen[str], folder: str) -> subprocess.Popen[bytes]:
    """A GDB that watches a running program, which never stops for it. It heeds signals that we are told to ignore."""
    spec = Path(folder) / "spec.mop"
    spec.write_text(NEVER)
    commands = [
        f"source {START}", f"attach {program.pid}", f"verde load-property {spec}", "verde exec set_quiet", "continue",
    ]  # fmt: skip
    words = [word for command in commands for word in ("-ex", command)]
    null = subprocess.DEVNULL
    command = ["env", "--default-signal", "gdb", "-q", "-nx", "-batch", *words]
    return subprocess.Popen(command, stdin=null, stdout=null, stderr=null)


@pytest.mark.parametrize("threads", [(), ("one", "two")], ids=["a thread", "three threads"])
@pytest.mark.parametrize("deadly", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_a_debugger_that_is_killed_leaves_no_hook_for_long(deadly, threads):
    with running(*threads) as program, tempfile.TemporaryDirectory() as folder:
        debugger = gdb_on(program, folder)
        wait_until(lambda: changed_code(program.pid).count(JUMP) >= 3 and TRAP not in changed_code(program.pid))
        debugger.send_signal(deadly)
        debugger.wait(120)
        program.send_signal(signal.SIGCONT)  # for threads that GDB was about to stop, and that nobody lets go on then
        wait_until(lambda: not changed_code(program.pid))


@pytest.mark.parametrize("options", [(), ("--no-hooks",)], ids=["hooks", "traps"])
def test_nothing_is_left_of_a_session_whose_starter_is_killed(options, tmp_path):
    spec = tmp_path / "spec.mop"
    spec.write_text(NEVER)
    program = str(build(LOOP, "-g", "-O0", "-pthread"))
    words = [sys.executable, "-m", "mopsus", "debug", "--batch", *options, "--prop", f"{spec},quiet", program]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, start_new_session=True) as session:
        try:
            assert session.stdout is not None
            assert session.stdout.readline() == "ready\n"
            session.kill()
            session.communicate(timeout=120)  # GDB and the program have its output open, too
        finally:
            end_all(session)


def test_a_program_that_is_killed_is_gone():
    said = at_prompt(build(LOOP, "-g", "-O0", "-pthread"), LAST, "run", "verde hooks", "kill", "info inferiors")
    assert "step: stepped inside of the program" in said
    assert "<null>" in said


CRASH = """
    #include <stdlib.h>
    int never(int x) { return x; }
    int inner(int *where) { return *where; }
    int outer(int x) { return inner(x < 50 ? &x : 0) + 1; }
    int main(void) { int sum = 0; for (int i = 0; ; i++) sum += outer(i); return sum; }
"""
OUTER = """
    Outer(x) {
        event outer after(x; got) : call(outer) && value(x = arg 1, got = ret)
        event inner before(x) : call(inner) && value(x = arg 1)
        event never before(x) : call(never) && value(x = arg 1)
        fsm : begun [ outer -> begun inner -> begun ]
        @fail { }
    }
"""


def test_the_stack_of_a_crash_is_that_of_the_program():
    program = build(CRASH)
    said = at_prompt(program, OUTER, "run", "verde hooks", "backtrace")
    assert "after outer: stepped inside of the program" in said
    frames = [re.sub(r"^#\d+ +(0x\w+ in )?", "", line) for line in said.splitlines() if line.startswith("#")]
    assert [frame.split()[0] for frame in frames[-3:]] == ["inner", "outer", "main"]


FAMILY = """
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/wait.h>
    #include <unistd.h>
    int never(int x) { return x; }
    int step(int x) { return x + 1; }
    int done(int x) { return x + 2; }
    static int is_hooked(void) { return *(unsigned char *) &step == 0xe9 || *(unsigned char *) &done == 0xe9; }
    static void work(void) { for (int i = 0; i < 20; i++) done(step(i % 3)); }
    static int status_of(int child) { int status; waitpid(child, &status, 0); return WEXITSTATUS(status); }
    int main(int count, char **words) {
        if (count > 2) { work(); printf("again %d\\n", getpid() > 0); return 4; }
        work();
        if (!strcmp(words[1], "fork")) {
            int child = fork();
            if (!child) {
                work();
                int grandchild = fork();
                if (!grandchild) { work(); _exit(is_hooked() ? 1 : 7); }
                _exit(is_hooked() ? 1 : status_of(grandchild));
            }
            work();
            printf("%d\\n", status_of(child));
        } else if (!strcmp(words[1], "vfork")) {
            int child = vfork();
            if (!child) { never(0); execl("/bin/sh", "sh", "-c", "exit 9", (char *) 0); _exit(1); }
            printf("%d\\n", status_of(child));
        } else if (!strcmp(words[1], "system")) {
            printf("%d\\n", WEXITSTATUS(system("exit 8")));
        } else if (!strcmp(words[1], "exec")) {
            fflush(stdout);
            execl(words[0], words[0], "exec", "again", (char *) 0);
        }
        work();
        return 3;
    }
"""
STEPS = """
    Steps(x) {
        event step before(x) : call(step) && value(x = arg 1)
        event done after(x; got) : call(done) && value(x = arg 1, got = ret)
        event never before(x) : call(never) && value(x = arg 1)
        fsm : even [ step -> odd done -> odd ] odd [ step -> even done -> even ]
        @fail { }
    }
"""


@pytest.mark.parametrize(
    ("way", "output", "events"),
    [("fork", "7\n", 120), ("vfork", "9\n", 80), ("system", "8\n", 80), ("exec", "again 1\n", 80)],
)
def test_copies_and_successors_of_a_program(way, output, events):
    report = debug(build(FAMILY), STEPS, arguments=(way,))
    assert (report["output"], report["stats"]["events"]) == (output, events)


def test_a_copy_that_is_followed_is_watched_anew():
    said = at_prompt(build(FAMILY), STEPS, "run fork > /dev/null", first=("set follow-fork-mode child",))
    assert "exited with code 07" in said
    assert "rror" not in said


SIGNALS = """
    #include <setjmp.h>
    #include <signal.h>
    #include <stdio.h>
    #include <sys/time.h>
    int steps, jumps, jump;
    volatile int done;
    sigjmp_buf place;
    int step(int x) { __atomic_add_fetch(&steps, 1, __ATOMIC_RELAXED); return x; }
    int last(int x) { return x; }
    int never(int x) { return x; }
    void ring(int number) { step(number % 3); if (jump && ++jumps % 2) siglongjmp(place, 1); }
    int main(int count, char **words) {
        struct itimerval often = {{0, 5000}, {0, 5000}}, never = {{0, 0}, {0, 0}};
        jump = count > 1;
        signal(SIGALRM, ring);
        setitimer(ITIMER_REAL, &often, 0);
        sigsetjmp(place, 1);
        for (; done < 5000000; done++) step(done % 3);
        setitimer(ITIMER_REAL, &never, 0);
        last(1);
        printf("%d\\n", steps + 1);
    }
"""
EVERY = """
    Every(x) {
        event step before(x) : call(step) && value(x = arg 1)
        event last before(x) : call(last) && value(x = arg 1)
        event never before(x) : call(never) && value(x = arg 1)
        fsm : even [ step -> odd last -> over ] odd [ step -> even last -> over ] over [ step -> over last -> over ]
        @fail { }
    }
"""


def test_events_in_signal_handlers_are_all_stepped():
    report = debug(build(SIGNALS), EVERY)
    assert report["stats"]["events"] == int(report["output"])


def test_a_signal_handler_that_jumps_out_of_the_agent_stops_nobody():
    report = debug(build(SIGNALS), EVERY.replace("fail", "over"), arguments=("jump",))
    assert [verdict["category"] for verdict in report["verdicts"]] == ["over"]


COUNTED = """
    initialization { n = 0 }
    state init accepting {
        transition { event work(who) success { n += 1 } }
        transition { event done(arg 1 as total) { return total == n } success right failure wrong }
    }
    state right accepting { transition { event done(arg 1 as total) success again } }
    state again non-accepting
    state wrong non-accepting
"""
TOGETHER = """
    #include <pthread.h>
    volatile int sink;
    __attribute__((noinline)) int work(int who) { sink++; return who; }
    __attribute__((noinline)) long done(long total) { return total + sink; }
    void *run(void *given) { for (int k = 0; k < 100000; k++) work(1); return given; }
    int main(void) {
        pthread_t threads[6];
        for (int k = 0; k < 6; k++) pthread_create(&threads[k], 0, run, 0);
        for (int k = 0; k < 6; k++) pthread_join(threads[k], 0);
        done(600000);
        done(600000);
        return 3;
    }
"""


RINGING = """
    #include <signal.h>
    #include <sys/time.h>
    volatile long total;
    __attribute__((noinline)) int work(int who) { __atomic_add_fetch(&total, 1, __ATOMIC_SEQ_CST); return who; }
    __attribute__((noinline)) long done(long all) { return all + total; }
    void ring(int number) { work(99); }
    int main(void) {
        struct itimerval often = {{0, 3000}, {0, 3000}}, never = {{0, 0}, {0, 0}};
        signal(SIGALRM, ring);
        setitimer(ITIMER_REAL, &often, 0);
        for (int k = 0; k < 3000000; k++) work(1);
        setitimer(ITIMER_REAL, &never, 0);
        done(total);
        done(total);
        return 3;
    }
"""


@pytest.mark.parametrize("program", [TOGETHER, RINGING], ids=["threads", "signals"])
@pytest.mark.parametrize("event", ["event", "after event"])
def test_no_call_is_lost_or_counted_twice(program, event):
    """Threads that hold the agent up lose the processor, and signals come in the midst of it."""
    spec = COUNTED.replace("event work", f"{event} work")
    report = debug(build(program, "-g", "-O1", "-pthread"), spec)
    assert [verdict["category"] for verdict in report["verdicts"]] == ["again"]
