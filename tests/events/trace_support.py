"""What the tests of traces share: specs, a monitor that only writes down what it is fed, files in every format."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard
from oracle.rows import ROW, Defined

from mopsus.events.trace import TraceReader, arrow, check, expand, needs_of, text
from mopsus.model import Event, Parameter, Spec, TraceError

FIXED = {"event", "time", "thread", "location", ROW}


def spec_of(*events: Event, name: str = "S", **types: str | None) -> Spec:
    """A spec with these events; parameters are those of the events, typed by keyword."""
    names = dict.fromkeys(name for event in events for name in event.parameters)
    return Spec(name, tuple(Parameter(each, types.get(each)) for each in names), events=events)


HAS_NEXT = spec_of(Event("hasnext", ("i",)), Event("next", ("i",)), name="HasNext")


@dataclass
class Counts:
    """What a recording monitor counts."""

    bad_rows: int = 0
    seen: dict[str, int] = field(default_factory=dict)

    @property
    def occurred(self) -> dict[str, int]:
        """It has no conditions."""
        return self.seen


@dataclass
class Recording:
    """A monitor that keeps (event, values, row) and complains as the real one does."""

    spec: Spec
    on_verdict: Any = None
    events: list[tuple[str, dict[str, Any], int | None]] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)
    closed: bool = False

    def run(self, data: Any, *, source: str, first_row: int, bad_rows: str) -> None:
        parameters = {event.name: event.parameters for event in self.spec.events}
        if "event" not in data.column_names:
            raise TraceError("no column", file=source, row=first_row, column="event")
        for offset, row in enumerate(pa.record_batch(data).to_pylist()):
            number = row.get(ROW, first_row + offset)
            name = row["event"]
            if name is None:
                raise TraceError("no name", file=source, row=number, column="event")
            if name == "#release":
                names = [each.name for each in self.spec.parameters if row.get(each.name) is not None]
                self.row(name, {each: row[each] for each in names}, row=number)
            elif name in parameters:
                missing = [each for each in parameters[name] if row.get(each) is None]
                if missing and bad_rows == "stop":
                    raise TraceError("no value", file=source, row=number, column=missing[0])
                if missing:
                    self.counts.bad_rows += 1
                    continue
                self.row(name, {each: row[each] for each in parameters[name]}, row=number)

    def row(self, event: str, values: Mapping[str, Any], *, row: int | None = None, **rest: Any) -> None:
        self.counts.seen[event] = self.counts.seen.get(event, 0) + 1
        self.events.append((event, dict(values), row))

    def stats(self) -> Counts:
        return self.counts

    def close(self) -> None:
        self.closed = True


def run_check(specs: Sequence[Spec], *traces: Path | str, **options: Any) -> tuple[Any, list[Recording]]:
    """The result of a check with recording monitors, and these."""
    monitors: list[Recording] = []

    def open_monitor(spec: Spec, on_verdict: Any) -> Recording:
        monitors.append(Recording(spec, on_verdict))
        return monitors[-1]

    result = check(specs, [str(trace) for trace in traces], on_verdict=print, open_monitor=open_monitor, **options)
    return result, monitors


def read_rows(spec: Spec, *traces: Path | str, **options: Any) -> list[dict[str, Any]]:
    """Every row that a reader gives, as a mapping, with its number."""
    found = []
    with TraceReader(expand([str(trace) for trace in traces]), needs_of([spec]), **options) as reader:
        for batch in reader:
            rows = pa.record_batch(batch.columns).to_pylist()
            found += [{ROW: number, **row} for number, row in enumerate(rows, batch.first_row)]
    return found


def plain(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows without the columns that are null in all of them, and NaN as text, so that they can be compared."""
    listed = [
        {name: "NaN" if isinstance(value, float) and math.isnan(value) else value for name, value in row.items()}
        for row in rows
    ]
    used = {name for row in listed for name, value in row.items() if value is not None}
    return [{name: row.get(name) for name in sorted(used)} for row in listed]


def without_pyarrow(monkeypatch: Any) -> None:
    """Make the extra look as if it were not installed."""
    monkeypatch.setattr(arrow, "load", lambda module: None)


def row_by_row(monkeypatch: Any) -> None:
    """Leave nothing but the definition."""
    monkeypatch.setattr(text, "_core", Defined())


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> Path:
    lines = [",".join(columns)]
    lines += [",".join("" if row.get(name) is None else str(row[name]) for name in columns) for row in rows]
    path.write_text("\n".join(lines) + "\n")
    return path


def write_jsonl(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps({k: v for k, v in row.items() if v is not None}) + "\n" for row in rows))
    return path


def write_arrow(path: Path, rows: Sequence[Mapping[str, Any]], *, stream: bool = False) -> Path:
    table = pa.Table.from_pylist(list(rows))
    make = pa.ipc.new_stream if stream else pa.ipc.new_file
    with pa.OSFile(str(path), "wb") as file, make(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=1000)
    return path


def write_parquet(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    pq.write_table(pa.Table.from_pylist(list(rows)), path, row_group_size=1000)
    return path


def write_as(format: str, folder: Path, rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> Path:
    """The rows in a file of that format: csv, jsonl, parquet, arrow, stream."""
    path = folder / f"trace-{format}"
    match format:
        case "csv":
            return write_csv(path, rows, columns)
        case "jsonl":
            return write_jsonl(path, rows)
        case "parquet":
            return write_parquet(path, rows)
    return write_arrow(path, rows, stream=format == "stream")


def compressed(path: Path, how: str) -> Path:
    """The same file compressed: plain, gzip, gzip in several members, zstd, zstd in several frames."""
    data = path.read_bytes()
    half = len(data) // 2
    packed = {
        "plain": lambda: data,
        "gzip": lambda: gzip.compress(data),
        "gzips": lambda: gzip.compress(data[:half]) + gzip.compress(data[half:]),
        "zstd": lambda: zstandard.compress(data),
        "zstds": lambda: zstandard.compress(data[:half]) + zstandard.compress(data[half:]),
    }[how]()
    target = path.with_name(f"{path.name}-{how}")
    target.write_bytes(packed)
    return target
