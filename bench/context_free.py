"""Context-free properties over traces of growing length."""

from __future__ import annotations

from statistics import median

from harness import Goal, Row, Side, measure, quotients
from specs import spec

import mopsus
from mopsus.logics import CompiledSpec, compile_spec

ROUNDS = 9
LONG = 1_000_000
LONG_MERGED = 10_000
"""Merged tables look at the whole stack of a right-recursive grammar at every event."""


def _compiled(logic: str, formula: str, events: str, parameters: str, category: str) -> CompiledSpec:
    declared = " ".join(f"event {event}({parameters})" for event in events.split())
    return compile_spec(spec(f"Case({parameters}) {{ {declared} {logic} : {formula} @{category} {{}} }}"))


def rows(scale: float) -> list[Row]:
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
