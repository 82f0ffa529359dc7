"""String rewriting: strings that take quadratically many steps."""

from __future__ import annotations

from statistics import median

from harness import Goal, Row, Side, agree, measure, quotients
from specs import spec

import mopsus
from mopsus.logics import CompiledSpec, compile_spec

SHORT, LONG = 1_000, 5_000
"""N of the series 2^N 1^N 0^N."""

SORTING = {
    ("e1", "e0"): ("e0", "e1"),
    ("e2", "e0"): ("e0", "e2"),
    ("e2", "e1"): ("e1", "e2"),
    ("e0", "e1"): ("E",),
    ("E", "e1"): ("e1", "E"),
    ("E", "e0"): ("e0", "E"),
    ("E", "e2"): (),
    ("e2", "E"): (),
}
"""Left and right sides; all left sides are pairs, which is all that the plain loop can do."""


def rows(scale: float) -> list[Row]:
    """All rows of this benchmark."""
    short, long = (max(10, int(count * min(1.0, scale * 10))) for count in (SHORT, LONG))
    rules = " ".join(f"{' '.join(left)} -> {' '.join(right) or '#epsilon'} ." for left, right in SORTING.items())
    text = (
        f"Series() {{ event e0() event e1() event e2() event done() srs : {rules} ^ done -> #succeed . @succeed {{}} }}"
    )
    compiled = compile_spec(spec(text))
    against = measure({"ours": _ours(compiled, short), "loop": Side(lambda _: plain_loop(short))}, rounds=3)
    agree(against)
    growth = measure({"long": _ours(compiled, long), "short": _ours(compiled, short)}, rounds=5)
    return [
        Row(
            case=f"2^N 1^N 0^N rewritten to nothing, N = {short:,}",
            unit="s",
            ours=median(against["ours"].seconds),
            base="the same rewriting in a Python loop",
            theirs=median(against["loop"].seconds),
            ratio=quotients(against["loop"].seconds, against["ours"].seconds),
            goal=Goal("≥", 10),
        ),
        Row(
            case=f"2^N 1^N 0^N rewritten to nothing, N = {long:,}",
            unit="s",
            ours=median(growth["long"].seconds),
            goal=Goal("≤", 1, of="ours"),
        ),
        Row(
            case=f"growth from N = {short:,} to N = {long:,}; the steps grow {(long / short) ** 2:g} times",
            unit="s",
            ours=median(growth["long"].seconds),
            base=f"N = {short:,}",
            theirs=median(growth["short"].seconds),
            ratio=quotients(growth["long"].seconds, growth["short"].seconds),
            goal=Goal("≤", 1.2 * (long / short) ** 2),
        ),
    ]


def _ours(compiled: CompiledSpec, count: int) -> Side:
    def work(monitor: mopsus.Monitor) -> bool:
        for name in ("e2", "e1", "e0"):
            emit = monitor.event(name)
            for _ in range(count):
                emit()
        monitor.event("done")()
        return [verdict.category for verdict in monitor.verdicts] == ["succeed"]

    return Side(prepare=lambda: mopsus.Monitor(compiled, history=0), work=work)


def plain_loop(count: int) -> bool:
    """The same strategy by hand: the end of the string is a stack, and what a rule puts there comes again."""
    string: list[str] = []
    rules = SORTING
    for event in [*["e2"] * count, *["e1"] * count, *["e0"] * count]:
        coming = [event]
        while coming:
            symbol = coming.pop()
            right = rules.get((string[-1], symbol)) if string else None
            if right is None:
                string.append(symbol)
            else:
                string.pop()
                coming.extend(reversed(right))
    return not string
