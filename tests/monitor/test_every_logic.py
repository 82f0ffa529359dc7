"""The properties of the literature in each logic that can say them: the same bindings are reported, at the same row
first.

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
        "lr": "lr : S -> S H next | epsilon, H -> H hasnext | hasnext\n @fail",
        "lalr": "lalr : S -> S H next | epsilon, H -> H hasnext | hasnext\n @fail",
        "shml": "shml : max X.([next] ff and [hasnext] max Y.([hasnext] Y and [next] X))\n @rejection",
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
        "srs_scan": "srs_scan : update next -> #fail . next next -> next . update update -> update .\n"
        " create -> #epsilon . next update -> update .\n @fail",
        "lr": "lr : S -> create N U next, N -> N next | epsilon, U -> U update | update\n @match",
        "lalr": "lalr : S -> create N U next, N -> N next | epsilon, U -> U update | update\n @match",
        "fsm": "fsm : start [ create -> fresh ] fresh [ next -> fresh, update -> stale ]\n"
        " stale [ update -> stale, next -> used ] used [ default used ]\n @used",
        "mtl": "mtl : next => ((not update) S create)\n @violation",
        "ptcaret": "ptcaret : next => ((not update) S create)\n @violation",
        "shml": "shml : [create] max X.([next] X and [update] max Y.([update] Y and [next] ff))\n @rejection",
    },
)
SAFE_ENUM = (
    "full-binding connected SafeEnum(v, e) {{ creation event createE(v, e)\n event updateV(v)\n event useE(e)\n {} }}",
    {
        "fsm": "fsm : start [ updateV -> start, createE -> enumCreated ]\n"
        " enumCreated [ useE -> enumCreated, updateV -> invalidEnum ]\n"
        " invalidEnum [ updateV -> invalidEnum ]\n @fail",
        "ere": "ere : createE useE* updateV+ useE\n @match",
        "ere, fail": "ere : createE useE* updateV*\n @fail",
        "ptltl": "ptltl : useE => ((not updateV) S createE)\n @violation",
        "ltl": "ltl : [](useE => ((not updateV) S createE))\n @violation",
        "mtl": "mtl : useE => ((not updateV) S createE)\n @violation",
        "ptcaret": "ptcaret : useE => ((not updateV) S createE)\n @violation",
        "cfg": "cfg : S -> createE N U useE, N -> N useE | epsilon, U -> U updateV | updateV\n @match",
        "shml": "shml : [createE] max X.([useE] X and [updateV] max Y.([updateV] Y and [useE] ff))\n @rejection",
        "srs": "srs : updateV useE -> #fail . useE updateV -> updateV . useE useE -> useE .\n"
        " updateV updateV -> updateV . createE -> #epsilon .\n @fail",
    },
)
UNSAFE_SYNC_COLL = (
    "UnsafeSyncColl(c, i) {{ creation event sync(c)\n event syncCreateIter(c, i)\n event asyncCreateIter(c, i)\n"
    " event accessIter(i)\n {} }}",
    {
        "ere": "ere : (sync asyncCreateIter) | (sync syncCreateIter accessIter)\n @match",
        "srs": "srs : sync asyncCreateIter -> #fail . sync syncCreateIter accessIter -> #fail .\n @fail",
        "fsm": "fsm : start [ sync -> synced ] synced [ asyncCreateIter -> unsafe, syncCreateIter -> iterated ]\n"
        " iterated [ accessIter -> unsafe ] unsafe [ default unsafe ]\n @unsafe",
        "cfg": "cfg : S -> sync asyncCreateIter | sync syncCreateIter accessIter\n @match",
        "ptltl": "ptltl : not asyncCreateIter and (accessIter => not (*) syncCreateIter)\n @violation",
        "ltl": "ltl : [](not asyncCreateIter and (accessIter => not (*) syncCreateIter))\n @violation",
        "shml": "shml : [sync]([asyncCreateIter] ff and [syncCreateIter][accessIter] ff)\n @rejection",
    },
)
UNSAFE_SYNC_MAP = (
    "full-binding UnsafeSyncMap(m, s, i) {{ creation event sync(m)\n event createSet(m, s)\n"
    " event syncCreateIter(s, i)\n event asyncCreateIter(s, i)\n event accessIter(i)\n {} }}",
    {
        "ere": "ere : sync createSet (asyncCreateIter | (syncCreateIter accessIter))\n @match",
        "srs": "srs : sync createSet asyncCreateIter -> #fail .\n"
        " sync createSet syncCreateIter accessIter -> #fail .\n @fail",
        "fsm": "fsm : start [ sync -> synced ] synced [ createSet -> viewed ]\n"
        " viewed [ asyncCreateIter -> unsafe, syncCreateIter -> iterated ]\n"
        " iterated [ accessIter -> unsafe ] unsafe [ default unsafe ]\n @unsafe",
        "cfg": "cfg : S -> sync createSet T, T -> asyncCreateIter | syncCreateIter accessIter\n @match",
        "ptltl": "ptltl : <*> createSet => (not asyncCreateIter and (accessIter => not (*) syncCreateIter))\n"
        " @violation",
        "ltl": "ltl : [](<*> createSet => (not asyncCreateIter and (accessIter => not (*) syncCreateIter)))\n"
        " @violation",
        "shml": "shml : [sync][createSet]([asyncCreateIter] ff and [syncCreateIter][accessIter] ff)\n @rejection",
    },
)
LEAKING_SYNC = (
    "ImprovedLeakingSync(c) {{ creation event sync(c)\n event beginSync(c)\n event endSync(c)\n"
    " event access(c)\n {} }}",
    {
        "cfg": "cfg : S -> sync B, B -> B beginSync M endSync | epsilon,\n"
        " M -> M beginSync M endSync | M access | epsilon\n @fail",
        "lalr": "lalr : S -> sync B, B -> B beginSync M endSync | epsilon,\n"
        " M -> M beginSync M endSync | M access | epsilon\n @fail",
        "srs": "srs : beginSync endSync -> #epsilon . beginSync access -> beginSync . sync access -> #fail .\n"
        " sync endSync -> #fail . sync sync -> #fail . beginSync sync -> #fail .\n @fail",
    },
)
AUTHENTICATED = (
    "Authenticated(u) {{ creation event access(u)\n creation event authenticate(u)\n {} }}",
    {
        "ptltl": "ptltl : access => <*> authenticate\n @violation",
        "ltl": "ltl : (not access) W authenticate\n @violation",
        "mtl": "mtl : access => <*> authenticate\n @violation",
        "ptcaret": "ptcaret : access => <*> authenticate\n @violation",
        "fsm": "fsm : start [ authenticate -> known ] known [ default known ]\n @fail",
        "ere": "ere : access (access | authenticate)*\n @match",
        "ere, fail": "ere : authenticate (access | authenticate)*\n @fail",
        "srs": "srs : authenticate access -> authenticate . authenticate authenticate -> authenticate . "
        "^ access -> #fail .\n @fail",
        "cfg": "cfg : S -> access T, T -> T access | T authenticate | epsilon\n @match",
        "shml": "shml : max X.([access] ff)\n @rejection",
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
        "ptltl": "ptltl : useI => ((not updateM) S createC)\n @violation",
        "cfg": "cfg : S -> createC U createI N V useI, U -> U updateM | epsilon, N -> N useI | epsilon,\n"
        " V -> V updateM | updateM\n @match",
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
    "SafeFile(t) {{ event begin(t)\n event end(t)\n event open(t)\n event close(t)\n {} }}",
    {
        "cfg": "cfg : S -> epsilon | S begin S end | S open S close\n @fail",
        "lr": "lr : S -> epsilon | S begin S end | S open S close\n @fail",
        "lalr": "lalr : S -> epsilon | S begin S end | S open S close\n @fail",
        "srs": "srs : begin end -> #epsilon . open close -> #epsilon . begin close -> #fail . open end -> #fail .\n"
        " ^ end -> #fail . ^ close -> #fail .\n @fail",
    },
)
SAFE_LOCK_FROM_ACQUIRE = (
    "SafeLock(t) {{ event begin(t)\n event end(t)\n creation event acquire(t)\n event release(t)\n {} }}",
    {
        logic: f"{logic} : S -> epsilon | S acquire M release A, M -> epsilon | M begin M end | M acquire M release,"
        " A -> epsilon | A begin | A end\n @fail"
        for logic in ("cfg", "lr", "lalr")
    },
)
EQUALITY_CHECK = (
    "EqualityCheck(r) {{ event e0(r)\n event e1(r)\n event e2(r)\n event done(r)\n {} }}",
    {
        logic: f"{logic} : e1 e0 -> e0 e1 . e2 e0 -> e0 e2 . e2 e1 -> e1 e2 . e0 e1 -> E . E e1 -> e1 E ."
        " E e0 -> e0 E . E e2 -> #epsilon . e2 E -> #epsilon . ^ done -> #succeed . e0 done -> #fail ."
        " e1 done -> #fail . e2 done -> #fail . E done -> #fail .\n @fail"
        for logic in ("srs", "srs_scan")
    },
)
SAFE_FILE_WRITER = (
    "SafeFileWriter(f) {{ event create(f)\n event write(f)\n event close(f)\n {} }}",
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
        "ptltl": "ptltl : stale => not (*) add\n @violation",
        "fsm": "fsm : out [ add -> inside ] inside [ remove -> out, stale -> broken ]\n"
        " broken [ default broken ]\n @broken",
        "srs": "srs : add remove -> #epsilon . add stale -> #fail .\n @fail",
        "mtl": "mtl : stale => not (*) add\n @violation",
        "ptcaret": "ptcaret : stale => not (*) add\n @violation",
        "shml": "shml : max X.([add]([remove] X and [stale] ff))\n @rejection",
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


def vectors(rng: Random) -> Iterator[Row]:
    for v in range(2):
        for e in range(2):
            yield "createE", {"v": v, "e": 2 * v + e}
    for _ in range(20):
        yield rng.choice([("updateV", {"v": rng.randrange(2)}), ("useE", {"e": rng.randrange(4)})])


def synced_collections(rng: Random) -> Iterator[Row]:
    for c in range(3):
        yield "sync", {"c": c}
        for i in range(2):
            yield rng.choice(["syncCreateIter", "asyncCreateIter"]), {"c": c, "i": 2 * c + i}
    for i in rng.sample(range(6), 3):
        yield "accessIter", {"i": i}


def synced_maps(rng: Random) -> Iterator[Row]:
    for m in range(2):
        yield "sync", {"m": m}
        for s in range(2):
            yield "createSet", {"m": m, "s": 10 + 2 * m + s}
            yield rng.choice(["syncCreateIter", "asyncCreateIter"]), {"s": 10 + 2 * m + s, "i": 20 + 2 * m + s}
    for i in rng.sample(range(20, 24), 2):
        yield "accessIter", {"i": i}


def synced_calls(rng: Random) -> Iterator[Row]:
    yield "sync", {"c": 0}
    for _ in range(rng.randint(1, 12)):
        yield rng.choice(["beginSync", "beginSync", "endSync", "access"]), {"c": 0}


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
    "SafeLock, from the first acquire on": (
        SAFE_LOCK_FROM_ACQUIRE,
        of_events("t", "begin", "end", "acquire", "release"),
    ),
    "SafeFile": (SAFE_FILE, of_events("t", "begin", "end", "open", "close")),
    "SafeFileWriter": (SAFE_FILE_WRITER, of_events("f", "create", "write", "close")),
    "EqualityCheck": (EQUALITY_CHECK, of_events("r", "e0", "e1", "e2", "done")),
    "HashMap": (HASH_MAP, added),
    "SafeEnum": (SAFE_ENUM, vectors),
    "UnsafeSyncColl": (UNSAFE_SYNC_COLL, synced_collections),
    "UnsafeSyncMap": (UNSAFE_SYNC_MAP, synced_maps),
    "ImprovedLeakingSync": (LEAKING_SYNC, synced_calls),
    "Authenticated": (AUTHENTICATED, of_events("u", "access", "authenticate")),
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
