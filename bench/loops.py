"""Loops in rewritten code, with a property of iterators, against the same loops as they were written.

The property is HasNext of Python: an iterator is not asked for more once it has ended. What is added to an empty
loop stands beside what a bare pass-through iterator in C (`itertools.chain`) adds.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from harness import Goal, Row, Side, measure, quotients

import mopsus
from mopsus.events.weave.compiling import compile_beside
from mopsus.events.weave.joinpoints import From, Moment, Operation, Rewrite, Source, Tap
from mopsus.events.weave.rewrite import Plan
from mopsus.events.weave.sites import SITES

ELEMENTS = 3_000_000
SHORT = 3
"""Elements of a short loop, where beginning counts."""

SPEC = """
AfterEnd(i) {
    event create(i)
    event step(i)
    event end(i)
    ere : create step* end step
    @match { }
}
"""

CODE = """
def add(items):
    s = 0
    for x in items:
        s += x
    return s

def empty(items):
    for x in items:
        pass

def short(items, times):
    for _ in times:
        for x in items:
            pass

def listed(items):
    return [x for x in items]
"""


def functions(rewrites: tuple[Rewrite, ...]) -> dict[str, Callable[..., Any]]:
    """The loops, rewritten for these."""
    made = compile_beside(compile(CODE, "loops.py", "exec"), CODE.encode(), "loops.py", Plan.of(rewrites)).rewritten
    assert made is not None
    code = SITES.bind("loops", made, own=True)
    assert code is not None
    namespace: dict[str, Any] = {"__name__": "loops"}
    exec(code, namespace)
    return namespace


def taps(monitor: mopsus.Monitor) -> tuple[Rewrite, ...]:
    """What the property asks of loops."""

    def tap(name: str, moment: Moment, source: From) -> Tap:
        return Tap("AfterEnd", name, moment, monitor.event(name), (Source(source),), (None,))

    return (
        Rewrite(Operation.ITER, tap("create", Moment.RETURNING, From.RESULT)),
        Rewrite(Operation.NEXT, tap("step", Moment.BEFORE, From.TARGET)),
        Rewrite(Operation.NEXT, tap("end", Moment.RAISING, From.TARGET)),
    )


def same(member: object) -> object:
    """What is defined stays as it is."""
    return member


def _calling(function: Callable[..., object], arguments: tuple[Any, ...]) -> Side:
    return Side(lambda _: function(*arguments))


def rows(scale: float) -> list[Row]:
    """All rows of this benchmark."""
    count = int(ELEMENTS * scale)
    items = list(range(count))
    few, times = list(range(SHORT)), range(count // SHORT)
    plain = functions(())
    spec = next(iter(mopsus.parse(SPEC).values()))
    with spec.monitor(history=0) as monitor:
        rewrites = taps(monitor)
        SITES.start(rewrites, same)
        woven = functions(rewrites)
        cases: dict[str, tuple[str, tuple[Any, ...], Goal | None]] = {
            "for loop over a list, body s += x": ("add", (items,), Goal("≤", 1.3)),
            "for loop over a list, empty body": ("empty", (items,), None),
            "comprehension over a list": ("listed", (items,), None),
            f"for loops over {SHORT} elements, empty body": ("short", (few, times), None),
        }
        result = []
        for case, (name, arguments, goal) in cases.items():
            sides = {
                "ours": _calling(woven[name], arguments),
                "plain loop": _calling(plain[name], arguments),
            }
            if name == "empty":
                sides["pass-through"] = Side(lambda _: plain["empty"](itertools.chain(items)))
            timings = measure(sides, rounds=5)
            nanoseconds = {side: min(timing.seconds) / count * 1e9 for side, timing in timings.items()}
            bare = "plain loop"
            ratio = quotients(timings["ours"].seconds, timings[bare].seconds)
            result.append(Row(case, "ns per element", nanoseconds["ours"], bare, nanoseconds[bare], ratio, goal))
            if "pass-through" in sides:
                through = quotients(timings["ours"].seconds, timings["pass-through"].seconds)
                base = "pass-through iterator in C"
                result.append(
                    Row(case, "ns per element", nanoseconds["ours"], base, nanoseconds["pass-through"], through)
                )
        SITES.stop(rewrites, same)
    return result
