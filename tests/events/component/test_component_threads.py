"""Threads and their queues as components."""

import functools
import queue
import sys
import threading
import traceback

import pytest
from events.component.component_support import heard

pytestmark = pytest.mark.interpreter


@pytest.fixture(autouse=True)
def _quiet(monkeypatch):
    monkeypatch.setattr(threading, "excepthook", lambda args: None)


def run(target, *args, **kwargs):
    thread = threading.Thread(target=target, args=args, kwargs=kwargs)
    thread.start()
    thread.join()
    return thread


def nothing(*args, **kwargs):
    pass


def test_a_thread_forks_begins_and_exits():
    with heard() as log:
        run(nothing, 1, "x", key=2)
    assert log.of("main") == ["fork nothing nothing(1, x, {'key': 2})"]
    assert log.of("nothing") == ["init main nothing(1, x, {'key': 2})", "exit normal"]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ValueError("bad"), "exit ('error', 'ValueError', 'bad')"),
        (SystemExit(), "exit normal"),
        (SystemExit(0), "exit normal"),
        (SystemExit(3), "exit ('exit', 3)"),
        (SystemExit("gone"), "exit ('exit', 'gone')"),
        (KeyboardInterrupt(), "exit ('error', 'KeyboardInterrupt', '')"),
    ],
)
def test_the_reason_of_an_exit(error, reason):
    def worker():
        raise error

    with heard() as log:
        run(worker)
    assert log.of("worker")[-1] == reason


def test_an_error_whose_text_cannot_be_made():
    class Odd(Exception):
        def __str__(self):
            raise RuntimeError

    def worker():
        raise Odd

    with heard() as log:
        run(worker)
    assert log.of("worker")[-1] == "exit ('error', 'Odd', '')"


class Worker(threading.Thread):
    def run(self):
        pass

    def work(self, n):
        pass


def test_what_a_thread_runs():
    holder = Worker()

    class Callable:
        def __call__(self):
            pass

    with heard() as log:
        for thread in (
            Worker(),
            threading.Thread(target=holder.work, args=(1,)),
            threading.Thread(target=functools.partial(functools.partial(nothing, 1), k=2), args=(3,)),
            threading.Thread(target=Callable()),
            threading.Timer(0, nothing, (7,)),
            threading.Thread(),
        ):
            thread.start()
            thread.join()
    functions = [event.data for event in log.events if event.kind == "fork"]
    assert [(f.module, f.name, f.arguments, f.keywords) for f in functions] == [
        (__name__, "Worker.run", (), None),
        (__name__, "Worker.work", (1,), None),
        (__name__, "nothing", (1, 3), {"k": 2}),
        (__name__, "test_what_a_thread_runs.<locals>.Callable", (), None),
        (__name__, "nothing", (7,), None),
        ("threading", "Thread.run", (), None),
    ]


def test_a_run_that_is_set_on_the_thread_itself():
    seen = []

    def own():
        seen.append("run" in vars(thread) and vars(thread)["run"] is own)

    thread = threading.Thread()
    thread.run = own
    with heard() as log:
        thread.start()
        thread.join()
    assert seen == [True]
    assert [event.kind.value for event in log.events] == ["fork", "init", "exit"]


def test_a_thread_that_cannot_be_started(monkeypatch):
    def refuse(*args, **kwargs):
        raise RuntimeError("can't start new thread")

    name = "_start_joinable_thread" if hasattr(threading, "_start_joinable_thread") else "_start_new_thread"
    monkeypatch.setattr(threading, name, refuse)
    with heard() as log, pytest.raises(RuntimeError, match="can't start"):
        threading.Thread(target=nothing).start()
    assert log.of("nothing") == ["exit start_failed"]


def test_a_thread_that_was_started_is_not_started_again():
    thread = threading.Thread(target=nothing)
    with heard() as log:
        thread.start()
        thread.join()
        with pytest.raises(RuntimeError, match="only be started once"):
            thread.start()
    assert [event.kind.value for event in log.events] == ["fork", "init", "exit"]


def test_identifiers_are_not_used_again_though_numbers_of_threads_are():
    with heard() as log:
        numbers = {run(nothing).ident for _ in range(20)}
    assert len(numbers) < 20  # the system uses them again
    assert len({event.subject for event in log.events if event.kind == "init"}) == 20


def test_the_program_sees_no_difference():
    seen = []

    def worker():
        thread = threading.current_thread()
        seen.append((vars(thread).get("run"), thread.run.__func__, sys._getframe(1).f_code.co_name))
        raise ValueError

    def hook(args):
        seen.append([frame.name for frame in traceback.extract_tb(args.exc_traceback)])

    threading.excepthook = hook
    before = dict(vars(threading.Thread)), dict(vars(queue.Queue)), dict(vars(queue.SimpleQueue))
    with heard():
        run(worker)
    assert seen == [(None, threading.Thread.run, "run"), ["_bootstrap_inner", "run", "worker"]]
    assert before == (dict(vars(threading.Thread)), dict(vars(queue.Queue)), dict(vars(queue.SimpleQueue)))


# ---- queues


@pytest.mark.parametrize("kind", [queue.Queue, queue.LifoQueue, queue.PriorityQueue, queue.SimpleQueue])
def test_messages(kind):
    box = kind()

    def worker():
        box.get()
        box.get_nowait()

    with heard() as log:
        box.put(1)
        box.put_nowait(2)
        run(worker)
    assert log.of("main")[:2] == ["send channel 1", "send channel 2"]
    assert sorted(log.of("worker")[1:3]) == ["recv 1", "recv 2"]


class Loud(queue.Queue):
    def put(self, item, block=True, timeout=None):
        super().put(item, block, timeout)

    def get(self, *args, **kwargs):
        return super().get(*args, **kwargs)


def test_messages_of_a_subclass_are_told_of_once():
    box = Loud()
    with heard() as log:
        box.put(item="x")
        box.get(timeout=1)
    assert log.of("main") == ["send channel x", "recv x"]


def test_what_fails_is_no_message():
    box = queue.Queue(1)
    box.put(0)
    with heard() as log:
        with pytest.raises(queue.Full):
            box.put_nowait(1)
        box.get()
        with pytest.raises(queue.Empty):
            box.get(timeout=0.001)
        with pytest.raises(TypeError):
            box.put()
    assert log.of("main") == ["recv 0"]


def test_the_only_consumer_owns_a_queue():
    box, ready = queue.Queue(), threading.Event()

    def worker():
        ready.set()
        box.get()
        box.get()

    with heard() as log:
        thread = threading.Thread(target=worker)
        thread.start()
        ready.wait()
        while not box.not_empty._waiters:  # it waits for the first message
            pass
        box.put("a")
        box.put("b")
        thread.join()
    assert log.of("main")[1:] == ["send worker a", "send worker b"]


def test_a_queue_with_two_consumers_is_a_channel():
    box = queue.Queue()
    with heard() as log:
        with pytest.raises(queue.Empty):
            box.get_nowait()
        box.put(0)
        run(box.get)
        box.put(1)
        box.get()
        box.put(2)
    sends = [log.names.get(event.other, "channel") for event in log.events if event.kind == "send"]
    assert sends == ["main", "channel", "channel"]


def test_an_address_that_was_told_stays():
    """A reply queue in a request is the receiver of the reply, whoever reads it by then."""
    requests, replies = queue.Queue(), queue.Queue()

    def serve():
        back, number = requests.get()
        while not replies.not_empty._waiters:
            pass
        back.put(number)

    with heard() as log:
        thread = threading.Thread(target=serve)
        thread.start()
        requests.put((replies, 7))
        assert replies.get() == 7
        thread.join()
    asked = next(event.data[0] for event in log.events if event.kind == "recv")
    assert [event.other for event in log.events if event.kind == "send"][1] == asked


def test_a_declared_owner():
    import mopsus

    box, other = queue.Queue(), queue.SimpleQueue()

    def worker():
        other.put("mine")

    thread = threading.Thread(target=worker)
    with heard() as log:
        mopsus.mailbox(box, thread)
        mopsus.mailbox(other)
        box.put(1)
        thread.start()
        thread.join()
    assert log.of("main")[0] == "send worker 1"
    assert log.of("worker")[1] == "send main mine"


def test_mailboxes_and_components_in_messages_and_arguments_are_addresses():
    box = queue.Queue()
    thread = threading.Thread(target=nothing, args=([box], {"k": box}))
    with heard() as log:
        thread.start()
        thread.join()
        box.put([{"to": box, "from": thread}, 3])
    box_pid, thread_pid = log.events[-1].other, log.pid("nothing")
    assert log.events[0].data.listed() == [[box_pid], {"k": box_pid}]
    assert log.events[-1].data == [{"to": box_pid, "from": thread_pid}, 3]


def test_components_that_are_over_are_not_kept():
    import gc

    from mopsus.events.component.identity import Component

    def alive():
        gc.collect()
        return sum(isinstance(each, Component) for each in gc.get_objects())

    with heard():
        run(nothing)
        before = alive()
        for _ in range(50):
            run(nothing)
        assert alive() <= before + 1


def test_nothing_comes_after_an_exit():
    box = queue.Queue()
    threading.excepthook = lambda args: box.put("failed")

    def worker():
        raise ValueError

    with heard() as log:
        run(worker)
    assert log.of("worker")[-1].startswith("exit")
    assert box.get() == "failed"
