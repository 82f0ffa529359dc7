"""Groups have the same verdicts inline, outline and offline if sends are heard of before the recvs of their messages.

A token goes from component to component, so that what happens to it has one order; its way is random.
"""

from __future__ import annotations

import multiprocessing
import os
import queue
import subprocess
import sys
import textwrap
import threading

import pytest
from events.component.outline.test_outline_same import Beside
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mopsus
from mopsus.events.component.dispatch import Dispatcher
from mopsus.events.component.feed import make_feed
from mopsus.events.component.log.text import parse_line
from mopsus.events.component.occurrence import Kind, Occurrence
from mopsus.events.component.outline.order import InOrder
from mopsus.events.component.record import Recorder
from mopsus.model.term import Pid

M = f"'{__name__}'"
SKIP = f"[_ -> _, {M}:helper(_, _, _)]{{0}} and [_ <- _, {M}:_(_, _, _)]{{0}} and [_ ** _]{{0}}"
PROPERTY = f"""
% What is received is what was sent before, one at a time, and never negative.
with {M}:lead(_, _, _)
monitor
  max X.(
    [_ ? _]ff
    and [_:_ ! {{t, N}} when N < 0]ff
    and [_:_ ! {{t, N}} when N >= 0](max Y.(
      [_:_ ! _]ff
      and [_ ? {{t, K}} when K =/= N]ff
      and [_ ? {{t, K}} when K =:= N]X
      and {SKIP.format("Y")}))
    and {SKIP.format("X")}).
"""
FORK = multiprocessing.get_context("fork")
NEAR = (queue.Queue, queue.LifoQueue, queue.SimpleQueue, lambda: queue.Queue(1))
FAR = (FORK.Queue, FORK.SimpleQueue, lambda: FORK.Queue(1))
COUNT = 3


def helper(number, boxes, way):
    """Pass the token on for as long as there is a way."""
    while True:
        _, value = boxes[number].get()
        at = abs(value)
        if at + 1 < len(way):
            target, sign = way[at + 1]
            boxes[target].put(("t", (at + 1) * sign))
        if number not in [each for each, _ in way[at + 1 :]]:
            return


def lead(start, boxes, way):
    """Start the helpers, each in a thread or process, and then the token."""
    used = {number for number, _ in way}
    helpers = [start(target=helper, args=(number, boxes, way)) for number in range(COUNT) if number in used]
    for each in helpers:
        each.start()
    boxes[way[0][0]].put(("t", 0))
    for each in helpers:
        each.join()


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    path = tmp_path_factory.mktemp("specs") / "token.hml"
    path.write_text(PROPERTY)
    (loaded,) = mopsus.load(path).values()
    return loaded


def ways():
    """Whom the token visits, and whether it is negative then."""
    visits = st.tuples(st.integers(0, COUNT - 1), st.sampled_from([1, 1, 1, 1, -1]))
    return st.lists(visits, min_size=2, max_size=12)


def offline(spec, lines):
    found = []
    with spec.monitor(found.append) as monitor:
        dispatcher = Dispatcher([make_feed(spec, monitor)], groups=True)
        for line in lines:
            dispatcher.post(parse_line(line)[0])
        dispatcher.finish()
    return found


def three_ways(spec, start, boxes, way, log):
    within = []
    recorder = Recorder(str(log))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with (
            Beside([spec], groups=True, envelopes=True) as beside,
            mopsus.watch_components(spec, groups=True, envelopes=True, on_verdict=within.append),
        ):
            recorder.start(envelopes=True)
            first = threading.Thread(target=lead, args=(start, boxes, way))
            first.start()
            first.join()
            recorder.stop()
    finally:
        sys.setswitchinterval(interval)
    found = (within, beside.found, offline(spec, log.read_text().splitlines()))
    return [[verdict.category for verdict in each] for each in found]


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(way=ways(), makers=st.lists(st.sampled_from(NEAR), min_size=COUNT, max_size=COUNT))
def test_groups_of_threads_three_ways(spec, tmp_path_factory, way, makers):
    boxes = [make() for make in makers]
    within, beside, log = three_ways(spec, threading.Thread, boxes, way, tmp_path_factory.getbasetemp() / "log")
    wrong = any(sign < 0 for _, sign in way[1:])
    assert within == beside == log == (["rejection"] if wrong else [])


@pytest.mark.exhaustive
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(way=ways(), makers=st.lists(st.sampled_from(FAR), min_size=COUNT, max_size=COUNT))
def test_groups_that_cross_processes_beside_and_by_log(spec, tmp_path_factory, way, makers):
    """Within, each process has monitors of its own."""
    boxes = [make() for make in makers]
    _, beside, log = three_ways(spec, FORK.Process, boxes, way, tmp_path_factory.getbasetemp() / "log")
    wrong = any(sign < 0 for _, sign in way[1:])
    assert beside == log == (["rejection"] if wrong else [])


# ---- the command line

PROGRAM = """
import queue, threading
def helper(box, back):
    while (value := box.get()) is not None:
        back.put(value)
def lead(count):
    box, back = queue.Queue(), queue.Queue()
    thread = threading.Thread(target=helper, args=(box, back))
    thread.start()
    for number in range(count):
        box.put(number)
        back.get()
    box.put(None)
    thread.join()
first = threading.Thread(target=lead, args=(300,))
first.start()
first.join()
"""
TURNS = """
with relay:lead(_) monitor max X.(
  [_ ? _]ff
  and [_:_ ! _](max Y.([_:_ ! _]ff and [_ ? _]X and [_ ** _]Y
    and [_ -> _, relay:_(_, _)]Y and [_ <- _, relay:_(_, _)]Y))
  and [_ ** _]X and [_ -> _, relay:_(_, _)]X and [_ <- _, relay:_(_, _)]X and [_ <- _, relay:_(_)]X).
"""


@pytest.fixture
def program(tmp_path):
    (tmp_path / "relay.py").write_text(textwrap.dedent(PROGRAM))
    (tmp_path / "turns.hml").write_text(TURNS)
    return tmp_path


def mopsus_command(folder, *words):
    command = [sys.executable, "-m", "mopsus", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False, env=os.environ)


@pytest.mark.parametrize("outline", [[], ["--outline"]])
def test_run(program, outline):
    done = mopsus_command(
        program, "run", *outline, "--groups", "--envelopes", "--fail-on-violation", "turns.hml", "--", "relay.py"
    )
    assert done.returncode == 0, done.stderr
    assert "no violations in 1," in done.stderr


def test_record(program):
    assert mopsus_command(program, "component", "record", "--envelopes", "-o", "log", "--", "relay.py").returncode == 0
    done = mopsus_command(program, "check", "--groups", "turns.hml", "log")
    assert done.returncode == 0, done.stdout


def test_one_monitor_process_only(program):
    done = mopsus_command(program, "run", "--outline", "--envelopes", "--monitors", "2", "turns.hml", "--", "relay.py")
    assert done.returncode == 2
    assert "CLI-005" in done.stderr


# ---- the order of rings


class Listed:
    def __init__(self):
        self.heard = []

    def post(self, occurrence):
        self.heard.append(occurrence.data)

    def join(self, init):
        self.heard.append(init.data)

    def lose(self, components):
        self.heard.append(components)


@given(st.lists(st.tuples(st.floats(0, 100), st.integers()), max_size=30), st.floats(0, 100))
def test_what_happened_until_then_is_passed_on_by_time(events, until):
    listed = Listed()
    order = InOrder(listed)
    for when, data in events:
        order.post(Occurrence(Kind.RECV, Pid("<0.1.0>"), None, data, when))
    order.release(until)
    by_time = sorted(events, key=lambda event: event[0])
    assert listed.heard == [data for when, data in by_time if when <= until]
    order.release(None)
    assert listed.heard == [data for _, data in by_time]
