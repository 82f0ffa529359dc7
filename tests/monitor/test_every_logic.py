"""The properties of the literature in each logic that can say them: the same bindings are reported, "
"at the same row first.

Formulas of mop.md §6.1. A pattern skips what comes before it and a formula does not, so the traces keep to
what all readings agree on: they begin as the property expects, and what is compared is the first report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

import pytest

import mopsus

Row = tuple[str, dict[str, int]]

HAS_NEXT = (
    "HasNext(i) {{ event hasnext(i)\n event next(i)\n {} }}",
    {
        "ere, total": "ere : (hasnext | hasnext next)* next next\n @match",
        "ere, fail": "ere : (hasnext hasnext* next)*\n @fail",
        "fsm": "fsm : start [ default start, next -> unsafe, hasnext -> safe ]\n"
        " safe [ next -> start, hasnext -> safe ]\n"
        " unsafe [ next -> unsafe, hasnext -> safe ]\n @unsafe",
        "ptltl": "ptltl : next => (*) hasnext\n @violation",
        "ltl": "ltl : [](next => (*) hasnext)\n @violation",
        "srs": "srs : hasnext next -> #epsilon . hasnext hasnext -> hasnext . ^ next -> #fail .\n @fail",
        "srs_scan": "srs_scan : hasnext next -> #epsilon . hasnext hasnext -> hasnext . ^ next -> #fail .\n @fail",
        "cfg": "cfg : S -> S H next | epsilon, H -> H hasnext | hasnext\n @fail",
        "ptcaret": "ptcaret : next => (*) hasnext\n @violation",
        "mtl": "mtl : next => (*) hasnext\n @violation",
    },
)
UNSAFE_ITER = (
    "full-binding UnsafeIter(c, i) {{ creation event create(c, i)\n event update(c)\n event next(i)\n {} }}",
    {
        "ere": "ere : create next* update+ next\n @match",
        "ltl": "ltl : [](next => ((not update) S create))\n @violation",
        "ptltl": "ptltl : next => ((not update) S create)\n @violation",
        "srs": "srs : update next -> #fail . next next -> next . update update -> update . create -> #epsilon .\n"
        " next update -> update .\n @fail",
        "cfg": "cfg : S -> create N U next, N -> N next | epsilon, U -> U update | update\n @match",
    },
)
UNSAFE_MAP_ITER = (
    "full-binding connected UnsafeMapIter(m, c, i) {{ creation event createC(m, c)\n event createI(c, i)\n"
    " event useI(i)\n event updateM(m)\n {} }}",
    {
        "ere": "ere : createC updateM* createI useI* updateM+ useI\n @match",
        "ltl": "ltl : [](useI => ((not updateM) S createC))\n @violation",
        "srs": "srs : updateM useI -> #fail . useI useI -> useI . updateM updateM -> updateM . "
        "useI updateM -> updateM .\n"
        " createI -> #epsilon . createC -> #epsilon .\n @fail",
        "fsm": "fsm : start [ createC -> made ] made [ updateM -> made, "
        "createI -> fresh ] fresh [ useI -> fresh, updateM -> stale ]\n"
        " stale [ updateM -> stale, useI -> used ] used [ default used ]\n @used",
    },
)
SAFE_LOCK = (
    "SafeLock(t) {{ event begin(t)\n event end(t)\n event acquire(t)\n event release(t)\n {} }}",
    {
        "cfg": "cfg : S -> epsilon | S begin S end | S acquire S release\n @fail",
        "lr": "lr : S -> epsilon | S begin S end | S acquire S release\n @fail",
        "lalr": "lalr : S -> epsilon | S begin S end | S acquire S release\n @fail",
        "srs": "srs : begin end -> #epsilon . acquire release -> #epsilon . begin release -> #fail . "
        "acquire end -> #fail .\n"
        " ^ end -> #fail . ^ release -> #fail .\n @fail",
    },
)
SAFE_FILE = (
    "SafeFile(f) {{ event create(f)\n event write(f)\n event close(f)\n {} }}",
    {
        "cfg": "cfg : S -> S create W close | epsilon, W -> W write | W create W close | epsilon\n @fail",
        "srs": "srs : create close -> #epsilon . create write -> create . ^ write -> #fail . "
        "^ close -> #fail .\n @fail",
    },
)
HASH_MAP = (
    "HashMap(t, o) {{ event add(t, o)\n event stale(t, o)\n event remove(t, o)\n {} }}",
    {
        "ere": "ere : (add remove)* add stale\n @match",
        "cfg": "cfg : S -> P add stale, P -> P add remove | epsilon\n @match",
        "ltl": "ltl : [](stale => not (*) add)\n @violation",
    },
)


def iterators(rng: Random) -> Iterator[Row]:
    for i in range(4):
        yield "hasnext", {"i": i}
    for _ in range(40):
        yield rng.choice(["hasnext", "hasnext", "next"]), {"i": rng.randrange(4)}


def collections(rng: Random) -> Iterator[Row]:
    for c in range(2):
        for i in range(3):
            yield "create", {"c": c, "i": 3 * c + i}
    for _ in range(30):
        yield rng.choice([("update", {"c": rng.randrange(2)}), ("next", {"i": rng.randrange(6)})])


def maps(rng: Random) -> Iterator[Row]:
    for m in range(2):
        yield "createC", {"m": m, "c": 10 + m}
        for i in range(2):
            yield "createI", {"c": 10 + m, "i": 20 + 2 * m + i}
    for _ in range(30):
        yield rng.choice([("updateM", {"m": rng.randrange(2)}), ("useI", {"i": 20 + rng.randrange(4)})])


def of_events(key: str, *names: str) -> Callable[[Random], Iterator[Row]]:
    return lambda rng: (((rng.choice(names)), {key: rng.randrange(3)}) for _ in range(rng.randint(1, 25)))


def added(rng: Random) -> Iterator[Row]:
    inside = False
    for _ in range(12):
        yield ("remove" if inside else "add"), {"t": 0, "o": 0}
        inside = not inside
        if inside and rng.random() < 0.15:
            yield "stale", {"t": 0, "o": 0}
            return


CASES = {
    "HasNext": (HAS_NEXT, iterators),
    "UnsafeIter": (UNSAFE_ITER, collections),
    "UnsafeMapIter": (UNSAFE_MAP_ITER, maps),
    "SafeLock": (SAFE_LOCK, of_events("t", "begin", "end", "acquire", "release")),
    "SafeFile": (SAFE_FILE, of_events("f", "create", "write", "close")),
    "HashMap": (HASH_MAP, added),
}


def first_reports(spec: mopsus.Spec, trace: list[Row]) -> dict[tuple[tuple[str, int], ...], int | None]:
    found: dict[tuple[tuple[str, int], ...], int | None] = {}
    with spec.monitor(lambda verdict: found.setdefault(tuple(sorted(verdict.binding.items())), verdict.row)) as monitor:
        for number, (event, values) in enumerate(trace, 1):
            monitor.row(event, values, time=number, row=number)
    return found


@pytest.mark.parametrize("name", CASES)
def test_a_property_reports_the_same_in_every_logic(name):
    (frame, formulas), make_trace = CASES[name]
    specs = {logic: next(iter(mopsus.parse(frame.format(text)).values())) for logic, text in formulas.items()}
    reported = 0
    for seed in range(60):
        trace = list(make_trace(Random(seed)))
        found = {logic: first_reports(spec, trace) for logic, spec in specs.items()}
        expected = next(iter(found.values()))
        assert found == dict.fromkeys(found, expected), trace
        reported += len(expected)
    assert reported > 30
