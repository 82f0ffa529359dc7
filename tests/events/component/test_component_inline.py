"""Components watched where they run: verdicts, when and where they come, and that the program does not notice."""

import asyncio
import queue
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from events.component.component_support import heard
from hypothesis import given, settings
from hypothesis import strategies as st

import mopsus
from mopsus.events.component.dispatch import Dispatcher
from mopsus.events.component.inline import Inline
from mopsus.events.component.occurrence import Function, Kind, Occurrence
from mopsus.model.term import Atom, Pid

pytestmark = pytest.mark.interpreter

HERE = f"'{__name__}'"
"""This module as an atom."""

REPLIES = f"""
% A reply goes to who asked.
with {HERE}:serve(_)
monitor
  max(X. and(
    [_ <- _, {HERE}:serve(_)]X,
    [_ ? {{From, _}}]and([_:To ! _ when To =/= From]ff, [_:To ! _ when To =:= From]X),
    [_ ? stop]X)).
"""


def serve(wrong):
    while (asked := inbox.get()) != "stop":
        box, number = asked
        (other if number == wrong else box).put(("ok", number))


inbox: queue.Queue = queue.Queue()
other: queue.Queue = queue.Queue()


def session(wrong=None, count=4):
    server = threading.Thread(target=serve, args=(wrong,))
    server.start()
    mine: queue.Queue = queue.Queue()
    for number in range(count):
        inbox.put((mine, number))
        if number != wrong:
            assert mine.get() == ("ok", number)
    inbox.put("stop")
    server.join()


@pytest.fixture
def replies(tmp_path):
    path = tmp_path / "replies.hml"
    path.write_text(REPLIES)
    return path


def test_a_wrong_reply_is_found_where_it_is_given(replies):
    seen = []

    def found(verdict):
        if verdict.violation:
            seen.append((verdict, threading.current_thread().name))

    with mopsus.weave(replies, on_verdict=found):
        session(wrong=2)
    ((verdict, thread),) = seen
    assert (verdict.property, verdict.category) == ("serve", "rejection")
    assert "(serve)" in thread  # in the component that did it
    assert verdict.location.startswith(__file__)
    line = Path(__file__).read_text().splitlines()[int(verdict.location.rpartition(":")[2]) - 1]
    assert "put((" in line
    assert [event.event for event in verdict.witness][-2:] == ["recv", "send"]


def test_nothing_is_found_where_nothing_is_wrong(replies):
    with mopsus.weave(replies) as watch:
        session()
        assert watch.monitors["replies"].stats().seen["recv"] == 5
    assert not [verdict for verdict in watch.verdicts if verdict.violation]


def test_a_verdict_is_given_once_and_later_events_are_counted(replies):
    with mopsus.weave(replies) as watch:
        session(wrong=0, count=6)
        counted = watch.monitors["replies"].stats()
    assert [verdict.category for verdict in watch.verdicts] == ["rejection"]
    assert counted.seen["recv"] == 7


def test_install_watches_components_too(replies):
    watch = mopsus.install(replies)
    try:
        session(wrong=1)
    finally:
        watch.stop()
    assert [verdict.category for verdict in watch.verdicts] == ["rejection"]


def test_instances_go_with_their_components(replies):
    with mopsus.weave(replies) as watch:
        for _ in range(10):
            session(count=1)
        stats = watch.monitors["replies"].stats()
    assert (stats.created, stats.alive) == (10, 0)


def test_messages_that_are_not_kept(replies):
    with mopsus.watch_components(replies, keep=lambda message: message != ("ok", 2)) as watch:
        session(wrong=2)
        assert watch.monitors["replies"].stats().seen["send"] == 3
    assert not [verdict for verdict in watch.verdicts if verdict.violation]


@mopsus.watch_components(
    mopsus.parse("S(p) { event e(p) : recv(p, 1) ere : e @match { raise ValueError } }"), keep=lambda message: True
)
def decorated():
    box: queue.Queue = queue.Queue()
    box.put(1)
    box.get()


def test_a_decorated_function_whose_handler_fails(caplog):
    decorated()
    assert "fault in a monitor of S" in caplog.text


def test_several_watch_at_once(replies):
    with heard() as log, mopsus.weave(replies) as one, mopsus.weave(replies) as two:
        session(wrong=0)
    assert len(one.verdicts) == len(two.verdicts) == 1
    assert one.verdicts[0].binding == two.verdicts[0].binding == {"component": log.pid("serve")}


def test_an_error_in_a_listener_does_not_reach_the_program(caplog):
    from mopsus.events.component import hooks

    def listener(*args):
        raise RuntimeError("mine")

    before = hooks.faults()
    undo = hooks.install(listener)
    try:
        session()
    finally:
        undo()
    assert hooks.faults() - before > 8
    assert caplog.text.count("fault in watching components") == 1


def test_what_a_handler_sends_is_no_event():
    box: queue.Queue = queue.Queue()
    text = "import queue\nS(p) { event e(p) : recv(p, 1) ere : e @match { queue.Queue().put(7) } }"
    with heard() as log, mopsus.weave(mopsus.parse(text)["S"]) as watch:
        box.put(1)
        box.get()
    assert [event.data for event in log.events] == [1, 1]
    assert len(watch.verdicts) == 1


# ---- every logic

LOGICS = {
    "ere": "ere : (got sent)* over\n @fail {}",
    "fsm": "fsm : idle [got -> busy, over -> idle]\n busy [sent -> idle]\n @fail {}",
    "ltl": "ltl : [] (sent -> (*) got) \n @violation {}",
    "ptltl": "ptltl : sent -> (*) got\n @violation {}",
    "cfg": "cfg : S -> got sent S | over | epsilon\n @fail {}",
    "srs": "srs : got sent -> #epsilon . ^ over -> #epsilon . sent -> #fail . got got -> #fail .\n @fail {}",
    "ptcaret": "ptcaret : sent -> (*) got\n @violation {}",
    "mtl": "mtl : sent -> once[0s, 1000s] got && (*) got\n @violation {}",
    "shml": "shml : max X.([got] [sent] X and [sent] ff and [over] X)",
    "maxhml": "maxhml : max X.([got] <sent> X and [sent] ff and [over] X)",
}


def one(good):
    box.get()
    box.put(1)
    if not good:
        box.put(2)


box: queue.SimpleQueue = queue.SimpleQueue()


def spec_of(logic):
    return mopsus.parse(
        "S(p) {\n"
        f"  event got(p) : recv(p, _) && runs({__name__}.one)\n"
        f"  event sent(p) : send(p, _, _) && runs({__name__}.one)\n"
        f"  event over(p) : exit(p, _) && runs({__name__}.one)\n"
        f"  {LOGICS[logic]}\n"
        "}"
    )["S"]


@pytest.mark.parametrize("logic", LOGICS)
def test_every_logic(logic):
    with mopsus.weave(spec_of(logic)) as watch:
        for good in (True, False, True):
            box.put(0)
            thread = threading.Thread(target=one, args=(good,))
            thread.start()
            thread.join()
            box.get()
            if not good:
                box.get()
    bad = [verdict for verdict in watch.verdicts if verdict.violation]
    assert len({verdict.binding["p"] for verdict in bad}) == 1
    assert bad[0].location.startswith(__file__)


# ---- other components


def test_tasks(tmp_path):
    path = tmp_path / "tasks.hml"
    path.write_text(f"with {HERE}:doubler(_, _) check max X.([{{_ ? N}}]<{{_:_ ! M when M =:= 2 * N}}>X).")

    async def main():
        inbox, out = asyncio.Queue(), asyncio.Queue()
        task = asyncio.create_task(doubler(inbox, out))
        for number in range(5):
            await inbox.put(number)
            await out.get()
        task.cancel()

    with mopsus.weave(path) as watch:
        asyncio.run(main())
    (verdict,) = watch.verdicts
    assert verdict.category == "acceptance"  # at its init, which is no message


async def doubler(inbox, out):
    while True:
        number = await inbox.get()
        await out.put(2 * number + (number == 3))


def test_processes_in_which_something_is_wrong(tmp_path):
    (tmp_path / "work.py").write_text(
        "import multiprocessing as mp, sys\n"
        "def work(box, n):\n"
        "    for k in range(n): box.put(k)\n"
        "if __name__ == '__main__':\n"
        "    mp.set_start_method(sys.argv[1])\n"
        "    box = mp.Queue()\n"
        "    for n in (1, 3):\n"
        "        p = mp.Process(target=work, args=(box, n)); p.start()\n"
        "        for _ in range(n): box.get()\n"
        "        p.join()\n"
    )
    (tmp_path / "few.hml").write_text(
        "with work:work(_, _) monitor and([_ <- _, work:work(_, _)]and([_:_ ! _]and([_:_ ! _]ff)))."
    )
    for method in ("fork", "spawn"):
        command = [sys.executable, "-m", "mopsus", "run", "--fail-on-violation", "few.hml", "--", "work.py", method]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 1, done.stderr
        assert done.stderr.count("few/work  rejection") == 1


# ---- the same as by the dispatcher

PIDS = [Pid(f"<0.{k}.0>") for k in range(1, 6)]
FUNCTIONS = [Function("m", name) for name in ("a", "b", "c")]


class Written:
    """A feed that writes down what it hears."""

    def __init__(self, names):
        self.names = names
        self.heard = []

    def selects(self, function):
        return function is not None and function.name in self.names

    def start(self, component, function, cause):
        self.heard.append(("start", component, function.name))

    def event(self, component, occurrence):
        self.heard.append((component, occurrence))

    def end(self, component):
        self.heard.append(("end", component))


@st.composite
def runs(draw):
    """Events as they come in one process: a fork before anything that the child does, and an exit last."""
    events, alive, next_pid = [], {PIDS[0]: True}, 1
    for _ in range(draw(st.integers(0, 20))):
        pid = draw(st.sampled_from(sorted(alive)))
        kind = draw(st.sampled_from(list(Kind)))
        if kind is Kind.FORK and next_pid < len(PIDS):
            child, next_pid = PIDS[next_pid], next_pid + 1
            function = draw(st.sampled_from(FUNCTIONS))
            events.append(Occurrence(kind, pid, child, function))
            if draw(st.booleans()):
                events.append(Occurrence(Kind.INIT, child, pid, function))
            alive[child] = True
        elif kind in (Kind.SEND, Kind.RECV):
            events.append(Occurrence(kind, pid, PIDS[0] if kind is Kind.SEND else None, len(events)))
        elif kind is Kind.EXIT and pid != PIDS[0]:
            events.append(Occurrence(kind, pid, None, Atom("normal")))
            del alive[pid]
    return events


@settings(deadline=None)
@given(runs(), st.sets(st.sampled_from("abc")), st.sets(st.sampled_from("abc")), st.booleans())
def test_inline_hears_what_a_dispatcher_delivers(events, first, second, groups):
    ours, theirs = ([Written(first), Written(second)] for _ in range(2))
    inline, dispatcher = Inline(ours, groups=groups), Dispatcher(theirs, groups=groups, roots=[PIDS[0]])
    for event in events:
        inline.emit(*event[:4])
        dispatcher.post(event)
    dispatcher.finish()
    assert [feed.heard for feed in ours] == [feed.heard for feed in theirs]


def test_with_pytest(tmp_path):
    (tmp_path / "answers.hml").write_text(
        "with test_answers:serve(_) monitor max X.([_ <- _]X and [_ ? _][_:_ ! 2]ff)."
    )
    (tmp_path / "test_answers.py").write_text(
        "import queue, threading\n"
        "def serve(box):\n"
        "    box.get(); box.put(2)\n"
        "def test_it():\n"
        "    box = queue.Queue(); box.put(1)\n"
        "    thread = threading.Thread(target=serve, args=(box,)); thread.start(); thread.join()\n"
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--mopsus",
        "answers.hml",
        "--mopsus-fail",
        "-p",
        "no:cacheprovider",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1, done.stdout
    assert "answers/serve  rejection" in done.stdout
