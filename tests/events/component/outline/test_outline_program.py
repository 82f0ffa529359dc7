"""Whole programs, watched from a process beside them: that it is another process, and what survives what."""

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
    sidecar_of,
    start,
    verdicts,
    write,
)

from mopsus import _core
from mopsus.events.component.outline.session import Session, is_running

pytestmark = pytest.mark.interpreter

WORKERS = """
    import os, queue, sys, threading

    def worker(number, inbox):
        while (message := inbox.get()) is not None:
            pass

    def main():
        inboxes = [queue.Queue() for _ in range(3)]
        threads = [threading.Thread(target=worker, args=pair) for pair in enumerate(inboxes)]
        for thread in threads:
            thread.start()
        for number, inbox in enumerate(inboxes):
            for message in range(4 + number):
                inbox.put(message)
            inbox.put(None)
        for thread in threads:
            thread.join()

    main()
"""
NEVER_FIVE = """
    with workers:worker(N, _) monitor
      max(X. and([_ <- _, workers:worker(_, _)]X, [_ ? 5]ff, [_ ? M when M < 5]X, [_ ** _]X)).
"""
ABNORMAL = """
    with patient:worker(_) monitor
      max(X. and([_ <- _, patient:worker(_)]X, [_ ** R when R =/= normal]ff, [_ ? _]X, [_:_ ! _]X)).
"""
PATIENT = """
    import os, queue, sys, threading, time

    def worker(inbox):
        while True:
            inbox.get()
            inbox.task_done()

    inbox = queue.Queue()
    threading.Thread(target=worker, args=(inbox,), daemon=True).start()
    inbox.put("ready")
    time.sleep(0.3)
    with open("pid.new", "w") as file:
        file.write(str(os.getpid()))
    os.rename("pid.new", "pid")
    while not os.path.exists("go on"):
        inbox.put("more")
        time.sleep(0.005)
    for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 0):
        inbox.put("x" * 100)
    inbox.join()
    print("done")
"""


@pytest.fixture
def folder(tmp_path):
    write(tmp_path, "workers.py", WORKERS)
    write(tmp_path, "workers.hml", NEVER_FIVE)
    write(tmp_path, "patient.py", PATIENT)
    write(tmp_path, "patient.hml", ABNORMAL)
    yield tmp_path
    end_all()


def test_outline_finds_what_inline_finds(folder):
    inside = run("run", "--json", "-o", "inside.json", "workers.hml", "--", "workers.py", cwd=folder)
    beside = run("run", "--outline", "--json", "-o", "beside.json", "workers.hml", "--", "workers.py", cwd=folder)
    assert (inside.returncode, beside.returncode) == (0, 0), beside.stderr
    found = verdicts(report(folder, "beside.json"))
    assert found == verdicts(report(folder, "inside.json"))
    assert found["workers", "worker", "rejection"] == 1


def test_status_is_that_of_the_program(folder):
    write(folder, "leaves.py", "import sys; print('out'); sys.exit(7)")
    ended = run("run", "--outline", "workers.hml", "--", "leaves.py", cwd=folder)
    assert (ended.returncode, ended.stdout) == (7, "out\n")
    ended = run("run", "--outline", "--fail-on-violation", "workers.hml", "--", "workers.py", cwd=folder)
    assert ended.returncode == 1


def test_what_is_undecided_at_the_end_is_the_same(folder):
    write(
        folder,
        "end.mop",
        """
        End {
            event first : send(_, _, 0)
            event never : send(_, _, 99)
            ere : first+ never
            @match
        }
        """,
    )
    at_end = []
    for words in ((), ("--outline",), ("--outline", "--monitors", 2)):
        run("run", *words, "--at-end", "--json", "-o", "report.json", "end.mop", "--", "workers.py", cwd=folder)
        at_end.append(report(folder)["at_end"])
    assert at_end[0] == at_end[1] == at_end[2]
    assert at_end[0]


@pytest.mark.parametrize("words", [("--when-full=drop",), ("--monitors", "2")])
def test_options_of_outline_need_it(folder, words):
    refused = run("run", *words, "workers.hml", "--", "workers.py", cwd=folder)
    assert (refused.returncode, "--outline" in refused.stderr) == (2, True)


def test_groups_of_several_specs_are_not_shared_out(folder):
    words = ("run", "--outline", "--groups", "--monitors", 2, "workers.hml", "patient.hml", "--", "workers.py")
    refused = run(*words, cwd=folder)
    assert (refused.returncode, "OUTLINE-006" in refused.stderr) == (2, True)


@pytest.mark.parametrize("monitors", [1, 2])
def test_groups(folder, monitors):
    write(
        folder,
        "grouped.py",
        """
        import queue, threading

        def helper(box):
            box.put("from the helper")

        def worker(box):
            thread = threading.Thread(target=helper, args=(box,))
            thread.start()
            thread.join()

        worker_thread = threading.Thread(target=worker, args=(queue.Queue(),))
        worker_thread.start()
        worker_thread.join()
        """,
    )
    write(folder, "grouped.hml", "with grouped:worker(_) monitor max(X. and([_:_ ! _]ff, [_]X)).")
    for groups in ((), ("--groups",)):
        words = (
            "run",
            "--outline",
            *groups,
            "--monitors",
            monitors,
            "--json",
            "-o",
            "report.json",
            "grouped.hml",
            "--",
        )
        run(*words, "grouped.py", cwd=folder)
        assert verdicts(report(folder))["grouped", "worker", "rejection"] == len(groups)


def test_monitor_is_another_process(folder):
    write(
        folder,
        "where.mop",
        """
        import os

        Where(p) {
            event got(p) : recv(p, _)
            ere: got
            @match { open("monitor", "w").write(str(os.getpid())) }
        }
        """,
    )
    command = start("run", "--outline", "where.mop", "--", "patient.py", cwd=folder)
    try:
        program, monitor = read_pid(folder / "pid"), read_pid(folder / "monitor")
        assert len({program, monitor, command.pid}) == 3
        assert sorted(children(command.pid)) == sorted([program, monitor])
    finally:
        (folder / "go on").touch()
        out, _ = command.communicate(timeout=30)
    assert out == "done\n"


@pytest.mark.parametrize("when_full", ["block", "drop", "grow"])
def test_killed_monitor_leaves_the_program_alone_and_is_reported(folder, when_full):
    words = ("run", "--outline", f"--when-full={when_full}", "patient.hml", "--", "patient.py", 30_000)
    command = start(*words, cwd=folder)
    program = read_pid(folder / "pid")
    kill(sidecar_of(command.pid, program))
    (folder / "go on").touch()  # with more than fits into a ring
    out, err = command.communicate(timeout=30)
    assert (command.returncode, out) == (3, "done\n")
    assert "OUTLINE-003" in err
    assert "stopped early by OUTLINE-003" in err


def test_killed_program_ends_its_components(folder):
    command = start("run", "--outline", "--json", "-o", "report.json", "patient.hml", "--", "patient.py", cwd=folder)
    kill(read_pid(folder / "pid"))
    command.communicate(timeout=30)
    assert command.returncode == 128 + signal.SIGKILL
    (verdict,) = report(folder)["verdicts"]
    assert (verdict["property"], verdict["category"]) == ("worker", "rejection")


def test_killed_command_lets_program_and_monitor_end(folder):
    command = start("run", "--outline", "patient.hml", "--", "patient.py", 30_000, cwd=folder)
    program = read_pid(folder / "pid")
    monitor = sidecar_of(command.pid, program)
    command.kill()
    (folder / "go on").touch()
    out, _ = command.communicate(timeout=30)
    assert out == "done\n"
    for pid in (monitor, program):
        eventually(lambda pid=pid: not is_running(pid))


def test_dropped_events_make_components_incomplete_and_never_violate(folder):
    words = ("run", "--outline", "--when-full=drop", "--json", "-o", "report.json", "patient.hml", "--")
    command = start(*words, "patient.py", 30_000, cwd=folder)
    monitor = sidecar_of(command.pid, read_pid(folder / "pid"))
    os.kill(monitor, signal.SIGSTOP)
    (folder / "go on").touch()
    time.sleep(1.5)
    os.kill(monitor, signal.SIGCONT)
    command.communicate(timeout=30)
    found = report(folder)
    (verdict,) = found["verdicts"]
    assert verdict["category"] == "inconclusive"
    assert verdict["remarks"][0].startswith("Incomplete: ")
    (warning,) = [each for each in found["warnings"] if each["code"] == "OUTLINE-004"]
    assert "incomplete" in warning["message"]


@pytest.mark.parametrize("when_full", ["block", "grow"])
def test_a_slow_monitor_misses_nothing(folder, when_full):
    words = ("run", "--outline", f"--when-full={when_full}", "--json", "-o", "report.json", "patient.hml", "--")
    command = start(*words, "patient.py", 15_000, cwd=folder)
    monitor = sidecar_of(command.pid, read_pid(folder / "pid"))
    os.kill(monitor, signal.SIGSTOP)
    (folder / "go on").touch()
    time.sleep(1)
    assert (command.poll() is None) == (when_full == "block") or command.poll() is None
    os.kill(monitor, signal.SIGCONT)
    command.communicate(timeout=30)
    found = report(folder)
    assert not [each for each in found["warnings"] if each["code"].startswith("OUTLINE")]
    assert found["stats"]["specs"]["patient"]["seen"]["recv"] > 15_000


CHILDREN = """
    import multiprocessing, os, signal, sys

    def worker(number):
        if number == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        sys.exit(number)

    if __name__ == "__main__":
        context = multiprocessing.get_context(sys.argv[1])
        processes = [context.Process(target=worker, args=(number,)) for number in range(3)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_of_the_program_are_watched(folder, method):
    write(folder, "parents.py", CHILDREN)
    write(
        folder,
        "parents.hml",
        """
        with parents:worker(0) monitor max(X. and([_ <- _, parents:worker(_)]X, [_ ** normal]ff)),
        with parents:worker(1) monitor max(X. and([_ <- _, parents:worker(_)]X, [_ ** {exit, 1}]ff)),
        with parents:worker(2) monitor max(X. and([_ <- _, parents:worker(_)]X, [_ ** {signal, 9}]ff)).
        """,
    )
    ended = run(
        "run", "--outline", "--json", "-o", "report.json", "parents.hml", "--", "parents.py", method, cwd=folder
    )
    assert ended.returncode == 0, ended.stderr
    assert {key[1:]: count for key, count in verdicts(report(folder)).items()} == {
        ("worker", "rejection"): 1,
        ("worker_2", "rejection"): 1,
        ("worker_3", "rejection"): 1,
    }


def test_a_component_that_dies_between_fork_and_init_ends(folder):
    write(
        folder,
        "early.py",
        """
        import multiprocessing, os, signal
        main = os.getpid()
        os.register_at_fork(after_in_child=lambda: os.kill(os.getpid(), signal.SIGKILL))

        def worker():
            pass

        process = multiprocessing.get_context("fork").Process(target=worker)
        process.start()
        if os.environ["JOIN"] == "yes":
            process.join()
        else:
            os.waitpid(process.pid, 0)
            os._exit(0)
        """,
    )
    write(
        folder,
        "early.hml",
        "with early:worker() monitor and([_ ** {signal, 9}]ff, [_ ** killed]ff).",
    )
    for join in ("yes", "no"):
        environment = {**os.environ, "JOIN": join}
        run(
            "run",
            "--outline",
            "--json",
            "-o",
            "report.json",
            "early.hml",
            "--",
            "early.py",
            cwd=folder,
            env=environment,
        )
        assert verdicts(report(folder)) == {("early", "worker", "rejection"): 1}


def wait_for_monitor(pid):
    board = _core.Board.open(Session.find(pid).board)
    eventually(board.attended)


def test_attach_and_detach_while_the_program_runs(folder):
    write(folder, "late.hml", "with patient:worker(_) monitor max(X. and([_ <- _, patient:worker(_)]X, [_ ? more]ff)).")
    program = start("component", "start", "--", "patient.py", cwd=folder)
    pid = read_pid(folder / "pid")
    assert pid == program.pid
    for _ in range(2):
        attached = start("component", "attach", "late.hml", pid, "--json", "-o", "report.json", cwd=folder)
        wait_for_monitor(pid)
        second = run("component", "attach", "late.hml", pid, cwd=folder)
        assert second.returncode == 2
        assert "OUTLINE-002" in second.stderr
        time.sleep(0.3)
        assert run("component", "detach", pid, cwd=folder).returncode == 0
        _, err = attached.communicate(timeout=30)
        assert attached.returncode == 1, err
        (verdict,) = report(folder)["verdicts"]
        assert verdict["category"] == "rejection"
        assert "before it was watched" in verdict["remarks"][0]
        (folder / "report.json").unlink()
    again = run("component", "detach", pid, cwd=folder)
    assert (again.returncode, "OUTLINE-002" in again.stderr) == (2, True)
    (folder / "go on").touch()
    out, _ = program.communicate(timeout=30)
    assert (program.returncode, out) == (0, "done\n")
    gone = run("component", "detach", pid, cwd=folder)
    assert "OUTLINE-001" in gone.stderr


def test_attached_monitor_ends_with_the_program(folder):
    program = start("component", "start", "--", "patient.py", cwd=folder)
    pid = read_pid(folder / "pid")
    attached = start("component", "attach", "patient.hml", pid, cwd=folder)
    wait_for_monitor(pid)
    time.sleep(0.5)
    program.kill()
    out, err = attached.communicate(timeout=30)
    program.communicate()
    assert attached.returncode == 1, err
    assert "rejection" in out


def test_attached_monitor_that_is_killed_is_no_pass(folder):
    write(folder, "late.hml", "with patient:worker(_) monitor max(X. and([_ <- _, patient:worker(_)]X, [_ ? more]ff)).")
    program = start("component", "start", "--", "patient.py", cwd=folder)
    pid = read_pid(folder / "pid")
    attached = start("component", "attach", "late.hml", pid, "--json", "-o", "report.json", cwd=folder)
    wait_for_monitor(pid)
    time.sleep(0.5)
    (monitor,) = children(attached.pid)
    kill(monitor)
    _, err = attached.communicate(timeout=30)
    assert attached.returncode == 3, err
    found = report(folder)
    assert found["error"]["code"] == "OUTLINE-003"
    assert not found["verdicts"] or found["stats"]["events"]  # no violation of nothing
    (folder / "go on").touch()
    out, _ = program.communicate(timeout=30)
    assert (program.returncode, out) == (0, "done\n")


def test_interrupted_program_is_reported(folder):
    command = start("run", "--outline", "patient.hml", "--", "patient.py", cwd=folder, start_new_session=True)
    read_pid(folder / "pid")
    os.killpg(command.pid, signal.SIGINT)
    _, err = command.communicate(timeout=30)
    assert command.returncode == 130
    assert "KeyboardInterrupt" in err


@pytest.mark.parametrize("words", [("run", "--outline", "workers.hml"), ("component", "start")])
def test_no_files_are_left(folder, words):
    write(folder, "where.py", "import os; print(os.environ['MOPSUS_OUTLINE'])")
    ended = run(*words, "--", "where.py", cwd=folder)
    assert ended.stdout.startswith("/")
    assert not os.path.exists(ended.stdout.strip())


def test_what_a_killed_program_has_left_is_removed_by_the_next(folder):
    write(folder, "killed.py", "import os; print(os.environ['MOPSUS_OUTLINE'], flush=True); os.kill(os.getpid(), 9)")
    left = run("component", "start", "--", "killed.py", cwd=folder).stdout.strip()
    assert os.path.exists(left)
    run("run", "--outline", "workers.hml", "--", "workers.py", cwd=folder)
    assert not os.path.exists(left)
