"""An event in each logic, online with one parameter, against the same property as a regular expression."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import median

from harness import Goal, Row, Side, measure, quotients
from specs import spec

import mopsus
from mopsus.logics import compile_spec

CALLS = 2_000_000
OBJECTS = 1_000
ROUNDS = 9

HAS_NEXT = {
    "ere": "ere : (hasnext+ next)* @fail {}",
    "fsm": "fsm : asked [ hasnext -> may ] may [ hasnext -> may, next -> asked ] @fail {}",
    "ptltl": "ptltl : next => (*) hasnext @violation {}",
    "ltl": "ltl : [](next => (*) hasnext) @violation {}",
    "ptcaret": "ptcaret : next => (*) hasnext @violation {}",
    "mtl": "mtl : next => (*) hasnext @violation {}",
    "efsm": """efsm :
        state init { transition { event hasnext success may } transition { event next success bad } }
        state may { transition { event hasnext success may } transition { event next success init } }
        state bad non-accepting""",
    "efsm, a guard and a block in Python": """efsm :
        initialization { asked = 0 }
        state init {
            transition { event hasnext { return asked >= 0 } success { asked += 1 } }
            transition { event next { return asked > 0 } success { asked = 0 } failure bad }
        }
        state bad non-accepting""",
}
TABLES = ("fsm", "ptltl", "ltl")

LOCK = "S -> epsilon | S begin S end | S acquire S release"
SAFE_LOCK = {
    # What the traces of this benchmark need of the grammar: nesting of one level.
    "ere": "ere : (begin end | acquire (begin end)* release)* @fail {}",
    "cfg": f"cfg : {LOCK} @fail {{}}",
    "lalr": f"lalr : {LOCK} @fail {{}}",
    "lr_lazy, the efficient grammar": "lr_lazy : S -> epsilon | S acquire M release A, "
    "M -> epsilon | M begin M end | M acquire M release, A -> epsilon | A begin | A end @fail {}",
    "srs": "srs : begin end -> #epsilon . acquire release -> #epsilon . "
    "begin release -> #fail . acquire end -> #fail . @fail {}",
}

Call = Callable[[object], object]


class Thing:
    """A plain object."""


def rows(scale: float) -> list[Row]:
    """All rows of this benchmark."""
    return [
        *_rows(
            "HasNext",
            HAS_NEXT,
            ("hasnext", "next", "hasnext", "next"),
            dict.fromkeys(TABLES, 1.2) | {"efsm": 2.5},
            scale,
        ),
        *_rows("SafeLock", SAFE_LOCK, ("acquire", "begin", "end", "release"), {"cfg": 3, "srs": 5}, scale),
    ]


def calls(emitters: Sequence[Call], objects: list[object], passes: int) -> None:
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


def _rows(
    name: str, properties: Mapping[str, str], order: Sequence[str], goals: Mapping[str, float], scale: float
) -> list[Row]:
    objects: list[object] = [Thing() for _ in range(OBJECTS)]
    passes = max(1, int(CALLS * scale) // (len(order) * OBJECTS))
    events = " ".join(f"event {event}(x)" for event in sorted(set(order)))

    def emitting(text: str) -> Side:
        compiled = compile_spec(spec(f"{name}(x) {{ {events} {text} }}"))

        def work(monitor: mopsus.Monitor) -> None:
            calls([monitor.event(event) for event in order], objects, passes)
            assert monitor.stats().events == len(order) * OBJECTS * passes
            assert not monitor.verdicts

        return Side(prepare=lambda: mopsus.Monitor(compiled, history=0), work=work)

    sides = {logic: emitting(text) for logic, text in properties.items()}
    timings = measure({**sides, "loop": Side(lambda _: no_calls(objects, passes))}, rounds=ROUNDS)
    loop = timings.pop("loop").seconds
    each = {
        logic: [(a - b) / (len(order) * OBJECTS * passes) * 1e9 for a, b in zip(timing.seconds, loop, strict=True)]
        for logic, timing in timings.items()
    }
    regular = each.pop("ere")
    return [
        Row(
            case=f"{name}: {logic}",
            unit="ns per call",
            ours=median(mine),
            base="ere",
            theirs=median(regular),
            ratio=quotients(mine, regular),
            goal=Goal("≤", goals[logic]) if logic in goals else None,
        )
        for logic, mine in each.items()
    ]
