"""From a process that does something to one that hears of it, with every policy for a ring that is full."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from events.component.outline.outline_support import eventually

from mopsus import _core
from mopsus.events.component.occurrence import Kind
from mopsus.events.component.outline.collector import KILLED, Collector
from mopsus.events.component.outline.session import Session
from mopsus.model.term import Pid

pytestmark = pytest.mark.interpreter

WRITER = """
import sys, threading
from mopsus.events.component import hooks
from mopsus.events.component.occurrence import Function, Kind
from mopsus.events.component.outline.agent import start_agent
from mopsus.events.component.outline.session import Session
from mopsus.model.term import Atom, Pid
hooks.install = lambda emit, **how: None
agent = start_agent(Session(sys.argv[1]))
emit = agent._outlet.emit
A, B, OUTSIDE = Pid("<0.1.0>"), Pid("<0.2.0>"), Pid("<0.0.0>")
"""


class Heard:
    def __init__(self):
        self.events = []
        self.joined = []
        self.lost = {}

    def post(self, occurrence):
        self.events.append(occurrence)

    def join(self, init):
        self.joined.append(init)

    def lose(self, components):
        for component, count in components.items():
            self.lost[component] = self.lost.get(component, 0) + count

    def of(self, subject, kind):
        return [each.data for each in self.events if each.subject == subject and each.kind is kind]


@pytest.fixture
def session():
    made = Session.create()
    yield made
    made.remove()
    while _started:
        process = _started.pop()
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()


_started = []


def started(code, *words, **options):
    """A process that ends with the test, at the latest."""
    _started.append(subprocess.Popen([sys.executable, "-c", code, *words], **options))
    return _started[-1]


def begin(session, code, capacity=1 << 16, when_full="block", attend=True):
    board = _core.Board.open(session.board)
    if attend:
        assert board.attend(capacity, when_full)
    writer = started(WRITER + code, session.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    heard = Heard()
    return board, writer, heard, Collector(session, board, heard) if attend else None


def collect(collector, writer):
    while writer.poll() is None or collector.processes:
        collector.poll()
    collector.finish()


def test_what_was_left_before_its_program_began_is_removed():
    """Whoever made it was killed: it stayed for ever."""
    code = "from mopsus.events.component.outline.session import Session; print(Session.create().folder)"
    left = Path(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip())
    assert left.is_dir()
    made = Session.create()
    assert not left.exists()
    Session.create().remove()
    assert Path(made.folder).exists()  # whoever made it is there
    made.remove()


def test_everything_arrives_in_order_though_the_ring_is_small(session):
    code = "for k in range(30_000): emit(Kind.SEND, A, B, (k, 'x' * (k % 100)))\n"
    _, writer, heard, collector = begin(session, code, capacity=4096)
    collect(collector, writer)
    assert [data[0] for data in heard.of("<0.1.0>", Kind.SEND)] == list(range(30_000))
    assert not heard.lost
    assert heard.events[0].location == "<string>:12"
    assert abs(heard.events[0].time - time.time()) < 60


def test_threads_write_in_turn(session):
    code = """
def work(n):
    for k in range(3000):
        emit(Kind.RECV, Pid(f'<0.{n}.0>'), None, k)
threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 5)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
    _, writer, heard, collector = begin(session, code, capacity=8192)
    collect(collector, writer)
    for n in range(1, 5):
        assert heard.of(f"<0.{n}.0>", Kind.RECV) == list(range(3000))


def test_drop_says_whose_events_are_missing(session):
    code = """
emit(Kind.INIT, A, OUTSIDE, Function('m', 'f'))
for k in range(5000): emit(Kind.RECV, A, None, k)
emit(Kind.FORK, A, B, Function('m', 'g'))
sys.stdin.read(1)
emit(Kind.RECV, A, None, 'after')
"""
    _, writer, heard, collector = begin(session, code, capacity=4096, when_full="drop")
    eventually(session.rings)
    time.sleep(0.5)
    while collector.poll(0.2):
        pass
    writer.stdin.write(b"x")
    writer.stdin.flush()
    collect(collector, writer)
    received = heard.of("<0.1.0>", Kind.RECV)
    assert received[-1] == "after"
    assert received[:-1] == list(range(len(received) - 1))
    assert heard.lost == {"<0.1.0>": 5000 - (len(received) - 1) + 1, "<0.2.0>": 1}


def test_grow_keeps_everything_in_a_file(session):
    code = """
for k in range(20_000): emit(Kind.RECV, A, None, (k, 'x' * 50))
"""
    _, writer, heard, collector = begin(session, code, capacity=4096, when_full="grow")
    writer.wait(30)  # nobody reads, and it does not wait
    assert any(os.path.exists(session.spill(ring)) for ring in session.rings())
    collect(collector, writer)
    assert [data[0] for data in heard.of("<0.1.0>", Kind.RECV)] == list(range(20_000))
    assert not heard.lost


def test_a_writer_goes_on_when_its_reader_is_killed(session):
    reader = started(
        "import sys, time; from mopsus import _core; board = _core.Board.open(sys.argv[1]); "
        "print(board.attend(4096, 'block'), flush=True); time.sleep(600)",
        session.board,
        stdout=subprocess.PIPE,
    )
    assert reader.stdout.readline().strip() == b"True"
    code = "for k in range(100_000): emit(Kind.RECV, A, None, k)\n"
    _, writer, _, _ = begin(session, code, attend=False)
    eventually(lambda: session.rings())
    time.sleep(0.3)
    assert writer.poll() is None, "it waits for its reader"
    reader.kill()
    reader.wait()
    assert writer.wait(20) == 0


def test_too_large_and_unencodable_events_are_gaps(session):
    code = """
deep = []
for _ in range(200): deep = [deep]
emit(Kind.RECV, A, None, 'x' * 5000)
emit(Kind.RECV, B, None, deep)
emit(Kind.RECV, B, None, 1)
"""
    _, writer, heard, collector = begin(session, code, capacity=4096)
    collect(collector, writer)
    assert heard.lost == {"<0.1.0>": 1, "<0.2.0>": 1}
    assert heard.of("<0.2.0>", Kind.RECV) == [1]


def test_a_killed_process_ends_its_components(session):
    code = """
emit(Kind.INIT, A, OUTSIDE, Function('m', 'f'))
emit(Kind.INIT, B, A, Function('m', 'g'))
emit(Kind.EXIT, B, None, Atom('normal'))
emit(Kind.FORK, A, Pid('<0.3.0>'), Function('m', 'never begun'))
sys.stdin.read()
"""
    _, writer, heard, collector = begin(session, code)
    while len(heard.events) < 4:
        collector.poll()
    writer.send_signal(signal.SIGKILL)
    collect(collector, writer)
    assert [(e.subject, e.data) for e in heard.events if e.kind is Kind.EXIT] == [
        ("<0.2.0>", "normal"),
        ("<0.1.0>", KILLED),
        ("<0.3.0>", KILLED),
    ]


def test_a_process_that_ends_well_leaves_nothing_to_say(session):
    code = "emit(Kind.INIT, A, OUTSIDE, Function('m', 'f'))\n"
    _, writer, heard, collector = begin(session, code)
    collect(collector, writer)
    assert [each.kind for each in heard.events] == [Kind.INIT]


def test_components_that_live_already_are_told_when_a_reader_comes(session):
    code = """
emit(Kind.INIT, A, OUTSIDE, Function('m', 'f', (1,)))
emit(Kind.INIT, B, A, Function('m', 'g', (2,)))
emit(Kind.EXIT, B, None, Atom('normal'))
print('ready', flush=True)
sys.stdin.read(1)
emit(Kind.RECV, A, None, 'now')
sys.stdin.read(1)
emit(Kind.RECV, A, None, 'unheard')
sys.stdin.read(1)
emit(Kind.RECV, A, None, 'again')
"""
    board, writer, heard, _ = begin(session, code, attend=False)
    assert writer.stdout.readline().strip() == b"ready"
    for word in ("now", "again"):
        assert board.attend(1 << 16, "block")
        collector = Collector(session, board, heard)
        writer.stdin.write(b"x")
        writer.stdin.flush()
        while word not in heard.of("<0.1.0>", Kind.RECV):
            collector.poll()
        board.dismiss()
        assert collector.dismissed
        collector.finish()
        writer.stdin.write(b"x")
        writer.stdin.flush()
        time.sleep(0.2)
    assert writer.wait(10) == 0
    assert heard.of("<0.1.0>", Kind.RECV) == ["now", "again"]
    assert [(each.subject, each.data.arguments) for each in heard.joined] == [(Pid("<0.1.0>"), (1,))] * 2


def test_damaged_frames_are_counted_and_make_everybody_of_the_process_incomplete(session):
    code = """
emit(Kind.INIT, A, OUTSIDE, Function('m', 'f'))
emit(Kind.RECV, A, None, 'x' * 100)
emit(Kind.RECV, A, None, 'y')
"""
    _, writer, heard, collector = begin(session, code)
    writer.wait(10)
    (ring,) = session.rings()
    with open(ring, "r+b") as file:
        place = file.read().index(b"x" * 100)
        file.seek(place)
        file.write(b"z")
    collect(collector, writer)
    assert heard.lost == {"<0.1.0>": 0}
    assert heard.of("<0.1.0>", Kind.RECV) == ["y"]
    assert collector.damaged == 1


def test_forked_processes_have_rings_of_their_own(session):
    code = """
import os
emit(Kind.INIT, A, OUTSIDE, Function('m', 'f'))
child = os.fork()
for k in range(2000): emit(Kind.RECV, B if child == 0 else A, None, k)
if child == 0:
    emit(Kind.EXIT, B, None, Atom('normal'))
    os._exit(0)
os.waitpid(child, 0)
"""
    _, writer, heard, collector = begin(session, code)
    collect(collector, writer)
    assert heard.of("<0.1.0>", Kind.RECV) == heard.of("<0.2.0>", Kind.RECV) == list(range(2000))
    assert heard.of("<0.2.0>", Kind.EXIT) == ["normal"]
    assert not heard.of("<0.1.0>", Kind.EXIT)
