"""UnsafeIterator(c, i): two parameters, against a loop by hand in Python."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from harness import Row, Side, agree, measure, speed_row
from hasnext import BY_HAND, checking
from specs import UNSAFE_ITERATOR, spec
from traces import Kind, interleave, unsafe_iterator_story

from mopsus.logics import compile_spec

EVENTS = 10_000_000
LIVE = (1_000, 100_000)
KINDS: tuple[Kind, ...] = ("dictionary", "int64", "string")


def by_hand(events: Iterable[str], collections: Iterable[int], iterators: Iterable[int]) -> int:
    """Each iterator remembers its collection and how often that had been updated."""
    updates: dict[int, int] = {}
    made: dict[int, tuple[int, int]] = {}
    bad = 0
    for event, collection, iterator in zip(events, collections, iterators, strict=True):
        if event == "next":
            if iterator in made:
                owner, then = made[iterator]
                if updates[owner] != then:
                    bad += 1
        elif event == "create":
            made[iterator] = collection, updates.setdefault(collection, 0)
        elif event == "update":
            updates[collection] = updates.get(collection, 0) + 1
    return bad


def _by_hand(lists: tuple[list[Any], ...], _: object) -> int:
    return by_hand(*lists)


def rows(scale: float) -> list[Row]:
    """All rows of this benchmark."""
    compiled = compile_spec(spec(UNSAFE_ITERATOR))
    result = []
    for live in LIVE:
        trace = interleave(unsafe_iterator_story(), int(EVENTS * scale), live)
        lists = trace.lists()
        sides: dict[str, Side] = {kind: checking(compiled, trace.table(kind), 0) for kind in KINDS}
        sides[BY_HAND] = Side(partial(_by_hand, lists))
        timings = measure(sides, rounds=3)
        agree(timings)
        result += [
            speed_row(
                f"{live:,} live objects, {kind} columns", len(trace.event), timings[kind], BY_HAND, timings[BY_HAND]
            )
            for kind in KINDS
        ]
    return result
