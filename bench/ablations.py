"""What each part of parametric monitoring is worth: the same programs under monitors that lack one part each.

The programs are loops over collections as Python programs have them: a working set of collections that change or are
replaced from time to time, and short-lived iterators, of which a few are kept and advanced again later. In the worst
case one collection outlives millions of iterators.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from operator import is_
from random import Random
from typing import NamedTuple

from harness import Goal, Matrix, Row, Side, agree, in_fresh_process, measure, memory
from native import empty_function
from online import Thing
from specs import HAS_NEXT, UNSAFE_ITERATOR, UNSAFE_MAP_ITERATOR, spec
from variants import ALGORITHMS, DEFAULT, INDEXES, PARTS, WITHOUT_COENABLE_SETS, Variant

import mopsus
from mopsus.logics import CompiledSpec, compile_spec

LOOPS = 40_000
"""Over about ten elements each."""
FEWER = 500
"""For Algorithms B and C, whose monitors multiply."""
LIVE, KEPT = 1_000, 1_000
"""Collections at a time, and iterators that are kept at the most."""
WORST = (300_000, 1_000_000, 3_000_000)
WAYS = {"with coenable sets": DEFAULT, "without": WITHOUT_COENABLE_SETS}
FLAT = Goal("≤", 1.25)
PAGE, MIB = 1 << 12, 1 << 20
BARE = "the program with events that go nowhere"

Send = Callable[..., object]
Sender = Callable[[str], Send]


class Loop(NamedTuple):
    """One loop of a program: over which collection, how many elements, and what happens then."""

    collection: int
    elements: int
    then: str


def script(loops: int) -> list[Loop]:
    """Loops as programs have them: most over few elements, some over many."""
    random = Random(1)
    fates = ("update", "replace", "keep", "resume", "")
    return [
        Loop(
            random.randrange(LIVE),
            min(1000, int(random.lognormvariate(1.5, 1.3))),
            random.choices(fates, (30, 30, 15, 5, 20))[0],
        )
        for _ in range(loops)
    ]


def over_iterators(send: Sender, loops: Iterable[Loop]) -> None:
    """Iterators that are asked before they are advanced; some that are resumed are not."""
    hasnext, next_ = send("hasnext"), send("next")
    kept: deque[Thing] = deque(maxlen=KEPT)
    for loop in loops:
        iterator = Thing()
        for _ in repeat(None, loop.elements):
            hasnext(iterator)
            next_(iterator)
        if loop.then == "keep":
            kept.append(iterator)
        elif loop.then == "resume" and kept:
            if loop.elements < 50:
                hasnext(kept[-1])
            next_(kept.pop())


def over_lists(send: Sender, loops: Iterable[Loop]) -> None:
    """Iterators over lists that change."""
    create, next_, update = send("create"), send("next"), send("update")
    lists = [Thing() for _ in range(LIVE)]
    kept: deque[Thing] = deque(maxlen=KEPT)
    for loop in loops:
        iterator = Thing()
        create(lists[loop.collection], iterator)
        for _ in repeat(None, loop.elements):
            next_(iterator)
        _then(loop, lists, kept, iterator, update, next_)


def over_maps(send: Sender, loops: Iterable[Loop]) -> None:
    """Iterators over views of dictionaries that change; each loop makes its view."""
    create_view, create = send("create_coll"), send("create_iter")
    use, update = send("use_iter"), send("update_map")
    maps = [Thing() for _ in range(LIVE)]
    kept: deque[Thing] = deque(maxlen=KEPT)
    for loop in loops:
        view, iterator = Thing(), Thing()
        create_view(maps[loop.collection], view)
        create(view, iterator)
        for _ in repeat(None, loop.elements):
            use(iterator)
        _then(loop, maps, kept, iterator, update, use)


def _then(
    loop: Loop, collections: list[Thing], kept: deque[Thing], iterator: Thing, update: Send, advance: Send
) -> None:
    if loop.then == "update":
        update(collections[loop.collection])
    elif loop.then == "replace":
        collections[loop.collection] = Thing()
    elif loop.then == "keep":
        kept.append(iterator)
    elif loop.then == "resume" and kept:
        advance(kept.pop())  # a violation, if its collection has changed meanwhile


@dataclass(frozen=True)
class Program:
    """A property, and a program that has something to do with it."""

    text: str
    play: Callable[[Sender, Iterable[Loop]], None]

    @property
    def compiled(self) -> CompiledSpec:
        """What a monitor of the property is made of."""
        return compile_spec(spec(self.text))


PROGRAMS = {
    "HasNext": Program(HAS_NEXT, over_iterators),
    "UnsafeIter": Program(UNSAFE_ITERATOR, over_lists),
    "UnsafeMapIter": Program(UNSAFE_MAP_ITERATOR, over_maps),
}


def rows(scale: float) -> list[Row | Matrix]:
    """All results of this benchmark."""
    result = _worst(scale)
    for name, program in PROGRAMS.items():
        one = name == "HasNext"  # with one parameter there is nothing to join, and a monitor dies with its value
        result.append(_matrix(name, program, script(max(10, int(LOOPS * scale))), INDEXES if one else PARTS, 9))
        if not one:
            result.append(_matrix(name, program, script(max(10, int(FEWER * scale))), ALGORITHMS, 5))
    return result


# ---- the worst case ----


def _worst(scale: float) -> list[Row | Matrix]:
    sizes = [max(1, int(each * scale)) for each in WORST]
    result: list[Row | Matrix] = []
    lines: dict[str, list[float]] = {}
    for name in ("UnsafeIter", "UnsafeMapIter"):
        for way, variant in WAYS.items():
            for iterators, (grown, *rest) in zip(sizes, in_fresh_process(outlived, name, way, sizes), strict=True):
                case = f"{name}, {iterators:,} iterators, {way}"
                # A process may not grow at all: a page is the least that counts.
                lines[case] = [*rest, max(grown, PAGE) / MIB]
                if iterators == sizes[0]:
                    first = lines[case][-1]
                    continue
                mib, base = lines[case][-1], f"{sizes[0]:,} iterators"
                goal = FLAT if variant is DEFAULT else None
                result.append(Row(case, "MiB at the peak", mib, base, first, (mib / first,) * 3, goal))
    columns = ("ns per event", "created", "collected", "most alive", "MiB at the peak")
    return [*result, Matrix("one collection that outlives all iterators", columns, lines)]


def outlived(name: str, way: str, sizes: list[int]) -> list[tuple[int, float, int, int, int]]:
    """One collection outlives ever more iterators: by how many bytes the process has grown after each number of them,
    the nanoseconds per event so far, and the monitors created, collected and alive at the most."""
    program, loop = PROGRAMS[name], Loop(0, 2, "")
    result: list[tuple[int, float, int, int, int]] = []
    with WAYS[way].monitor(program.compiled) as monitor:

        def loops() -> Iterator[Loop]:
            for size, before in zip(sizes, [0, *sizes], strict=False):
                yield from repeat(loop, size - before)
                stats = monitor.stats()
                nanoseconds = (time.process_time() - start) / stats.events * 1e9
                result.append((memory("VmHWM") - empty, nanoseconds, stats.created, stats.collected, stats.most))

        program.play(monitor.event, [loop])  # whatever the first events set up
        empty, start = memory("VmRSS"), time.process_time()
        program.play(monitor.event, loops())
    return result


# ---- the parts ----


def _matrix(name: str, program: Program, loops: list[Loop], variants: tuple[Variant, ...], rounds: int) -> Matrix:
    compiled = program.compiled
    events, counted = 0, {}
    for variant in (DEFAULT, *variants):
        events, counted[variant.name] = _count(program, variant, compiled, loops)

    def side(variant: Variant) -> Side:
        def work(monitor: mopsus.Monitor) -> int:
            program.play(monitor.event, loops)
            return sum(monitor.stats().verdicts.values())

        return Side(prepare=partial(variant.monitor, compiled), work=work)

    nothing: dict[int, Send] = {1: empty_function(), 2: is_}
    arity = {event.name: len(event.parameters) for event in compiled.spec.events}
    sides = {each.name: side(each) for each in (DEFAULT, *variants)}
    sides[BARE] = Side(lambda _: program.play(lambda event: nothing[arity[event]], loops))
    timings = measure(sides, rounds, clock=time.process_time)
    bare = timings.pop(BARE).seconds
    agree(timings)
    # What else the machine does only ever adds: the quickest round says most.
    taken = {each: (min(timing.seconds) - min(bare)) / events * 1e9 for each, timing in timings.items()}
    return Matrix(
        f"{name}, {events:,} events",
        ("ns per event", "to the default", "created", "collected", "most alive", "MiB"),
        {each: (mine, mine / taken[DEFAULT.name], *counted[each]) for each, mine in taken.items()},
    )


def _count(
    program: Program, variant: Variant, compiled: CompiledSpec, loops: list[Loop]
) -> tuple[int, tuple[float, ...]]:
    """How many events there are; monitors created, collected and alive at the most; the core's own memory in MiB."""
    with variant.monitor(compiled) as monitor:
        program.play(monitor.event, loops)
        stats = monitor.stats()  # the core gives no memory back, so what it has is what it had at the peak
    return stats.events, (stats.created, stats.collected, stats.most, stats.bytes / MIB)
