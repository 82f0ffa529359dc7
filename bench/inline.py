"""Running programs: the calls of a class woven, against the same program as it is, and against a wrapper in Python."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from statistics import median
from types import ModuleType

from harness import Goal, Row, Side, Timing, measure, quotients
from specs import HAS_NEXT_MACHINE, spec

import mopsus

CALLS = 20_000_000
OBJECTS = 1_000
PROGRAM = """
class Walk:
    def __init__(self, last):
        self.at, self.last = 0, last

    def hasnext(self):
        return self.at < self.last

    def next(self):
        self.at += 1
        return self.at


def run(walks, passes):
    for _ in range(passes):
        for walk in walks:
            walk.hasnext()
            walk.next()
"""
HAS_NEXT = f"""
HasNext(i) {{
    event hasnext before(i) : call(woven_program.Walk.hasnext) && target(i)
    event next    before(i) : call(woven_program.Walk.next) && target(i)
    {HAS_NEXT_MACHINE}
}}
"""


def program(name: str) -> ModuleType:
    """A copy of the program, for itself: the interpreter adapts the code of each to what it meets there."""
    module = ModuleType(name)
    exec(compile(PROGRAM, f"<{name}>", "exec"), vars(module))
    sys.modules[name] = module
    return module


def wrapped(method: Callable[..., object], event: Callable[[object], object]) -> Callable[..., object]:
    """The wrapper that one would write in Python."""

    @functools.wraps(method)
    def wrapper(self: object, *arguments: object, **named: object) -> object:
        event(self)
        return method(self, *arguments, **named)

    return wrapper


def rows(scale: float) -> list[Row]:
    """All rows of this benchmark."""
    passes = max(1, int(CALLS * scale) // (2 * OBJECTS))
    plain, python = program("plain_program"), program("wrapped_program")
    monitor = mopsus.Monitor(spec(HAS_NEXT), history=0)
    for name in ("hasnext", "next"):
        setattr(python.Walk, name, wrapped(getattr(python.Walk, name), monitor.event(name)))

    def running(module: ModuleType) -> Side:
        return Side(lambda walks: module.run(walks, passes), lambda: [module.Walk(passes) for _ in range(OBJECTS)])

    result = []
    for history in (0, 32):
        woven = program("woven_program")
        with mopsus.weave(spec(HAS_NEXT), history=history) as weaving:
            sides = {"ours": running(woven), "plain": running(plain), "python": running(python)}
            timings = measure(sides, rounds=5)
            assert weaving.monitors["HasNext"].stats().events == 6 * 2 * OBJECTS * passes
            assert not weaving.verdicts
        result += _compared(timings, 2 * OBJECTS * passes, history)
    return result


def _compared(timings: dict[str, Timing], calls: int, history: int) -> list[Row]:
    per_call = {name: [second / calls * 1e9 for second in each.seconds] for name, each in timings.items()}
    ours, plain, python = (per_call[name] for name in ("ours", "plain", "python"))
    more = [a - b for a, b in zip(ours, plain, strict=True)]
    python_more = [a - b for a, b in zip(python, plain, strict=True)]
    case = f"{OBJECTS:,} objects, history {history or 'off'}"
    return [
        Row(
            case=f"HasNext program, {case}",
            unit="ns per call",
            ours=median(ours),
            base="the program as it is",
            theirs=median(plain),
            ratio=quotients(ours, plain),
            goal=Goal("≤", 2.5) if history == 0 else None,
        ),
        Row(
            case=f"what a call costs more, {case}",
            unit="ns per call",
            ours=median(more),
            base="wrapper in Python",
            theirs=median(python_more),
            ratio=quotients(more, python_more),
            goal=Goal("≤", 40, of="ours") if history == 0 else None,
        ),
    ]
