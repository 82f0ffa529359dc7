"""Logs of components: from detectEr's text format to verdicts, beside a loop that only cuts the file into lines.

A calculator gets requests for sums and answers them; the property says that each answer is the sum. The logs are as
long as those that detectEr was measured with, and as many servers share them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from harness import Goal, Row, Side, measure, speed_row

import mopsus
from mopsus import _core
from mopsus.events.component.log import jsonl, text
from mopsus.events.component.log.checking import ComponentLogs
from mopsus.events.feeding import BareRun, BlockSource, feed_alone
from mopsus.model import Spec, Verdict
from mopsus.monitor import Monitor
from mopsus.monitor.listener import OnVerdict

SUMS = """
with calc:loop(_) monitor
  and([_ <- _, calc:loop(_)] max(X. and(
    [_ ? {_, {add, A, B}}] and([_:_ ! {ok, C} when C =/= A + B]ff, [_:_ ! {ok, C} when C =:= A + B]X)))).
"""
LINEAR = """
with calc:loop(_) check
  [{_ <- _, calc:loop(_)}] max X.(
    [{_ ? {_, {add, A, B}}}]([{_:_ ! {ok, C} when C =/= A + B}]ff and [{_:_ ! {ok, C} when C =:= A + B}]X)).
"""
LINES = 200_000
JSON_LINES = 20_000


def lines(count: int, servers: int) -> Iterator[str]:
    """A log of so many requests and answers of so many servers, the last of them wrong."""
    pids = [f"<0.{20 + number}.0>" for number in range(servers)]
    for pid in pids:
        yield f"fork(<0.10.0>,{pid},{{calc,loop,[0]}})"
        yield f"init({pid},<0.10.0>,{{calc,loop,[0]}})"
    for number in range(count // 2):
        pid = pids[number % servers]
        yield f"recv({pid},{{<0.9.0>,{{add,{number},{number + 1}}}}})"
        yield f"send({pid},<0.9.0>,{{ok,{2 * number + (number < count // 2 - 1)}}})"


def check(source: str, log: Path, history: int) -> int:
    """How many verdicts there are."""
    found: list[Verdict] = []

    def open_monitor(spec: Spec, on_verdict: OnVerdict) -> Monitor:
        return Monitor(spec, on_verdict=on_verdict, history=history)

    specs = list(mopsus.parse(source, "calc.hml").values())
    result = feed_alone(BlockSource(ComponentLogs([str(log)])), BareRun(specs, open_monitor, found.append))
    if result.error is not None or len(found) != 1:
        raise AssertionError(f"{len(found)} verdicts, {result.error}")
    return len(found)


def split(log: Path) -> int:
    """The bare loop: every line once."""
    count = 0
    with log.open("rb") as file:
        for _ in file:
            count += 1
    return count


def parse(log: Path) -> None:
    """The core reads every line, and nobody wants to hear of it."""
    core = _core.DirectLog([], [])
    data = log.read_bytes()
    for number in range(20, 120):
        core.settle(f"<0.{number}.0>", [], True)
    at, line = 0, 1
    while at < len(data):
        at, line, stopped = core.run(data, at, line)
        if stopped:
            at, line = data.index(b"\n", at) + 1, line + 1


def rows(scale: float) -> list[Row]:
    """All rows of this benchmark."""
    with tempfile.TemporaryDirectory() as scratch:
        count = max(int(LINES * scale), 200)
        one, many = Path(scratch, "one.log"), Path(scratch, "many.log")
        for log, servers in ((one, 1), (many, 100)):
            log.write_text("".join(f"{line}\n" for line in lines(count, servers)), encoding="utf-8")
        short = Path(scratch, "short.jsonl")
        fewer = max(int(JSON_LINES * scale), 200)
        short.write_text("".join(_json_lines(fewer)), encoding="utf-8")
        return [
            _beside(f"lines read, {count:,}", count, partial(parse, one), one),
            *(
                _beside(
                    f"{what}, {count:,} lines, history {words}", count, partial(check, source, log, kept), log, goal
                )
                for what, source, log, goal in (
                    ("1 server", SUMS, one, Goal("≥", 1, "ours")),
                    ("100 servers", SUMS, many, Goal("≥", 1, "ours")),
                    ("100 servers, linear time", LINEAR, many, None),
                )
                for kept, words in ((0, "off"), (32, "32"))
            ),
            _beside(f"JSON lines, 1 server, {fewer:,} lines", fewer, partial(check, SUMS, short, 0), short),
        ]


def _json_lines(count: int) -> Iterator[str]:
    for line in lines(count, 1):
        parsed = text.parse_line(line)
        assert parsed is not None
        yield jsonl.format_line(parsed[0]) + "\n"


def _beside(case: str, count: int, work: Callable[[], object], log: Path, goal: Goal | None = None) -> Row:
    sides = {"ours": Side(lambda _: work()), "lines": Side(lambda _: split(log))}
    timings = measure(sides, rounds=5)
    return speed_row(case, count, timings["ours"], "cutting into lines, in Python", timings["lines"], goal)
