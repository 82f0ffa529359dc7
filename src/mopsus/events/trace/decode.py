"""Stage 4: the child process that decodes Parquet and Arrow IPC; it imports nothing of Mopsus.

A damaged file of these formats can crash the library that reads it. Here it takes down a process
that has nothing to lose. What leaves it, as an Arrow stream on standard output, has been checked
in full and has only the columns and the few types that the parent understands.

    python decode.py parquet|arrow PATH|- '["column", …]'

It ends with status 0, or with status 4 and a JSON object `{"message": …}` on standard error.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterator
from typing import Any, TypeAlias

import pyarrow as pa

Batch: TypeAlias = Any  # pyarrow has no type information
Column: TypeAlias = Any
Schema: TypeAlias = Any

FAILED = 4
ROWS_AT_ONCE = 1 << 16
EVENT, TIME = "event", "time"


class UnusableError(Exception):
    """A column cannot be given to a monitor."""


def open_parquet(path: str, columns: list[str]) -> tuple[Schema, int, Iterator[Batch]]:
    """Schema, number of rows and batches of a Parquet file."""
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path)
    schema = file.schema_arrow
    if EVENT in schema.names:
        file = pq.ParquetFile(path, read_dictionary=[EVENT])
    present = [name for name in columns if name in schema.names]
    if not present:
        rows = file.metadata.num_rows
        return schema, rows, _rows_without_columns(rows)
    return schema, file.metadata.num_rows, file.iter_batches(ROWS_AT_ONCE, columns=present)


def _rows_without_columns(rows: int) -> Iterator[Batch]:
    for start in range(0, rows, ROWS_AT_ONCE):
        yield pa.record_batch([pa.nulls(min(ROWS_AT_ONCE, rows - start))], names=["\0"])


def open_arrow(path: str) -> tuple[Schema, int, Iterator[Batch]]:
    """Schema, number of rows (0 if the file does not say) and batches of an IPC file or stream."""
    if path == "-":
        stream = pa.ipc.open_stream(pa.PythonFile(sys.stdin.buffer, mode="r"))
        return stream.schema, 0, iter(stream)
    source = pa.OSFile(path)
    if source.read(6) != b"ARROW1":
        source.seek(0)
        stream = pa.ipc.open_stream(source)
        return stream.schema, 0, iter(stream)
    file = pa.ipc.open_file(source)
    return file.schema, 0, (file.get_batch(index) for index in range(file.num_record_batches))


def normalise(name: str, column: Column) -> Column:
    """The column as int64, float64, bool, string or binary; event names are dictionary-encoded, and times may be
    timestamps."""
    type = column.type
    kinds = pa.types
    if kinds.is_dictionary(type):
        if name == EVENT and kinds.is_string(type.value_type):
            return column.cast(pa.dictionary(pa.int32(), pa.string()))
        return normalise(name, column.dictionary_decode())
    if name == EVENT:
        return column.cast(pa.string()).dictionary_encode()
    if kinds.is_integer(type):
        return column.cast(pa.int64())
    if kinds.is_floating(type):
        return column.cast(pa.float64())
    if kinds.is_boolean(type):
        return column
    if kinds.is_binary(type) or kinds.is_large_binary(type) or kinds.is_fixed_size_binary(type):
        return column.cast(pa.binary())
    if kinds.is_timestamp(type) and name == TIME:
        return column  # exact, and with its unit
    if kinds.is_nested(type):
        raise UnusableError(f"column `{name}` holds {type}, not single values")
    return column.cast(pa.string())


def convert(batch: Batch, columns: list[str]) -> Batch:
    """The wanted columns of a batch, checked and normalised."""
    batch.validate(full=True)
    names = [name for name in columns if batch.schema.get_field_index(name) >= 0]
    if not names:
        return pa.record_batch([pa.nulls(batch.num_rows, pa.bool_())], names=["\0"])
    arrays = [normalise(name, batch.column(batch.schema.get_field_index(name))) for name in names]
    return pa.record_batch(arrays, names=names)


def main(format: str, path: str, columns: list[str]) -> None:
    """Decode the file at `path` to standard output."""
    schema, rows, batches = open_parquet(path, columns) if format == "parquet" else open_arrow(path)
    twice = [name for name in columns if schema.names.count(name) > 1]
    if twice:
        raise UnusableError(f"column `{twice[0]}` occurs twice")
    about = {b"rows": str(rows).encode(), b"columns": json.dumps(schema.names).encode()}
    sink = None
    with pa.PythonFile(sys.stdout.buffer, mode="w") as output:
        for batch in itertools.chain([_no_rows(schema, columns)], batches):
            for start in range(0, max(batch.num_rows, 1), ROWS_AT_ONCE):
                piece = convert(batch.slice(start, ROWS_AT_ONCE), columns)
                if sink is None:
                    sink = pa.ipc.new_stream(output, piece.schema.with_metadata(about))
                sink.write_batch(piece)
        if sink is not None:
            sink.close()


def _no_rows(schema: Schema, columns: list[str]) -> Batch:
    """An empty batch, so that even a trace without rows says which columns it has and of which types."""
    wanted = [field for field in schema if field.name in columns]
    return pa.record_batch([pa.array([], field.type) for field in wanted], names=[field.name for field in wanted])


if __name__ == "__main__":
    try:
        main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3]))
    except Exception as error:  # a damaged file may fail in any way, and all of them mean the same
        sys.stderr.write("\n" + json.dumps({"message": str(error).partition("\n")[0] or type(error).__name__}))
        sys.exit(FAILED)
