"""Traces as Arrow data, in every layout that a reader or a data frame may hand over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import Any

import pyarrow as pa
from oracle.slicing import Occurrence

from mopsus.model import Spec

LAYOUTS = ("int8", "int32", "plain")
"""How a column is stored: as indices of that width into a dictionary, or plainly."""


class OnlyStream:
    """Some other library's data: nothing but the C stream interface."""

    def __init__(self, data: Any) -> None:
        self._data = data

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._data.__arrow_c_stream__(requested_schema)


class OnlyArray:
    """Some other library's batch: nothing but the C array interface."""

    def __init__(self, data: Any) -> None:
        self._data = data

    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        return self._data.__arrow_c_array__(requested_schema)


def batches(rng: Random, spec: Spec, trace: Sequence[Occurrence], layouts: Sequence[str]) -> list[pa.RecordBatch]:
    """The trace cut into batches of one schema; every batch has dictionaries of its own."""
    declared = {event.name: event.parameters for event in spec.events}
    bound = sorted({name for names in declared.values() for name in names})
    columns = {"event": _Column(rng, [entry.event for entry in trace], layouts)}
    for name in bound:
        columns[name] = _Column(rng, [entry.binding[name] for entry in trace if name in entry.binding], layouts)
    if spec.modifiers.perthread or rng.random() < 0.2:
        columns["thread"] = _Column(rng, [entry.thread for entry in trace], layouts)
    if rng.random() < 0.2:
        columns["unheard of"] = _Column(rng, [1, 2], layouts)
    numbered = rng.random() < 0.2
    order = list(columns)
    rng.shuffle(order)
    made = []
    for first, chunk in _chunks(rng, trace):
        cells: dict[str, list[Any]] = {name: [entry.binding.get(name) for entry in chunk] for name in bound}
        cells["event"] = [entry.event for entry in chunk]
        cells["thread"] = [entry.thread for entry in chunk]
        cells["unheard of"] = [None] * len(chunk)
        needed = {name: [name in declared.get(entry.event, ()) for entry in chunk] for name in bound}
        arrays = [
            columns[name].array(rng, cells[name], needed.get(name, [name != "unheard of"] * len(chunk)))
            for name in order
        ]
        names = list(order)
        if numbered:
            arrays.append(pa.array(range(first + 1, first + 1 + len(chunk)), pa.int64()))
            names.append("#row")
        made.append(pa.RecordBatch.from_arrays(arrays, names=names))
    return made


def deliveries(rng: Random, made: Sequence[pa.RecordBatch]) -> Iterator[tuple[Any, int]]:
    """The batches in a form that `run` takes, each with the number of its first row."""
    way = rng.randrange(6)
    if way < 2:
        first = 1
        for batch in made:
            yield (OnlyArray(batch) if way else batch), first
            first += batch.num_rows
    elif way < 4:
        table = pa.Table.from_batches(made)
        yield (OnlyStream(table) if way == 2 else table), 1
    else:
        reader = pa.RecordBatchReader.from_batches(made[0].schema, made)
        yield (OnlyStream(reader) if way == 4 else reader), 1


def _chunks(rng: Random, trace: Sequence[Occurrence]) -> Iterator[tuple[int, Sequence[Occurrence]]]:
    cuts = sorted(rng.randint(0, len(trace)) for _ in range(rng.choice((0, 0, 1, 3))))
    for begin, end in zip([0, *cuts], [*cuts, len(trace)], strict=True):
        yield begin, trace[begin:end]


class _Column:
    """A column of one type over all batches."""

    def __init__(self, rng: Random, values: Iterable[Any], layouts: Sequence[str]) -> None:
        self._pool = list(dict.fromkeys(values)) or [""]
        self._type = _value_type(rng, self._pool)
        self._layout = rng.choice(layouts)

    def array(self, rng: Random, cells: list[Any], needed: Sequence[bool]) -> pa.Array:
        """The cells; those that no event needs are null or anything, and there may be more around them."""
        junk = [rng.choice([None, *self._pool]) for _ in range(rng.choice((0, 0, 1, 9)))]
        cells = [
            cell if wanted else rng.choice([None, *self._pool]) for cell, wanted in zip(cells, needed, strict=True)
        ]
        whole = self._encode(rng, [*junk, *cells, *junk])
        return whole.slice(len(junk), len(cells))

    def _encode(self, rng: Random, cells: list[Any]) -> pa.Array:
        if self._layout == "plain":
            return pa.array(cells, self._type)
        words = [*self._pool, *rng.choices(self._pool, k=rng.choice((0, 0, 2)))]  # an entry may occur twice
        rng.shuffle(words)
        places: dict[Any, list[int]] = {}
        for place, word in enumerate(words):
            places.setdefault(word, []).append(place)
        indices = [None if cell is None else rng.choice(places[cell]) for cell in cells]
        return pa.DictionaryArray.from_arrays(pa.array(indices, self._layout), pa.array(words, self._type))


def _value_type(rng: Random, values: Sequence[Any]) -> pa.DataType:
    if all(isinstance(value, bool) for value in values):
        return pa.bool_()
    if all(isinstance(value, int) for value in values):
        narrow = all(-128 <= value < 128 for value in values)
        return rng.choice([pa.int64(), pa.int32(), pa.int8()]) if narrow else pa.int64()
    if all(isinstance(value, float) for value in values):
        return pa.float64()
    return rng.choice([pa.string(), pa.large_string()])
