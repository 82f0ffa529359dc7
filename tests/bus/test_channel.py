"""Messages over pipes and sockets of all kinds: in order, whole, and nothing is raised when the other end is gone."""

from __future__ import annotations

import contextlib
import os
import random
import socket
import threading
import time

import pytest

from mopsus.bus import BusError, Channel, framed

LONG = bytes(range(256)) * 20_000
"""More than a line takes at once."""


def pipe(folder):
    reading, writing = os.pipe()
    return Channel.of_descriptor(writing), Channel.of_descriptor(reading)


def pair(folder):
    return Channel.pair()


def served(door):
    with door:
        door.listen()
        ours = socket.socket(door.family)
        ours.connect(door.getsockname())
        return Channel(ours), Channel(door.accept()[0])


def unix(folder):
    door = socket.socket(socket.AF_UNIX)
    door.bind(str(folder / "s"))
    return served(door)


def tcp(folder):
    door = socket.socket()
    door.bind(("127.0.0.1", 0))
    return served(door)


def inherited(folder):
    ours, theirs = socket.socketpair()
    return Channel(ours), Channel.of_descriptor(theirs.detach())


LINES = [pipe, pair, unix, tcp, inherited]


@pytest.fixture(params=LINES, ids=lambda make: make.__name__)
def ends(request, tmp_path):
    both = request.param(tmp_path)
    yield both
    for end in both:
        with contextlib.suppress(OSError):  # a test has closed it
            end.close()


def test_messages_arrive_in_order(ends):
    source, target = ends
    bodies = [b"", b"a", LONG, b"\0" * 7, LONG[:70_000]]
    sending = threading.Thread(target=lambda: [source.send(body) for body in bodies])
    sending.start()
    assert [target.receive() for _ in bodies] == bodies
    sending.join()


def test_nothing_is_read_ahead(ends):
    source, target = ends
    assert source.send(b"one")
    assert source.send(b"two")
    assert target.receive() == b"one"
    assert os.read(target.fileno(), 100) == framed(b"two")


def test_messages_that_are_put_arrive_without_waiting(ends):
    source, target = ends
    draw = random.Random(7)
    bodies = [draw.randbytes(draw.choice((0, 1, 100, 5000, 100_000))) for _ in range(60)]
    found, rest = [], list(bodies)
    until = time.monotonic() + 60
    while len(found) < len(bodies):
        assert time.monotonic() < until
        if rest and draw.random() < 0.5:
            source.put(rest.pop(0))
        source.flush()
        found += target.arrived()
    assert found == bodies
    assert not source.pending
    assert target.arrived() == []


def test_flush_says_whether_there_is_room(ends):
    source, target = ends
    assert source.flush()
    source.put(LONG * 2)
    began = time.monotonic()
    assert not source.flush(0.05)
    assert time.monotonic() - began >= 0.05
    assert source.pending
    found: list[bytes] = []
    while not found:
        found = target.arrived()
        source.flush()
    assert found == [LONG * 2]
    assert not source.pending


def test_an_end_that_waits_hears_what_comes(ends):
    source, target = ends
    assert target.arrived(0.01) == []
    timer = threading.Timer(0.05, source.send, (b"late",))
    timer.start()
    assert target.arrived(None) == [b"late"]


def test_the_end_of_the_other_end_is_noticed(ends):
    source, target = ends
    source.send(b"last")
    source.close()
    assert target.receive() == b"last"
    assert not target.gone
    assert target.receive() is None
    assert target.gone


def test_the_end_is_noticed_without_waiting(ends):
    source, target = ends
    source.put(b"last")
    source.flush()
    source.close()
    assert target.arrived(1.0) == [b"last"]
    assert target.arrived(1.0) == []
    assert target.gone


def test_sending_to_an_end_that_is_gone_raises_nothing(ends):
    source, target = ends
    target.close()
    for _ in range(3):  # TCP tells it late
        source.send(LONG)
    assert source.gone
    assert not source.send(b"x")
    source.put(b"x")
    assert source.flush()


def test_what_was_put_is_dropped_when_the_other_end_goes(ends):
    source, target = ends
    source.put(LONG * 2)
    assert not source.flush()
    target.close()
    until = time.monotonic() + 10
    while not source.gone:
        assert time.monotonic() < until
        source.flush(0.1)
    assert source.flush()
    assert not source.pending


def test_a_message_that_is_cut_off_is_not_given(ends):
    source, target = ends
    os.write(source.fileno(), framed(b"whole") + framed(b"half")[:-1])
    source.close()
    assert target.receive() == b"whole"
    assert target.receive() is None


@pytest.mark.parametrize("take", [Channel.receive, lambda end: end.arrived(1.0)])
def test_damaged_bytes_are_refused(ends, take):
    source, target = ends
    os.write(source.fileno(), b"\xff" * 100)
    with pytest.raises(BusError, match="damaged"):
        take(target)


def test_several_threads_may_send(ends):
    source, target = ends
    bodies = [bytes([number]) * 30_000 for number in range(8)]
    threads = [threading.Thread(target=source.send, args=(body,)) for body in bodies]
    for thread in threads:
        thread.start()
    assert sorted(target.receive() for _ in bodies) == bodies
    for thread in threads:
        thread.join()


def test_a_thread_that_receives_learns_that_its_end_is_shut():
    ours, theirs = Channel.pair()
    found = []
    thread = threading.Thread(target=lambda: found.append(ours.receive()))
    thread.start()
    ours.shut()
    thread.join(10)
    assert found == [None]
    ours.shut()
    for end in (ours, theirs):
        end.close()


def test_an_end_that_was_handed_down_is_not_for_further_programs():
    reading, writing = os.pipe()
    os.set_inheritable(reading, True)
    end = Channel.of_descriptor(reading)
    assert end.fileno() == reading
    assert not os.get_inheritable(reading)
    end.shut()
    end.close()
    os.close(writing)
