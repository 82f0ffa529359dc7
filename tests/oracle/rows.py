"""The readers of CSV and JSON lines, slow and obvious: every row is read by the definition."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import pyarrow as pa

from mopsus import _core
from mopsus.events.trace import rows
from mopsus.events.trace.arrow import column_type
from mopsus.events.trace.columns import INT64, ColumnType, join_types

ROW = "#row"
KINDS = {"int": pa.int64(), "float": pa.float64(), "bool": pa.bool_(), "str": pa.string(), "bytes": pa.binary()}


def infer_from_values(values: Iterable[object]) -> ColumnType | None:
    """The type of a column with these typed values; None if all are null or no single values."""
    return join_types(kind for value in values if (kind := _kind_of(value)) is not None)


def _kind_of(value: object) -> ColumnType | None:
    match value:
        case bool():
            return ColumnType.BOOL
        case int():
            return ColumnType.INT if value in INT64 else ColumnType.STR
        case float():
            return ColumnType.FLOAT
        case str():
            return ColumnType.STR
    return None


class Defined:
    """The core's readers, slow and obvious: every row is odd."""

    @staticmethod
    def read_csv(block: bytes, width: int, fields: Any, positions: Any, odd: Any) -> tuple[Any, int]:
        return _all_odd(block, fields, odd, blank=(b"", b"\r"))

    @staticmethod
    def read_json_lines(block: bytes, fields: Any, odd: Any) -> tuple[Any, int]:
        return _all_odd(block, fields, odd, blank=None)

    @staticmethod
    def infer_csv(block: bytes, width: int, positions: Any) -> None:
        return None

    @staticmethod
    def infer_json_lines(block: bytes, names: Sequence[str]) -> list[str | None]:
        found: list[dict[str, object]] = []
        for line in block.split(b"\n"):
            with suppress(ValueError):
                found.append(rows.decode_line(line))
        return [infer_from_values(rows.field_of(row, name) for row in found) for name in names]


def columns_of(data: pa.Table | pa.RecordBatch, first_row: int = 1) -> _core.Columns:
    """The rows of Arrow data as the core has them, with their event names numbered."""
    batch = data if isinstance(data, pa.RecordBatch) else data.combine_chunks().to_batches()[0]
    fields = [(f.name, column_type(f.type).value, f.name == "event", False) for f in batch.schema]
    columns, _ = _core.read_arrow(batch, fields, lambda at, offset: (None, at + 1))
    columns.begin_at(first_row)
    return columns


def _all_odd(block: bytes, fields: Any, odd: Any, blank: tuple[bytes, ...] | None) -> tuple[Any, int]:
    """The rows as `odd` gives them, handed to the core as Arrow data."""
    at = count = 0
    good, offsets = [], []
    while at < len(block):
        line = block[at:].partition(b"\n")[0]
        if (not line or line.isspace()) if blank is None else line in blank:
            at += len(line) + 1
            continue
        values, at = odd(at, count)
        if values is not None:
            good.append(values)
            offsets.append(count)
        count += 1
    arrays = [pa.array([row[k] for row in good], KINDS[type]) for k, (_, type, *_) in enumerate(fields)]
    names = [name for name, *_ in fields]
    gaps = offsets != list(range(len(offsets)))
    if gaps:
        arrays.append(pa.array([offset + 1 for offset in offsets], pa.int64()))
        names.append(ROW)
    if not names:  # rows, and nothing in them
        return _core.read_arrow(pa.record_batch([pa.nulls(len(good))], names=["?"]), [], odd)[0], count
    return columns_of(pa.record_batch(arrays, names=names)), count
