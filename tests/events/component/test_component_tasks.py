"""Tasks of asyncio as components, their queues and streams."""

import asyncio
import gc
import inspect
import sys
import traceback

import pytest
from events.component.component_support import heard

pytestmark = pytest.mark.interpreter


async def nothing(*args, **kwargs):
    pass


def test_a_task_forks_begins_and_exits():
    async def main():
        await asyncio.create_task(nothing(1, key=2))

    with heard() as log:
        asyncio.run(main())
    assert log.of("main")[0] == "fork main main()"
    assert log.of("nothing") == ["init main nothing(1, {'key': 2})", "exit normal"]


class Holder:
    async def work(self, n, *rest, flag=False, **more):
        pass

    @classmethod
    async def of_class(cls, n):
        pass


def test_what_a_task_runs():
    async def main():
        await Holder().work(0)
        tasks = [Holder().work(1, 2, 3, flag=True, x=4), Holder.of_class(5), nothing()]
        await asyncio.gather(*tasks)

    with heard() as log:
        asyncio.run(main())
    functions = [event.data for event in log.events if event.kind == "fork"][1:]
    assert [(f.module, f.name, f.arguments, f.keywords) for f in functions] == [
        (__name__, "Holder.work", (1, 2, 3), {"flag": True, "x": 4}),
        (__name__, "Holder.of_class", (5,), None),
        (__name__, "nothing", (), None),
    ]


@pytest.mark.parametrize("error", [KeyError("k"), SystemExit(2)])
def test_the_reason_of_an_exit(error):
    async def worker():
        await asyncio.sleep(0)
        raise error

    async def main():
        await asyncio.create_task(worker())

    with heard() as log, pytest.raises(type(error)):
        asyncio.run(main())
    expected = "exit ('exit', 2)" if isinstance(error, SystemExit) else "exit ('error', 'KeyError', \"'k'\")"
    assert log.of("worker")[-1] == expected


def test_tasks_that_are_cancelled():
    async def worker():
        await asyncio.sleep(10)

    async def late():
        await asyncio.sleep(10)

    async def main():
        running = asyncio.create_task(worker())
        await asyncio.sleep(0)
        running.cancel()
        never = asyncio.create_task(late())
        never.cancel()
        await asyncio.gather(running, never, return_exceptions=True)

    with heard() as log:
        asyncio.run(main())
    assert log.of("worker")[1:] == ["exit cancelled"]
    assert log.of("late") == ["exit cancelled"]  # it never began


def test_a_group_in_which_one_fails():
    async def bad():
        raise ValueError("no")

    async def slow():
        await asyncio.sleep(10)

    async def main():
        async with asyncio.TaskGroup() as group:
            group.create_task(slow())
            group.create_task(bad())

    with heard() as log, pytest.raises(ExceptionGroup):
        asyncio.run(main())
    assert log.of("bad")[-1] == "exit ('error', 'ValueError', 'no')"
    assert log.of("slow")[-1] == "exit cancelled"


@pytest.mark.skipif(sys.version_info < (3, 12), reason="eager tasks are new in 3.12")
def test_an_eager_task_begins_within_the_call_that_makes_it():
    box = asyncio.Queue()

    async def child():
        box.put_nowait("from child")

    async def main():
        asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
        task = asyncio.create_task(child())
        box.put_nowait("from parent")
        await task

    with heard() as log:
        asyncio.run(main())
    done = [log.words(event) for event in log.events]
    assert done.index("fork child child()") < done.index("init main child()") < done.index("send channel from parent")
    assert log.of("child")[1:] == ["send channel from child", "exit normal"]


def test_a_task_that_is_given_up_has_an_exit():
    async def worker():
        await asyncio.get_running_loop().create_future()

    async def main():
        asyncio.create_task(worker())  # noqa: RUF006
        await asyncio.sleep(0)

    with heard() as log:
        loop = asyncio.new_event_loop()
        loop.run_until_complete(main())
        loop.close()
        loop.set_exception_handler(lambda loop, context: None)
        gc.collect()
    assert log.of("worker")[-1] == "exit cancelled"


def test_messages():
    async def main():
        box, out = asyncio.Queue(), asyncio.PriorityQueue()

        async def echo():
            out.put_nowait(await box.get())

        task = asyncio.create_task(echo())
        await asyncio.sleep(0)  # it waits at its queue by now
        await box.put("m")
        assert await out.get() == "m"
        await task

    with heard() as log:
        asyncio.run(main())
    assert log.of("echo")[1:] == ["recv m", "send main m", "exit normal"]
    assert log.of("main")[-3:] == ["send echo m", "recv m", "exit normal"]


def test_what_the_library_takes_for_a_task_is_taken_by_the_task():
    async def main():
        box = asyncio.Queue()
        box.put_nowait("a")
        assert await asyncio.wait_for(box.get(), 1) == "a"
        box.put_nowait("b")
        done, _ = await asyncio.wait([asyncio.ensure_future(box.get())])
        assert done.pop().result() == "b"

    with heard() as log:
        asyncio.run(main())
    assert [words for words in log.of("main") if words.startswith("recv")] == ["recv a", "recv b"]


def test_the_library_makes_no_components_of_its_own():
    async def numbers():
        yield 1
        yield 2

    async def main():
        async for _ in numbers():
            break
        await asyncio.gather(asyncio.sleep(0), nothing())

    with heard() as log:
        asyncio.run(main())
    assert {event.data.name.rpartition(".")[2] for event in log.events if event.kind == "fork"} == {"main", "nothing"}


def test_streams():
    async def handler(reader, writer):
        line = await reader.readline()
        writer.write(b"got " + line)
        await writer.drain()
        writer.close()

    async def client(address):
        reader, writer = await asyncio.open_connection(*address)
        writer.write(b"hello\n")
        assert await reader.read() == b"got hello\n"
        assert await reader.read() == b""
        writer.close()
        await writer.wait_closed()

    async def main():
        server = await asyncio.start_server(handler, "127.0.0.1", 0)
        address = server.sockets[0].getsockname()
        await asyncio.create_task(client(address))
        server.close()
        return address

    with heard() as log:
        _, port = asyncio.run(main())
    sent, received, exited = [event for event in log.events if log.names.get(event.subject) == "client"][1:]
    assert (sent.other, sent.data) == (f"<{127 << 24 | 1}.{port}.1>", b"hello\n")
    assert received.data == b"got hello\n"
    assert [words.split(" ")[0] for words in log.of("handler")] == ["init", "recv", "send", "exit"]
    assert exited.kind == "exit"


def test_a_context_that_is_shared_does_not_confuse():
    import contextvars

    async def sender(box, what):
        box.put_nowait(what)
        await asyncio.sleep(0)
        box.put_nowait(what)

    async def main():
        box, context = asyncio.Queue(), contextvars.copy_context()
        tasks = [asyncio.create_task(sender(box, k), context=context) for k in range(2)]
        await asyncio.gather(*tasks)
        await asyncio.to_thread(box.put_nowait, 2)

    with heard() as log:
        asyncio.run(main())
    by: dict[object, list[object]] = {}
    for event in log.events:
        if event.kind == "send":
            by.setdefault(event.subject, []).append(event.data)
    assert sorted(by.values()) == [[0, 0], [1, 1], [2]]


def test_the_program_sees_no_difference():
    before = dict(vars(asyncio.Task)), dict(vars(asyncio.Queue)), dict(vars(asyncio.StreamReader))
    kept = {}

    async def worker():
        await asyncio.sleep(0)
        raise ValueError("x")

    async def main():
        coroutine = worker()
        task = asyncio.create_task(coroutine, name="N")
        kept["same"] = task.get_coro() is coroutine
        kept["kind"] = inspect.iscoroutine(task.get_coro())
        kept["text"] = repr(task)
        await asyncio.sleep(0)
        kept["stack"] = [frame.f_code.co_name for frame in task.get_stack()]
        try:
            await task
        except ValueError as error:
            kept["trace"] = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
        reader = asyncio.StreamReader()
        reader.feed_eof()
        kept["reading"] = inspect.iscoroutine(reading := reader.read())
        await reading

    def seen():
        kept.clear()
        asyncio.run(main())
        kept["text"] = kept["text"].partition(" cb=")[0]
        return dict(kept)

    plain = seen()
    with heard():
        assert seen() == plain
    assert before == (dict(vars(asyncio.Task)), dict(vars(asyncio.Queue)), dict(vars(asyncio.StreamReader)))
