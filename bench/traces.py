"""Traces, made at random from a fixed seed: many small stories, interleaved uniformly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Kind = Literal["dictionary", "int64", "string"]
NONE = -1
"""Stands for no value in a column."""


@dataclass(frozen=True)
class Trace:
    """Rows in columns: which event, and the number of the object in each parameter's column."""

    names: tuple[str, ...]
    event: NDArray[np.int8]
    columns: dict[str, NDArray[np.int64]]

    def table(self, kind: Kind) -> pa.Table:
        """As an Arrow table; the event names are dictionary-encoded unless everything is a plain string."""
        event = pa.DictionaryArray.from_arrays(self.event, list(self.names))
        arrays = {name: _column(values, kind) for name, values in self.columns.items()}
        return pa.table({"event": event.cast(pa.string()) if kind == "string" else event, **arrays})

    def lists(self) -> tuple[list[Any], ...]:
        """As lists of Python objects, the event names first; no value is None."""
        columns = [
            values.tolist() if values.min(initial=0) != NONE else [None if v == NONE else v for v in values.tolist()]
            for values in self.columns.values()
        ]
        return [self.names[code] for code in self.event.tolist()], *columns


def _column(values: NDArray[np.int64], kind: Kind) -> pa.Array:
    array = pa.array(values, mask=values == NONE)
    if kind == "dictionary":
        return array.dictionary_encode()
    return array.cast(pa.string()) if kind == "string" else array


def has_next(events: int, iterators: int, violations: int = 100) -> Trace:
    """Each iterator is asked and advanced by turns; a few times it is advanced without being asked."""
    random = np.random.default_rng(1)
    iterator = random.integers(0, iterators, events)
    position = _positions(iterator, iterators)
    event = (position % 2).astype(np.int8)
    asked_later = np.flatnonzero((event == 0) & (position > 0))
    event[random.choice(asked_later, min(violations, len(asked_later)), replace=False)] = 1
    return Trace(("hasnext", "next"), event, {"i": iterator})


def _positions(group: NDArray[np.int64], groups: int) -> NDArray[np.int64]:
    """How many rows of the same group come before each row."""
    order = np.argsort(group, kind="stable")
    grouped = group[order]
    start = np.searchsorted(grouped, np.arange(groups))
    positions = np.empty(len(group), np.int64)
    positions[order] = np.arange(len(group)) - start[grouped]
    return positions


Step = tuple[str, dict[str, int]]
"""An event of a story and, for each parameter, which of the story's objects it has."""


def interleave(story: Sequence[Step], events: int, live: int) -> Trace:
    """The story told over and over, each time with new objects, by enough tellers to have `live` objects at a time.

    Every row belongs to a teller chosen uniformly at random; one who is done starts again.
    """
    names = tuple(dict.fromkeys(name for name, _ in story))
    parameters = sorted({name for _, objects in story for name in objects}, key="mci".index)
    objects = 1 + max(number for _, each in story for number in each.values())
    tellers = max(1, live // objects)
    teller = np.random.default_rng(1).integers(0, tellers, events)
    position = _positions(teller, tellers)
    telling = (position // len(story)) * tellers + teller
    step = position % len(story)
    codes = np.array([names.index(name) for name, _ in story], np.int8)
    columns = {}
    for parameter in parameters:
        number = np.array([each.get(parameter, NONE) for _, each in story])[step]
        columns[parameter] = np.where(number == NONE, NONE, telling * objects + number)
    return Trace(names, codes[step], columns)


def unsafe_iterator_story() -> list[Step]:
    """A collection with 3 iterators of 10 uses, updated after the second and after the third."""
    return [
        *[("create", {"c": 0, "i": i}) for i in (1, 2)],
        *[("next", {"i": i}) for _ in range(10) for i in (1, 2)],
        ("update", {"c": 0}),
        ("create", {"c": 0, "i": 3}),
        *[("next", {"i": 3})] * 10,
        ("update", {"c": 0}),
    ]


def unsafe_map_iterator_story(*, release: bool = False) -> list[Step]:
    """A map with 5 iterators of 10 uses, updated after the third and after the fifth; then, perhaps, all end."""

    def uses(*iterators: int) -> list[Step]:
        created: list[Step] = [("create_iter", {"c": 1, "i": i}) for i in iterators]
        return created + [("use_iter", {"i": i}) for _ in range(10) for i in iterators]

    story: list[Step] = [("create_coll", {"m": 0, "c": 1}), *uses(2, 3, 4)]
    story += [("update_map", {"m": 0}), *uses(5, 6), ("update_map", {"m": 0})]
    if release:
        story += [("#release", {"m": 0, "c": 1, "i": 2}), *[("#release", {"i": i}) for i in (3, 4, 5, 6)]]
    return story
