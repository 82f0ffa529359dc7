"""Events of live objects through `monitor.event(name)`, against calling an empty native function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import median

from harness import Goal, Row, Side, measure, quotients
from native import empty_function
from specs import HAS_NEXT, spec

import mopsus
from mopsus.logics import compile_spec

CALLS = 4_000_000
OBJECTS = 1_000
Call = Callable[[object], object]


class Thing:
    """A plain object, as programs have them."""


def calls(first: Call, second: Call, objects: list[object], passes: int) -> None:
    """Two calls for each object, over and over."""
    for _ in range(passes):
        for each in objects:
            first(each)
            second(each)


def no_calls(objects: list[object], passes: int) -> None:
    """The same loop with nothing in it."""
    for _ in range(passes):
        for _each in objects:
            pass


def rows(scale: float) -> list[Row]:
    """All rows of this benchmark."""
    numbers: list[Iterator[int]] = [iter([1, 2, 3]) for _ in range(OBJECTS)]
    kinds: dict[str, list[object]] = {
        "instances of a class": [Thing() for _ in range(OBJECTS)],
        "list iterators": list(numbers),
    }
    return [row for kind, objects in kinds.items() for row in _rows(kind, objects, scale)]


def _rows(kind: str, objects: list[object], scale: float) -> list[Row]:
    passes = max(1, int(CALLS * scale) // (2 * OBJECTS))
    compiled = compile_spec(spec(HAS_NEXT))
    nothing = empty_function()

    def emitting(history: int) -> Side:
        def work(monitor: mopsus.Monitor) -> None:
            calls(monitor.event("hasnext"), monitor.event("next"), objects, passes)
            assert monitor.stats().events == 2 * OBJECTS * passes
            assert not monitor.verdicts

        return Side(prepare=lambda: mopsus.Monitor(compiled, history=history), work=work)

    timings = measure(
        {
            "history off": emitting(0),
            "history 32": emitting(32),
            "empty": Side(lambda _: calls(nothing, nothing, objects, passes)),
            "loop": Side(lambda _: no_calls(objects, passes)),
        },
        rounds=9,
    )
    nanoseconds = {name: [s / (2 * OBJECTS * passes) * 1e9 for s in each.seconds] for name, each in timings.items()}
    loop, empty = nanoseconds.pop("loop"), nanoseconds.pop("empty")
    result = []
    for name, ours in nanoseconds.items():
        for without_loop in (True, False):
            taken = loop if without_loop else [0.0] * len(loop)
            mine = [a - b for a, b in zip(ours, taken, strict=True)]
            theirs = [a - b for a, b in zip(empty, taken, strict=True)]
            result.append(
                Row(
                    case=f"{kind}, {name}" + ("" if without_loop else ", with the loop around the calls"),
                    unit="ns per call",
                    ours=median(mine),
                    base="empty native function",
                    theirs=median(theirs),
                    ratio=quotients(mine, theirs),
                    goal=Goal("≤", 3) if name == "history off" and without_loop else None,
                )
            )
    return result
