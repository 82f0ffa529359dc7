"""Programs that make other processes of themselves, and which of them is watched."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from interactive.gdb.programs import build

from mopsus.interactive.debugger import DebuggerError
from mopsus.interactive.follow import Child, Follow
from mopsus.interactive.gdb import family, launch
from mopsus.interactive.setup import Setup, Watched
from mopsus.model import Severity

pytestmark = pytest.mark.gdb

FORKING = r"""
    #include <stdio.h>
    #include <stdlib.h>
    #include <sys/wait.h>
    #include <unistd.h>
    void work(int n) { }
    int main(void) {
        work(1);
        for (int child = 1; child <= 2; child++)
            if (!fork()) {
                work(10 * child);
                if (child == 2) work(1);
                _exit(child);
            }
        int status, sum = 0;
        while (wait(&status) > 0) sum += WIFEXITED(status) ? WEXITSTATUS(status) : 100;
        work(3);
        fflush(stdout), system("echo started");
        return sum;
    }
"""
ONCE = """
    slice on n
    state init accepting { transition { event work(n) success once } }
    state once accepting { transition { event work(n) success twice } }
    state twice non-accepting
"""


@pytest.fixture
def follow(tmp_path):
    prop = tmp_path / "once.prop"
    prop.write_text(ONCE)
    setup = Setup((Watched(str(prop), quiet=True),), batch=True)

    def run(program, how):
        return launch.run(replace(setup, program=(str(program),), follow=how))

    return run


def test_children_that_are_not_watched_are_said(follow, capfd):
    outcome = follow(build(FORKING), Follow.PARENT)
    assert (outcome.status, outcome.verdicts, outcome.stats["once"]["events"]) == (3, (), 2)
    assert [each.elsewhere for each in outcome.unseen] == ["2 child processes"]
    assert outcome.said == ["1 program that it started was not watched"]
    assert capfd.readouterr().out == "started\n"


def test_both_are_watched_and_a_child_knows_what_happened_before_it_was_there(follow, capfd):
    outcome = follow(build(FORKING), Follow.BOTH)
    assert outcome.status == 101  # the second child was stopped for good
    assert outcome.stats["once"]["events"] == 2 + 1 + 2
    (verdict,) = outcome.verdicts
    assert (verdict.category, verdict.binding) == ("twice", {"n": 1})
    assert [each.event for each in verdict.witness] == ["work", "work"]
    first, second = sorted(outcome.children, key=lambda each: each.process)
    assert verdict.remarks == (f"In child process {second.process}.",)
    assert first == Child(first.process, 1)
    assert (second.status, second.reason.partition(":")[0]) == (None, "once")
    assert not outcome.unseen
    assert capfd.readouterr().out == "started\n"


def test_a_daemon_is_followed(follow):
    program = build(r"""
        #include <stdlib.h>
        #include <unistd.h>
        void work(int n) { }
        int main(void) {
            work(1);
            if (daemon(1, 1)) return 2;
            system("true");
            work(2);
            return 5;
        }
    """)
    outcome = follow(program, Follow.CHILD)
    assert (outcome.status, outcome.stats["once"]["events"]) == (5, 2)
    assert [each.elsewhere for each in outcome.unseen] == ["1 parent process"]


@pytest.mark.parametrize(
    ("how", "script"),
    [
        (Follow.PARENT, "(echo $$; exec sleep 600); true"),
        (Follow.CHILD, "sleep 600 & echo $!; wait"),
        (Follow.BOTH, "sleep 600 & echo $!; wait"),
    ],
)
def test_a_signal_ends_all_of_a_family(tmp_path, how, script):
    """With a child that was followed it was not heeded, and what the program had started went on without it."""
    (tmp_path / "p.prop").write_text("state init { transition { event nanosleep() success init } }\n")
    words = ["debug", "--batch", "--allow-silent", "--follow-fork", how.value, "--prop", "p.prop", "sh", "-c", script]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-m", "mopsus", *words], cwd=tmp_path, **streams) as process:
        assert process.stdout is not None
        assert int(process.stdout.readline()) > 0
        time.sleep(0.3)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=30)  # until everybody is gone who could write to the streams
    assert process.returncode == 128 + signal.SIGTERM, err
    assert "interrupted" in err


def test_a_child_waits_for_its_debugger_so_that_nobody_can_tell(follow, capfd):
    """Neither by a stop that its parent sees, nor by its own end when nobody else of its group is left."""
    program = build(r"""
        #include <signal.h>
        #include <stdio.h>
        #include <sys/wait.h>
        #include <unistd.h>
        void work(int n) { }
        static void heard(int number) { write(1, "heard\n", 6); }
        int main(void) {
            signal(SIGUSR1, heard);
            pid_t child = fork();
            if (!child) { work(1); _exit(4); }
            kill(child, SIGUSR1);
            int status;
            if (waitpid(child, &status, WUNTRACED) != child || !WIFEXITED(status)) return 9;
            if (!fork()) { sleep(1); work(2); work(2); _exit(0); }
            return WEXITSTATUS(status);
        }
    """)
    outcome = follow(program, Follow.BOTH)
    assert (outcome.status, outcome.stats["once"]["events"]) == (4, 3)
    assert [each.binding for each in outcome.verdicts] == [{"n": 2}]
    assert not outcome.unseen
    assert not outcome.said
    assert capfd.readouterr().out == "heard\n"


def test_a_child_that_is_killed_while_it_waits_is_no_failure_of_ours(follow):
    """GDB once said of it `ptrace: No such process`, and that what happened in it was not seen."""
    program = build(r"""
        #include <signal.h>
        #include <sys/wait.h>
        #include <unistd.h>
        void work(int n) { }
        int main(void) {
            pid_t child = fork();
            if (!child) { work(1); pause(); }
            kill(child, SIGKILL);
            waitpid(child, 0, 0);
            work(2);
            return 0;
        }
    """)
    outcome = follow(program, Follow.BOTH)
    assert [each.status for each in outcome.children] == [-9]
    assert [(each.spec, each.severity) for each in outcome.verdicts] == [("program", Severity.WARNING)]
    assert not outcome.unseen
    assert not outcome.said


def test_a_child_of_what_a_child_has_become_is_watched_though_nothing_can_happen_in_it(follow, capfd):
    """It was once let go, with a word of GDB's that its program cannot be run."""
    program = build(r"""
        #include <sys/wait.h>
        #include <unistd.h>
        void work(int n) { }
        int main(void) {
            work(1);
            if (!fork()) execl("/bin/sh", "sh", "-c", "(echo forked); exit 3", (char *) 0);
            int status;
            wait(&status);
            return WEXITSTATUS(status);
        }
    """)
    outcome = follow(program, Follow.BOTH)
    assert sorted(each.status for each in outcome.children) == [0, 3]
    assert (outcome.status, outcome.said, outcome.unseen) == (3, [], ())
    assert capfd.readouterr().out == "forked\n"


def test_a_child_whose_debugger_was_killed_makes_no_run_green(follow):
    program = build(r"""
        #include <signal.h>
        #include <stdio.h>
        #include <string.h>
        #include <sys/wait.h>
        #include <unistd.h>
        void work(int n) { }
        int main(void) {
            work(1);
            if (!fork()) {
                char line[100];
                int tracer = 0;
                FILE *status = fopen("/proc/self/status", "r");
                while (!tracer && fgets(line, sizeof line, status)) sscanf(line, "TracerPid: %d", &tracer);
                kill(tracer, SIGKILL);
                _exit(0);
            }
            wait(0);
            return 0;
        }
    """)
    outcome = follow(program, Follow.BOTH)
    assert outcome.status == 0
    assert [(each.elsewhere, each.possible) for each in outcome.unseen] == [("1 child process", False)]
    assert "GDB ended without a word" in outcome.said[0]


def test_children_that_are_too_many_are_let_go_and_said(follow, monkeypatch):
    monkeypatch.setattr(family, "MOST", 1)
    program = build(r"""
        #include <sys/wait.h>
        #include <unistd.h>
        void work(int n) { }
        int main(void) {
            for (int child = 1; child <= 12; child++)
                if (!fork()) { work(child); _exit(1); }
            int status, sum = 0;
            while (wait(&status) > 0) sum += WIFEXITED(status) ? WEXITSTATUS(status) : 100;
            return sum;
        }
    """)
    outcome = follow(program, Follow.BOTH)
    assert outcome.status == 12
    assert [each.elsewhere for each in outcome.unseen if each.elsewhere] == ["11 child processes"]


def test_who_may_not_trace_does_not_keep_children_waiting(follow, monkeypatch):
    monkeypatch.setattr(family, "may_trace", lambda: False)
    with pytest.raises(DebuggerError, match="may not attach"):
        follow(build(FORKING), Follow.BOTH)
