"""Stage 4: whole blocks of text at once: CSV through the core, JSON lines through pyarrow.

Each function gives None rather than a result that `rows` would not give as well. The core gives up on
whatever is not plainly CSV, and pyarrow accepts some texts that are no JSON lines by our definition
(two objects on a line, say): such a block is left to `rows`.
"""

from __future__ import annotations

from collections.abc import Sequence

from mopsus import _core
from mopsus.events.trace.arrow import Table, arrow_type, load
from mopsus.events.trace.blocks import BLOCK
from mopsus.events.trace.columns import ColumnType
from mopsus.events.trace.needs import EVENT, OPTIONAL, ColumnTypes
from mopsus.events.trace.rows import CsvLayout, JsonLayout


def read_csv(block: bytes, layout: CsvLayout, types: ColumnTypes) -> _core.Columns | None:
    """The needed columns of a CSV block."""
    fields = [(name, place, types[name].value, name == EVENT) for name, place in layout.columns.items()]
    columns = _core.read_csv(block, len(layout.header), fields)
    if columns is None or (types.needs.named_only and columns.null_count(EVENT)):
        return None
    return columns


def csv_samples(block: bytes, layout: CsvLayout, columns: Sequence[str]) -> dict[str, ColumnType | None] | None:
    """What each of the columns looks like in this block."""
    seen = _core.infer_csv(block, len(layout.header), [layout.columns[name] for name in columns])
    if seen is None:
        return None
    return {name: ColumnType(type) if type else None for name, type in zip(columns, seen, strict=True)}


def _count_lines(block: bytes) -> int:
    return block.count(b"\n") + (not block.endswith(b"\n"))


def read_jsonl(block: bytes, layout: JsonLayout, types: ColumnTypes) -> Table | None:
    """The needed columns of a block of JSON lines as an Arrow table."""
    pa, pajson = load("pyarrow"), load("pyarrow.json")
    if pa is None or pajson is None or layout.nested or any(odd in block for odd in (b"NaN", b"Inf", b"}{", b"} {")):
        return None
    schema = pa.schema([(name, arrow_type(types[name])) for name in layout.columns])
    try:
        table = pajson.read_json(
            pa.BufferReader(block),
            read_options=pajson.ReadOptions(use_threads=False, block_size=max(2 * BLOCK, len(block) + 1)),
            parse_options=pajson.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
        )
        table.validate(full=True)  # it does not check that strings are UTF-8
    except (pa.ArrowException, UnicodeError):
        return None
    if table.num_rows != _count_lines(block) or (types.needs.named_only and table.column(EVENT).null_count):
        return None
    # Any object may have any key; a column that no object here has is as good as absent.
    names = [name for name in layout.columns if name not in OPTIONAL or table.column(name).null_count < table.num_rows]
    table = table.select(names)
    if EVENT in names:
        position = names.index(EVENT)
        table = table.set_column(position, EVENT, table.column(EVENT).dictionary_encode())
    return table
