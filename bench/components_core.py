"""Formulas with data by themselves: events whose data lies ready in the core, beside a loop that only looks at them.

The properties are those that detectEr's test vectors use: reports are not negative (*loop*), answers go to who asked
(*data*), limits are kept and every request has one of two answers (linear time; the second with `or`), and the first
again with its guard in Python. `add` is the property at whose every addition detectEr's linear-time monitor doubles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from harness import Goal, Row, Side, Timing, measure, quotients

import mopsus
from mopsus import _core
from mopsus.model.term import Atom, Pid
from mopsus.monitor import Monitor

LOOP = """with jobs:worker(_) monitor and([_ <- _, jobs:worker(_)] max(X. and(
  [_ ? _]X, [_:_ ! {left, N} when N < 0]ff, [_:_ ! {left, N} when N >= 0]X, [_:_ ! {done, _}]X)))."""
DATA = """with jobs:worker(_) monitor and([_ <- _, jobs:worker(_)] max(X. and([_ ? {From, {job, Id}}] max(Y. and(
  [_:To ! {done, Id2} when Id2 =:= Id, To =/= From]ff, [_:To ! {done, Id2} when Id2 =:= Id, To =:= From]X,
  [_ ? _]Y)))))."""
LIMIT = """with jobs:worker(_) check [{_ <- _, jobs:worker(N)}] max X.(
  [{_ ? {prio, K} when K > N}]ff and [{_ ? {prio, K} when K =< N}]X)."""
ANSWERS = """with jobs:worker(_) check [{_ <- _, jobs:worker(_)}] max X.([{_ ? {job, Id}}](
  <{_:_ ! {done, Id2} when Id2 =:= Id}>X or <{_:_ ! {fail, Id2} when Id2 =:= Id}>X))."""
ADD = """with jobs:worker(_) check [{_ <- _, jobs:worker(_)}] max X.(
  [{_ ? {add, A, B}}]([{_:_ ! {ok, C} when C =/= A + B}]ff and [{_:_ ! {ok, C} when C =:= A + B}]X)
  and [{_ ? _}][{_:_ ! _}]X)."""
PYTHON = """Worker(component) {
    creation event init(component; parent, subject, module, function, arguments)
    event send(component; subject, receiver, message)
    event recv(component; subject, message)
    shml : [init(_, _, _, _, _)] max X.(
        [recv(_, _)]X and [send(_, _, ("done", _))]X
        and [send(_, _, ("left", n)) when len(str(n)) < 1]ff and [send(_, _, ("left", n)) when len(str(n)) >= 1]X)
}"""

WORKER, CLIENT, OTHER, PARENT = (Pid(f"<0.{number}.0>") for number in (20, 30, 31, 10))
START = (Atom("jobs"), Atom("worker"), [3])
EVENTS = 1_000
TIMES = 2_000

Happening = tuple[str, tuple[Any, ...]]


def recv(message: object) -> Happening:
    return "recv", (WORKER, message)


def send(receiver: Pid, *message: object) -> Happening:
    return "send", (WORKER, receiver, message)


def job(number: int) -> tuple[object, ...]:
    return Atom("job"), number


def looping(k: int) -> Sequence[Happening]:
    return recv(job(k)), send(CLIENT, Atom("done"), k), recv(Atom("quit")), send(CLIENT, Atom("left"), k)


def asking(k: int) -> Sequence[Happening]:
    return recv((CLIENT, job(k))), recv((OTHER, job(k + 1))), send(CLIENT, Atom("done"), k)


def ranked(k: int) -> Sequence[Happening]:
    return (recv((Atom("prio"), k % 4)),)


def answered(k: int) -> Sequence[Happening]:
    return recv(job(k)), send(CLIENT, Atom(("done", "fail")[k % 2]), k)


def added(k: int) -> Sequence[Happening]:
    return recv((Atom("add"), k, k + 1)), send(CLIENT, Atom("ok"), 2 * k + 1)


def make(text: str, round_: Callable[[int], Sequence[Happening]], history: int) -> tuple[Monitor, _core.Prepared, int]:
    """A monitor of one worker that has begun, events that it can take again and again, and how many."""
    name = "worker.hml" if text.startswith("with") else "worker.mop"
    (spec,) = mopsus.parse(text, name).values()
    monitor = Monitor(spec, history=history)
    numbers = {event.name: number for number, event in enumerate(spec.events)}
    if "start" in numbers:
        monitor.event("start")(str(WORKER), *START)
    monitor.event("init")(str(WORKER), PARENT, WORKER, *START)
    rounds = EVENTS // len(round_(0))
    events = [(numbers[event], (str(WORKER), *data)) for k in range(rounds) for event, data in round_(k)]
    return monitor, _core.Prepared(monitor._core, events), len(events)


def side(text: str, round_: Callable[[int], Sequence[Happening]], history: int, times: int) -> Side:
    """The same events again and again; nothing may be reported."""
    monitor, prepared, _ = make(text, round_, history)

    def work(_: object) -> int:
        _core.replay(monitor._core, prepared, times)
        if monitor.verdicts or monitor.stats().alive != 1:
            raise AssertionError("the property is decided")
        return monitor.stats().obligations

    return Side(work)


def scanning(prepared: _core.Prepared, times: int) -> Side:
    """The bare loop: every event is looked at."""
    return Side(lambda _: prepared.scan(times))


def rows(scale: float) -> list[Row]:
    """All rows of the table."""
    times = max(1, round(TIMES * scale))
    cases = {
        "loop": (LOOP, looping),
        "data": (DATA, asking),
        "linear, limit": (LIMIT, ranked),
        "linear, or": (ANSWERS, answered),
        "linear, add": (ADD, added),
        "guards in Python": (PYTHON, looping),
    }
    found = []
    for name, (text, round_) in cases.items():
        _, prepared, count = make(text, round_, 0)
        repeat = max(1, times // 10) if name == "guards in Python" else times
        timings = measure(
            {
                "off": side(text, round_, 0, repeat),
                "on": side(text, round_, 32, repeat),
                "scan": scanning(prepared, repeat),
                "data": side(DATA, asking, 0, repeat),
            },
            rounds=5,
        )
        found += _rows(name, timings, count * repeat, timings["data"], repeat)
    return found


def _rows(name: str, timings: dict[str, Timing], events: int, data: Timing, repeat: int) -> list[Row]:
    off, on, scan = timings["off"], timings["on"], timings["scan"]
    goal = None if name.startswith("linear") else Goal("≥", 1 if name == "guards in Python" else 10, of="ours")
    result = [
        Row(
            case=name,
            unit="M events/s",
            ours=off.rate(events),
            base="loop over the same events",
            theirs=scan.rate(events),
            ratio=quotients(scan.seconds, off.seconds),
            goal=goal,
        ),
        Row(
            case=f"{name}, explanations on",
            unit="M events/s",
            ours=on.rate(events),
            base="the same without",
            theirs=off.rate(events),
            ratio=quotients(on.seconds, off.seconds),
            goal=Goal("≤", 2),
        ),
    ]
    if name.startswith("linear"):
        count = EVENTS // 3 * 3 * repeat  # events of `data`
        per_event = [seconds / count for seconds in data.seconds]
        result.append(
            Row(
                case=f"{name}, beside data",
                unit="M events/s",
                ours=off.rate(events),
                base="data",
                theirs=data.rate(count),
                ratio=quotients([seconds / events for seconds in off.seconds], per_event),
                goal=Goal("≤", 2),
            )
        )
    return result
