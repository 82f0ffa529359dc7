"""Processes of multiprocessing as components, their queues and pipes, in programs that are run for it."""

import multiprocessing
import os
import re
import signal
import time

import pytest
from events.component.component_support import heard, record

import mopsus

pytestmark = pytest.mark.interpreter

METHODS = ("fork", "spawn", "forkserver")

SCRIPT = """
import multiprocessing as mp, os, sys, time

def child(inbox, outbox, end):
    number = inbox.get()
    outbox.put(("ok", number))
    end.send("text"); end.send_bytes(b"raw")
    assert end.recv() == "bye"

def leave(): sys.exit(3)
def hard(): os._exit(4)
def fail(): raise ValueError("no")
def victim(): time.sleep(100)

class Special(mp.Process):
    def run(self): pass

if __name__ == "__main__":
    mp.set_start_method(sys.argv[1])
    sys.stderr = open(os.devnull, "w")
    inbox, outbox = mp.Queue(), mp.SimpleQueue()
    mine, theirs = mp.Pipe()
    process = mp.Process(target=child, args=(inbox, outbox, theirs))
    process.start()
    inbox.put(7); assert outbox.get() == ("ok", 7)
    assert mine.recv() == "text" and mine.recv_bytes() == b"raw"
    mine.send("bye")
    process.join()
    for target in (leave, hard, fail):
        process = mp.Process(target=target); process.start(); process.join()
    process = Special(); process.start(); process.join()
    process = mp.Process(target=victim); process.start(); process.kill(); process.join()
"""


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    script = tmp_path_factory.mktemp("processes") / "procs.py"
    script.write_text(SCRIPT)
    return {method: record(script, method) for method in METHODS}


def events(lines, pid):
    return [line for line in lines if re.match(rf"\w+\({re.escape(pid)},", line)]


@pytest.mark.parametrize("method", METHODS)
def test_a_process_and_its_messages(logs, method):
    lines = logs[method]
    fork = next(line for line in lines if "{procs,child" in line)
    parent, pid, inbox, outbox, theirs = re.findall(r"<0\.\d+\.0>", fork)
    did = events(lines, pid)
    mine = re.findall(r"<0\.\d+\.0>", did[3])[1]
    assert did == [
        f"init({pid},{parent},{{procs,child,[{inbox},{outbox},{theirs}]}})",
        f"recv({pid},7)",
        f'send({pid},{outbox},{{~"ok",7}})',
        f'send({pid},{mine},~"text")',
        f"send({pid},{mine},<<114,97,119>>)",
        f'recv({pid},~"bye")',
        f"exit({pid},normal)",
    ]
    assert f'send({parent},{theirs},~"bye")' in lines
    assert f"send({parent},{inbox},7)" in lines
    assert f'recv({parent},{{~"ok",7}})' in lines
    assert len({parent, pid, inbox, outbox, theirs, mine}) == 6


@pytest.mark.parametrize("method", METHODS)
def test_how_processes_end(logs, method):
    ends = {}
    for name in ("leave", "hard", "fail", "'Special.run'", "victim"):
        fork = next(line for line in logs[method] if f"{{procs,{name}" in line)
        did = events(logs[method], re.findall(r"<0\.\d+\.0>", fork)[1])
        assert sum(line.startswith("exit") for line in did) == 1
        ends[name] = did[-1].partition(",")[2][:-1]
    assert ends == {
        "leave": "{exit,3}",
        "hard": "{exit,4}",
        "fail": "{error,'ValueError',~\"no\"}",
        "'Special.run'": "normal",
        "victim": "{signal,9}",
    }


@pytest.mark.parametrize("method", METHODS)
def test_the_program_begins_and_ends(logs, method):
    assert logs[method][0] == f"init(<0.1.0>,<0.0.0>,{{procs,'__main__',[~\"{method}\"]}})"
    assert logs[method][-1] == "exit(<0.1.0>,normal)"


def test_identifiers_are_unique_in_all_processes(tmp_path):
    script = tmp_path / "tree.py"
    script.write_text(
        "import multiprocessing as mp, os, sys, threading\n"
        "def leaf(): pass\n"
        "def grow(depth):\n"
        "    for _ in range(2):\n"
        "        t = threading.Thread(target=leaf); t.start(); t.join()\n"
        "        if depth:\n"
        "            p = mp.Process(target=grow, args=(depth - 1,)); p.start(); p.join()\n"
        "if __name__ == '__main__':\n"
        "    mp.set_start_method(sys.argv[1])\n"
        "    if sys.argv[1] == 'fork' and os.fork() == 0: pass\n"
        "    grow(2)\n"
    )
    for method, factor in (("fork", 2), ("spawn", 1)):
        lines = record(script, method)
        begun = [re.findall(r"<\d+\.\d+\.0>", line)[0] for line in lines if line.startswith("init")]
        forked = [re.findall(r"<\d+\.\d+\.0>", line)[1] for line in lines if line.startswith("fork")]
        assert len(set(begun)) == len(begun)
        assert sorted(forked) == sorted(begun[1:])
        assert len(forked) == factor * (2 + 4 + 8 + 2 + 4)


def nothing():
    pass


def test_a_process_that_cannot_be_started():
    def local():
        pass

    with heard() as log, pytest.raises((AttributeError, TypeError)):
        multiprocessing.get_context("spawn").Process(target=local).start()
    assert log.of("local") == ["exit start_failed"]


@pytest.mark.parametrize("groups", [False, True])
def test_a_process_that_cannot_be_started_is_judged_inline(tmp_path, groups):
    """Nobody else could: it was never there. One that was started and killed is judged from beside, or from a log."""

    def local():
        pass

    module, name = __name__, local.__qualname__
    (tmp_path / "begins.hml").write_text(f"with '{module}':'{name}'() monitor [_ ** start_failed]ff.")
    found = []
    with mopsus.watch_components(tmp_path / "begins.hml", groups=groups, on_verdict=found.append):
        with pytest.raises((AttributeError, TypeError)):
            multiprocessing.get_context("spawn").Process(target=local).start()
        process = multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,))
        process.start()
        process.kill()
        process.join()
    assert [verdict.category for verdict in found] == ["rejection"]


def test_a_process_that_was_started_is_not_started_again():
    process = multiprocessing.get_context("fork").Process(target=nothing)
    with heard() as log:
        process.start()
        with pytest.raises(AssertionError):
            process.start()
        process.join()
    assert log.of("main") == ["fork nothing nothing()"]


def test_a_parent_learns_of_a_killed_child_once():
    process = multiprocessing.get_context("fork").Process(target=time.sleep, args=(100,))
    with heard() as log:
        process.start()
        os.kill(process.pid, signal.SIGTERM)
        process.join()
        assert not process.is_alive()
        assert process.exitcode == -signal.SIGTERM
    assert log.of("sleep") == ["exit ('signal', 15)"]


def test_a_declared_owner_goes_with_the_processes(tmp_path):
    script = tmp_path / "owner.py"
    script.write_text(
        "import multiprocessing as mp, mopsus\n"
        "def take(box): assert box.get() == 1\n"
        "def give(box): box.put(1)\n"
        "if __name__ == '__main__':\n"
        "    mp.set_start_method('spawn')\n"
        "    box = mp.Queue()\n"
        "    taker = mp.Process(target=take, args=(box,))\n"
        "    mopsus.mailbox(box, taker)\n"
        "    giver = mp.Process(target=give, args=(box,))\n"
        "    taker.start(); giver.start(); taker.join(); giver.join()\n"
    )
    lines = record(script)
    taker = re.findall(r"<0\.\d+\.0>", next(line for line in lines if "owner,take" in line))[1]
    assert next(line for line in lines if line.startswith("send")).split(",")[1] == taker


def test_the_program_sees_no_difference():
    from multiprocessing import connection, process, queues

    before = [dict(vars(each)) for each in (process.BaseProcess, queues.Queue, connection._ConnectionBase, connection)]
    context = multiprocessing.get_context("fork")
    with heard():
        box = context.Queue()
        child = context.Process(target=box.put, args=("x",))
        child.start()
        assert box.get() == "x"
        child.join()
        assert (child.exitcode, "run" in vars(child)) == (0, False)
    after = [dict(vars(each)) for each in (process.BaseProcess, queues.Queue, connection._ConnectionBase, connection)]
    assert before == after
