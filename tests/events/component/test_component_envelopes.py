"""With envelopes, a send is heard of before the recv of its message, however slow its sender is to tell."""

import multiprocessing
import queue
import threading
import time

import pytest
from events.component.component_support import heard

from mopsus.events.component import hooks
from mopsus.events.component.occurrence import Kind

pytestmark = pytest.mark.interpreter

FORK = multiprocessing.get_context("fork")


def order(box, envelopes):
    """The kinds of events of one message, heard by somebody who takes time for each send."""
    kinds = []

    def slow(kind, subject, other, data):
        if kind is Kind.SEND:
            time.sleep(0.05)
        if kind is Kind.SEND or kind is Kind.RECV:
            kinds.append(kind.value)

    undo = hooks.install(slow, envelopes=envelopes)
    try:
        taker = threading.Thread(target=lambda: box.get())
        taker.start()
        box.put(("v", 1))
        taker.join()
    finally:
        undo()
    return kinds


BOXES = [queue.Queue, queue.LifoQueue, queue.PriorityQueue, queue.SimpleQueue, FORK.Queue, FORK.SimpleQueue]


@pytest.mark.parametrize("make", BOXES)
def test_a_send_comes_before_its_recv(make):
    assert order(make(), True) == ["send", "recv"]


@pytest.mark.parametrize("make", [queue.Queue, queue.SimpleQueue])
def test_that_is_not_so_without(make):
    assert order(make(), False) == ["recv", "send"]


def test_pipes():
    kinds = []

    def slow(kind, *_):
        if kind is Kind.SEND:
            time.sleep(0.05)
        if kind is Kind.SEND or kind is Kind.RECV:
            kinds.append(kind.value)

    undo = hooks.install(slow, envelopes=True)
    try:
        here, there = FORK.Pipe()
        taker = threading.Thread(target=lambda: there.recv())
        taker.start()
        here.send("one")
        taker.join()
    finally:
        undo()
    assert kinds == ["send", "recv"]


@pytest.mark.parametrize("put", [lambda q: q.put_nowait(2), lambda q: q.put(2, False), lambda q: q.put(2, timeout=0)])
@pytest.mark.parametrize("make", [queue.Queue, FORK.Queue])
def test_what_found_no_room_was_not_sent(make, put):
    with heard(envelopes=True) as log:
        box = make(1)
        box.put(1)
        with pytest.raises(queue.Full):
            put(box)
        assert box.get() == 1
    assert log.of("main") == ["send channel 1", "recv 1"]


def test_what_found_room_was_sent_once():
    with heard(envelopes=True) as log:
        box = queue.Queue(3)
        box.put_nowait(1)
        box.put(2, timeout=1)
        box.put(3)
    assert log.of("main") == ["send channel 1", "send channel 2", "send channel 3"]


def test_messages_are_left_alone():
    with heard(envelopes=True):
        box = queue.PriorityQueue()
        for number in (3, 1, 2):
            box.put(number)
        assert box.queue[0] == 1
    assert [box.get() for _ in range(3)] == [1, 2, 3]


def test_who_listens_already_goes_on_hearing_of_every_message_once():
    with heard() as first:
        box = queue.Queue()
        box.put(1)
        with heard(envelopes=True) as second:
            box.put(2)
            box.get()
        box.get()
    assert first.of("main") == ["send channel 1", "send channel 2", "recv 1", "recv 2"]
    assert second.of("main") == ["send channel 2", "recv 1"]


def test_the_order_is_forgotten_when_nobody_listens():
    order(queue.Queue(), True)
    assert order(queue.Queue(), False) == ["recv", "send"]
