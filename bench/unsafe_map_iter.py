"""UnsafeMapIterator(m, c, i): three parameters that no event has all of, against a loop by hand in Python."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from harness import Goal, Row, Side, agree, measure, speed_row
from hasnext import BY_HAND, checking
from specs import UNSAFE_MAP_ITERATOR, spec
from traces import Kind, interleave, unsafe_map_iterator_story

from mopsus.logics import compile_spec

EVENTS = 10_000_000
GOALS = {1_000: 5.0, 1_000_000: 2.5}
"""Millions of events per second at so many live objects."""
KINDS: tuple[Kind, ...] = ("dictionary", "int64")


def by_hand(events: Iterable[str], maps: Iterable[int], collections: Iterable[int], iterators: Iterable[int]) -> int:
    """Each iterator remembers its map, through its collection, and how often that had been updated."""
    updates: dict[int, int] = {}
    owner: dict[int, int] = {}
    made: dict[int, tuple[int, int]] = {}
    bad = 0
    for event, map_, collection, iterator in zip(events, maps, collections, iterators, strict=True):
        if event == "use_iter":
            if iterator in made:
                map_, then = made[iterator]
                if updates.get(map_, 0) != then:
                    bad += 1
        elif event == "update_map":
            updates[map_] = updates.get(map_, 0) + 1
        elif event == "create_iter":
            if collection in owner:
                map_ = owner[collection]
                made[iterator] = map_, updates.get(map_, 0)
        elif event == "create_coll":
            owner[collection] = map_
        elif event == "#release":
            updates.pop(map_, None)
            owner.pop(collection, None)
            made.pop(iterator, None)
    return bad


def _by_hand(lists: tuple[list[Any], ...], _: object) -> int:
    return by_hand(*lists)


def rows(scale: float) -> list[Row]:
    """All rows of this benchmark."""
    compiled = compile_spec(spec(UNSAFE_MAP_ITERATOR))
    result = []
    for live, goal in GOALS.items():
        for release in (False, True):
            trace = interleave(unsafe_map_iterator_story(release=release), int(EVENTS * scale), int(live))
            lists = trace.lists()
            sides: dict[str, Side] = {kind: checking(compiled, trace.table(kind), 0) for kind in KINDS}
            sides[BY_HAND] = Side(partial(_by_hand, lists))
            timings = measure(sides, rounds=3)
            agree(timings)
            kept = ", with #release rows" if release else ""
            result += [
                speed_row(
                    f"{live:,} live objects, {kind} columns{kept}",
                    len(trace.event),
                    timings[kind],
                    BY_HAND,
                    timings[BY_HAND],
                    Goal("≥", goal, of="ours"),
                )
                for kind in KINDS
            ]
    return result
