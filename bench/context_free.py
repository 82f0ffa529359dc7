"""Context-free properties against a regular one over the same events, and traces of growing length."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

from harness import Goal, Row, Side, measure, quotients
from specs import spec

import mopsus
from mopsus.logics import CompiledSpec, compile_spec

CALLS = 2_000_000
OBJECTS = 1_000
PER_OBJECT = 4
ROUNDS = 9
LONG = 1_000_000
LONG_MERGED = 10_000
"""Merged tables look at the whole stack of a right-recursive grammar at every event."""

LOCK = "S -> epsilon | S begin S end | S acquire S release"
FROM_FIRST = (
    "S -> epsilon | S acquire M release A, M -> epsilon | M begin M end | M acquire M release, "
    "A -> epsilon | A begin | A end"
)
REGULAR = "(begin end | acquire (begin end)* release)*"
"""What the traces of this benchmark need of the grammar: nesting of one level."""

Call = Callable[[object], object]


class Lock:
    """A plain object."""


def rows(scale: float) -> list[Row]:
    """All rows of this benchmark."""
    return [*_lock(scale), *_growth(scale)]


def _compiled(logic: str, formula: str, events: str, parameters: str, category: str) -> CompiledSpec:
    declared = " ".join(f"event {event}({parameters})" for event in events.split())
    return compile_spec(spec(f"Case({parameters}) {{ {declared} {logic} : {formula} @{category} {{}} }}"))


def calls(emitters: list[Call], objects: list[object], passes: int) -> None:
    """Four calls for each object, over and over."""
    first, second, third, fourth = emitters
    for _ in range(passes):
        for each in objects:
            first(each)
            second(each)
            third(each)
            fourth(each)


def no_calls(objects: list[object], passes: int) -> None:
    """The same loop with nothing in it."""
    for _ in range(passes):
        for _each in objects:
            pass


def _lock(scale: float) -> list[Row]:
    objects: list[object] = [Lock() for _ in range(OBJECTS)]
    passes = max(1, int(CALLS * scale) // (PER_OBJECT * OBJECTS))
    events = "acquire release begin end"

    def emitting(logic: str, formula: str) -> Side:
        compiled = _compiled(logic, formula, events, "l", "fail")

        def work(monitor: mopsus.Monitor) -> None:
            calls([monitor.event(name) for name in ("acquire", "begin", "end", "release")], objects, passes)
            assert monitor.stats().events == PER_OBJECT * OBJECTS * passes
            assert not monitor.verdicts

        return Side(prepare=lambda: mopsus.Monitor(compiled, history=0), work=work)

    timings = measure(
        {
            "ere": emitting("ere", REGULAR),
            "cfg": emitting("cfg", LOCK),
            "lalr": emitting("lalr", LOCK),
            "lr_lazy, the efficient grammar": emitting("lr_lazy", FROM_FIRST),
            "loop": Side(lambda _: no_calls(objects, passes)),
        },
        rounds=ROUNDS,
    )
    loop = timings.pop("loop").seconds
    each = {
        name: [(a - b) / (PER_OBJECT * OBJECTS * passes) * 1e9 for a, b in zip(timing.seconds, loop, strict=True)]
        for name, timing in timings.items()
    }
    regular = each.pop("ere")
    return [
        Row(
            case=f"SafeLock, one parameter, online: {name}",
            unit="ns per call",
            ours=median(mine),
            base="a regular expression",
            theirs=median(regular),
            ratio=quotients(mine, regular),
            goal=Goal("≤", 3) if name == "cfg" else None,
        )
        for name, mine in each.items()
    ]


def _growth(scale: float) -> list[Row]:
    """The cost of an event in a long trace against that in one of a tenth of its length."""
    found = []
    for logic, side, formula, most in (
        ("cfg", "left", "S -> epsilon | S a", LONG),
        ("cfg", "right", "S -> epsilon | a S", LONG),
        ("lalr", "right", "S -> epsilon | a S", LONG_MERGED),
    ):
        long = max(100, int(most * scale))
        short = long // 10
        compiled = _compiled(logic, formula, "a b", "", "fail" if logic == "cfg" else "match")
        timings = measure({"long": _repeating(compiled, long), "short": _repeating(compiled, short)}, rounds=ROUNDS)
        mine, theirs = (
            [seconds / count * 1e9 for seconds in timings[name].seconds]
            for name, count in (("long", long), ("short", short))
        )
        found.append(
            Row(
                case=f"a* recurring on the {side}, {logic}, {long:,} events",
                unit="ns per event",
                ours=median(mine),
                base=f"{short:,} events",
                theirs=median(theirs),
                ratio=quotients(mine, theirs),
                goal=Goal("≤", 1.5) if logic == "cfg" else None,
            )
        )
    return found


def _repeating(compiled: CompiledSpec, count: int) -> Side:
    def work(monitor: mopsus.Monitor) -> None:
        emit = monitor.event("a")
        for _ in range(count):
            emit()

    return Side(prepare=lambda: mopsus.Monitor(compiled, history=0, on_verdict=lambda _: None), work=work)
