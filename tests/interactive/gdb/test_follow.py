"""Programs that make other processes of themselves, and which of them is watched."""

from __future__ import annotations

from dataclasses import replace

import pytest
from interactive.gdb.programs import build

from mopsus.interactive.follow import Child, Follow
from mopsus.interactive.gdb import launch
from mopsus.interactive.setup import Setup, Watched

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
    assert outcome.warnings == ["1 program that it started was not watched"]
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
