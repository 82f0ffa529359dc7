"""Stage 4: whole blocks of text at once, through pyarrow.

Each function gives None rather than a result that `rows` would not give as well: pyarrow accepts
some texts that are no CSV or JSON lines by our definition (two objects on a line, a carriage
return as a row's end), and a block on which the two could differ is left to `rows`.
"""

from __future__ import annotations

from collections.abc import Iterable

from mopsus.events.trace.arrow import DataType, Table, arrow_type, load
from mopsus.events.trace.blocks import BLOCK
from mopsus.events.trace.columns import FALSE_CELLS, TRUE_CELLS, ColumnType, infer_from_cells
from mopsus.events.trace.needs import EVENT, OPTIONAL, ColumnTypes
from mopsus.events.trace.rows import CsvLayout, JsonLayout


def read_csv(block: bytes, layout: CsvLayout, types: ColumnTypes) -> Table | None:
    """The needed columns of a CSV block as an Arrow table."""
    pa = load("pyarrow")
    if pa is None:
        return None
    wanted = {name: arrow_type(types[name]) for name in layout.columns}
    if EVENT in wanted:
        # Costs a little more to build than plain strings and saves the monitors far more.
        wanted[EVENT] = pa.dictionary(pa.int32(), pa.string())
    table = _read_csv(block, layout, wanted)
    return None if table is None or _lacks_names(table, types) else table


def _lacks_names(table: Table, types: ColumnTypes) -> bool:
    return types.needs.named_only and table.column(EVENT).null_count > 0


def csv_samples(block: bytes, layout: CsvLayout, columns: Iterable[str]) -> dict[str, ColumnType | None] | None:
    """What each of the columns looks like in this block."""
    pa = load("pyarrow")
    if pa is None:
        return None
    table = _read_csv(block, layout, {name: pa.dictionary(pa.int32(), pa.binary()) for name in columns})
    if table is None:
        return None
    seen: dict[str, ColumnType | None] = {}
    for name in columns:
        column = table.column(name)
        cells = {cell for chunk in column.chunks for cell in chunk.dictionary.to_pylist()}
        seen[name] = infer_from_cells(cells)
    return seen


def _read_csv(block: bytes, layout: CsvLayout, wanted: dict[str, DataType]) -> Table | None:
    pa, csv = load("pyarrow"), load("pyarrow.csv")
    if pa is None or csv is None or not wanted or not _is_simple_csv(block):
        return None
    names = [f"\0{position}" for position in range(len(layout.header))]  # a header may name a column twice
    for name, position in layout.columns.items():
        names[position] = name
    try:
        table = csv.read_csv(
            pa.BufferReader(block),
            read_options=csv.ReadOptions(
                column_names=names, use_threads=False, block_size=max(2 * BLOCK, len(block) + 1)
            ),
            convert_options=csv.ConvertOptions(
                column_types=wanted,
                include_columns=list(wanted),
                null_values=[""],
                strings_can_be_null=True,
                true_values=list(TRUE_CELLS),
                false_values=list(FALSE_CELLS),
            ),
        )
    except (pa.ArrowException, UnicodeError):
        return None
    # Only a quoted field can have a newline in it; then rows and lines differ.
    return table if b'"' not in block or table.num_rows == _count_lines(block) else None


def _is_simple_csv(block: bytes) -> bool:
    if b"\r" in block and block.count(b"\r") != block.count(b"\r\n"):
        return False
    # A quote that is still open at the end of the file closes silently in pyarrow.
    return block.endswith(b"\n") or b'"' not in block


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
    if table.num_rows != _count_lines(block) or _lacks_names(table, types):
        return None
    # Any object may have any key; a column that no object here has is as good as absent.
    names = [name for name in layout.columns if name not in OPTIONAL or table.column(name).null_count < table.num_rows]
    table = table.select(names)
    if EVENT in names:
        position = names.index(EVENT)
        table = table.set_column(position, EVENT, table.column(EVENT).dictionary_encode())
    return table
