"""Many components, and several monitor processes that share them."""

from __future__ import annotations

import os
import signal
import time

import pytest
from events.component.outline.outline_support import (
    children,
    end_all,
    eventually,
    kill,
    read_pid,
    report,
    run,
    start,
    verdicts,
    write,
)

TREE = """
    import queue, sys, threading

    def leaf(number, inbox):
        inbox.put(number)

    def helper(number, inbox):
        thread = threading.Thread(target=leaf, args=(number, inbox))
        thread.start()
        thread.join()

    def branch(number, inbox):
        for at in range(5):
            thread = threading.Thread(target=leaf if at % 2 else helper, args=(10 * number + at, inbox))
            thread.start()
            inbox.put("forked")
            thread.join()

    inbox = queue.Queue()
    for number in range(12):
        threading.Thread(target=branch, args=(number, inbox)).start()
"""
TREE_SPEC = """
    with tree:branch(_, _) monitor
      max(X. and([_ <- _, tree:branch(_, _)]X, [_ -> _, _:_(_, _)]X, [_:_ ! forked]X, [_ ** normal]ff)),
    with tree:leaf(N, _) monitor
      and([_ <- _, tree:leaf(_, _)] and([_:_ ! M when M =:= N] and([_ ** normal]ff))).
"""


def test_monitoring_that_ends_at_a_fault_is_no_monitor_that_died(folder):
    """It once ended by a traceback of ours and status 3."""
    write(folder, "fault.mop", "S(p) { event got(p) : recv(p, _) event sent(p) : send(p, _, _) { 1/0 } ere : sent+ }")
    for number in (1, 2):
        words = ("run", "--outline", "--monitors", number, "--on-fault", "stop", "--json", "-o", "report.json")
        done = run(*words, "fault.mop", "--", "tree.py", cwd=folder)
        assert (done.returncode, report(folder, "report.json")["error"]["code"]) == (2, "FAULT-002"), done.stderr
        assert "ClosedError" not in done.stderr


@pytest.fixture
def folder(tmp_path):
    write(tmp_path, "tree.py", TREE)
    write(tmp_path, "tree.hml", TREE_SPEC)
    yield tmp_path
    end_all()


@pytest.mark.parametrize("monitors", [1, 2, 4])
def test_trees_of_components(folder, monitors):
    words = ("run", "--outline", "--monitors", monitors, "--json", "-o", "report.json", "tree.hml", "--", "tree.py")
    ended = run(*words, cwd=folder)
    assert ended.returncode == 0, ended.stderr
    found = report(folder)
    assert verdicts(found) == {("tree", "branch", "rejection"): 12, ("tree", "leaf", "rejection"): 60}
    assert found["stats"]["specs"]["tree"]["alive"] == 0
    assert not [each for each in found["warnings"] if each["code"].startswith("OUTLINE")]


@pytest.mark.parametrize("monitors", [1, 3])
def test_hundreds_of_short_lived_components(folder, monitors):
    write(
        folder,
        "many.py",
        """
        import asyncio, queue, threading

        def worker(number, results):
            results.put(number)

        async def task(number, results):
            await results.put(number)
            await asyncio.sleep(0)

        results = queue.Queue()
        for base in range(0, 400, 50):
            threads = [threading.Thread(target=worker, args=(base + k, results)) for k in range(50)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        async def main():
            box = asyncio.Queue()
            async with asyncio.TaskGroup() as group:
                for number in range(400):
                    group.create_task(task(number, box))

        asyncio.run(main())
        """,
    )
    write(
        folder,
        "many.hml",
        """
        with many:worker(N, _) monitor
          and([_ <- _, many:worker(_, _)] and([_:_ ! M when M =:= N] and([_ ** normal]ff))),
        with many:task(N, _) monitor
          and([_ <- _, many:task(_, _)] and([_:_ ! M when M =:= N] and([_ ** normal]ff))).
        """,
    )
    words = ("run", "--outline", "--monitors", monitors, "--json", "-o", "report.json", "many.hml", "--", "many.py")
    ended = run(*words, cwd=folder)
    assert ended.returncode == 0, ended.stderr
    found = report(folder)
    assert verdicts(found) == {("many", "worker", "rejection"): 400, ("many", "task", "rejection"): 400}
    stats = found["stats"]["specs"]["many"]
    assert (stats["created"], stats["alive"]) == (800, 0)


WAITING = """
    import os, queue, threading, time

    def worker(number, inbox):
        inbox.put(number)
        while inbox.get() != "end":
            pass

    inboxes = [queue.Queue() for _ in range(6)]
    threads = [threading.Thread(target=worker, args=pair) for pair in enumerate(inboxes)]
    for thread in threads:
        thread.start()
    time.sleep(0.5)
    with open("pid.new", "w") as file:
        file.write(str(os.getpid()))
    os.rename("pid.new", "pid")
    while not os.path.exists("go on"):
        time.sleep(0.01)
    for inbox in inboxes:
        inbox.put("end")
    for thread in threads:
        thread.join()
    print("done")
"""


def test_a_killed_monitor_process_takes_only_its_own_components(folder):
    write(folder, "waiting.py", WAITING)
    write(folder, "waiting.hml", "with waiting:worker(_, _) monitor max(X. and([_ ** normal]ff, [_]X)).")
    words = ("run", "--outline", "--monitors", 3, "--json", "-o", "report.json", "waiting.hml", "--", "waiting.py")
    command = start(*words, cwd=folder)
    program = read_pid(folder / "pid")
    monitors = [pid for pid in children(command.pid) if pid != program]
    assert len(monitors) == 3
    kill(monitors[-1])
    (folder / "go on").touch()
    out, err = command.communicate(timeout=30)
    assert (command.returncode, out) == (3, "done\n"), err
    found = report(folder)
    assert verdicts(found) == {("waiting", "worker", "rejection"): 4}
    assert found["error"]["code"] == "OUTLINE-003"


def test_the_first_monitor_process_killed_ends_the_others(folder):
    write(folder, "waiting.py", WAITING)
    write(folder, "waiting.hml", "with waiting:worker(_, _) monitor max(X. and([_ ** normal]ff, [_]X)).")
    command = start("run", "--outline", "--monitors", 3, "waiting.hml", "--", "waiting.py", cwd=folder)
    program = read_pid(folder / "pid")
    monitors = [pid for pid in children(command.pid) if pid != program]
    kill(min(monitors))
    eventually(lambda: not [pid for pid in children(command.pid) if pid in monitors])
    (folder / "go on").touch()
    out, err = command.communicate(timeout=30)
    assert (command.returncode, out) == (3, "done\n"), err
    assert "OUTLINE-003" in err


def test_events_that_are_dropped_are_told_to_whoever_follows(folder):
    write(
        folder,
        "waiting.py",
        WAITING.replace(
            "for inbox in inboxes:", "for k in range(90_000): inboxes[0].put('x' * 20)\n    for inbox in inboxes:"
        ),
    )
    write(folder, "waiting.hml", "with waiting:__main__() monitor max(X. and([_ ** normal]ff, [_]X)).")
    words = (
        "run",
        "--outline",
        "--monitors",
        2,
        "--when-full=drop",
        "--json",
        "-o",
        "report.json",
        "waiting.hml",
        "--",
    )
    command = start(*words, "waiting.py", cwd=folder)
    program = read_pid(folder / "pid")
    monitors = sorted(pid for pid in children(command.pid) if pid != program)
    os.kill(monitors[0], signal.SIGSTOP)
    (folder / "go on").touch()
    time.sleep(2)
    os.kill(monitors[0], signal.SIGCONT)
    _, err = command.communicate(timeout=60)
    assert verdicts(report(folder)) == {("waiting", "main", "inconclusive"): 1}, err
