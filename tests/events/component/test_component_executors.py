"""Calls that executors make as components."""

import asyncio
import os
import queue
import re
import threading
import traceback
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest
from events.component.component_support import heard, record

pytestmark = pytest.mark.interpreter


def work(x, y=1):
    return x + y


def bad():
    raise ValueError("no")


def test_a_call_is_a_component():
    with heard() as log, ThreadPoolExecutor(1) as pool:
        assert pool.submit(work, 1, y=2).result() == 3
    assert log.of("main") == ["fork work work(1, {'y': 2})"]
    assert log.of("work") == ["init main work(1, {'y': 2})", "exit normal"]


def test_a_call_that_fails():
    with heard() as log, ThreadPoolExecutor(1) as pool:
        error = pool.submit(bad).exception()
    assert log.of("bad")[-1] == "exit ('error', 'ValueError', 'no')"
    assert [frame.name for frame in traceback.extract_tb(error.__traceback__)] == ["run", "bad"]


def test_a_call_that_is_cancelled():
    go = threading.Event()
    with heard() as log, ThreadPoolExecutor(1) as pool:
        pool.submit(go.wait)
        cancelled = pool.submit(work, 1)
        pool.submit(bad)
        assert cancelled.cancel()
        go.set()
        pool.shutdown(cancel_futures=True)
    assert log.of("work") == ["exit cancelled"]


def test_the_calls_of_a_map():
    with heard() as log, ThreadPoolExecutor(2) as pool:
        assert list(pool.map(work, [1, 2])) == [2, 3]
    assert log.of("main") == ["fork work work(1)", "fork work work(2)"]


def test_messages_of_a_call_are_its_own_and_those_of_the_pool_are_nobodys():
    box = queue.Queue()

    def sender():
        box.put("m")

    async def main():
        await asyncio.to_thread(sender)
        await asyncio.get_running_loop().run_in_executor(None, sender)

    with heard() as log:
        asyncio.run(main())
        with ThreadPoolExecutor(1) as pool:
            pool.submit(sender).result()
    words = [log.words(event) for event in log.events if event.kind in ("send", "recv")]
    assert words == ["send channel m"] * 3
    assert {log.names[event.subject] for event in log.events if event.kind == "send"} == {"sender"}


def test_processes_of_a_pool(tmp_path):
    script = tmp_path / "pool.py"
    script.write_text(
        "import os, sys\n"
        "from concurrent.futures import ProcessPoolExecutor\n"
        "from multiprocessing import get_context\n"
        "def work(x, y=1): return x + y\n"
        "def bad(): raise ValueError('no')\n"
        "if __name__ == '__main__':\n"
        "    with ProcessPoolExecutor(1, mp_context=get_context(sys.argv[1])) as pool:\n"
        "        assert pool.submit(work, 1, y=2).result() == 3\n"
        "        assert isinstance(pool.submit(bad).exception(), ValueError)\n"
        "        assert list(pool.map(work, [5])) == [6]\n"
    )
    for method in ("fork", "spawn"):
        lines = [re.sub(r"<0\.\d\d?\.0>", "P", line) for line in record(script, method)]
        assert [line for line in lines if "work" in line or "bad" in line] == [
            'fork(P,P,{pool,work,[1,#{~"y" => 2}]})',
            'init(P,P,{pool,work,[1,#{~"y" => 2}]})',
            "fork(P,P,{pool,bad,[]})",
            "init(P,P,{pool,bad,[]})",
            "fork(P,P,{pool,work,[{{5}}]})",
            "init(P,P,{pool,work,[{{5}}]})",
        ]
        assert [line for line in lines if line.startswith("exit")] == [
            "exit(P,normal)",
            "exit(P,{error,'ValueError',~\"no\"})",
            "exit(P,normal)",
            "exit(P,normal)",
        ]
        assert len(lines) == 11


def test_a_pool_whose_process_dies():
    with heard() as log, ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        assert pool.submit(os._exit, 1).exception() is not None
    assert log.events[0].kind == "fork"
    assert log.of("_exit")[-1].startswith("exit ('error', 'BrokenProcessPool'")


@pytest.mark.parametrize("method", ["fork"])
def test_the_program_sees_no_difference(method):
    def seen():
        with ProcessPoolExecutor(1, mp_context=get_context(method)) as pool:
            error = pool.submit(bad).exception()
            unpicklable = pool.submit(lambda: 1).exception()
        return str(error.__cause__), type(unpicklable), str(unpicklable).partition(" at 0x")[0]

    plain = seen()
    with heard():
        assert seen() == plain
