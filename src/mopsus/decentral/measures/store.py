"""Measures of runs in SQLite: table `bench` has a row for each run and a column for each measure.

Columns are added as measures appear. A run that failed has a row in `failed` instead, until it succeeds. What belongs
together is written together, so that a database has whole runs only, whenever its writer was killed.
"""

from __future__ import annotations

import fcntl
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import IO, Any, NamedTuple

from mopsus.decentral.errors import DecentralError
from mopsus.decentral.measures.points import Value

BENCH = "bench"


class RunKey(NamedTuple):
    """What tells the runs of an experiment apart; the first columns of `bench`."""

    series: str
    spec: str
    trace: int
    alg: str

    def __str__(self) -> str:
        return " ".join((*([self.series] if self.series else []), self.spec, f"trace {self.trace}", self.alg))


class Failure(NamedTuple):
    """A run that could not be carried out, and why."""

    run: RunKey
    message: str


Row = tuple[RunKey, Mapping[str, Value]]
"""A run with what was measured of it."""


class Store:
    """A database of runs. `DecentralError` if the file is something else, or cannot be written."""

    def __init__(self, path: Path, *, must_exist: bool = False) -> None:
        self._path = path
        self._lock_path = path.with_name(f"{path.name}.lock")
        self._lock: IO[bytes] | None = None
        if must_exist and not path.is_file():
            raise DecentralError(f"there are no results {path}", code="DECENTRAL-082")
        try:
            self._connection = sqlite3.connect(path, isolation_level=None, timeout=60)
            if not must_exist:
                self._create()
            self._columns = {name.lower() for name in self.columns()}
        except sqlite3.Error as error:
            raise self._refused(error) from error
        if not self._columns.issuperset(RunKey._fields):
            raise DecentralError(f"{path} is no database of results", code="DECENTRAL-082")

    def close(self) -> None:
        """Let go of the file, which then holds everything."""
        with suppress(sqlite3.Error):  # others may still use it, and see to that when they are done
            self._connection.execute("PRAGMA busy_timeout = 0")
            self._connection.execute("PRAGMA journal_mode = DELETE")
        self._connection.close()
        if self._lock is not None:
            self._lock_path.unlink(missing_ok=True)
            self._lock.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def columns(self) -> list[str]:
        """The names of all columns, in order of appearance."""
        return [str(row[1]) for row in self._rows(f"PRAGMA table_info({BENCH})")]

    def write(self, rows: Sequence[Row], failures: Sequence[Failure] = ()) -> None:
        """Add runs and failures, all or none. A run that failed before has succeeded now."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                self._insert(rows)
                self._connection.executemany(
                    f"DELETE FROM failed WHERE {_each_is(RunKey._fields)}", [run for run, _ in rows]
                )
                self._connection.executemany(
                    f"INSERT OR REPLACE INTO failed VALUES ({_marks(RunKey._fields)}, ?)",
                    [(*run, message) for run, message in failures],
                )
                self._connection.execute("COMMIT")
            except BaseException:
                self._connection.execute("ROLLBACK")
                self._columns = {name.lower() for name in self.columns()}
                raise
        except sqlite3.Error as error:
            raise self._refused(error) from error

    def finished(self) -> set[RunKey]:
        """The runs that have a row."""
        return set(map(RunKey._make, self._rows(f"SELECT {_names(RunKey._fields)} FROM {BENCH}")))

    def failures(self) -> list[Failure]:
        """The runs that failed and have not succeeded since."""
        rows = self._rows(f"SELECT * FROM failed ORDER BY {_names(RunKey._fields)}")
        return [Failure(RunKey._make(row[:-1]), row[-1]) for row in rows]

    def select(self, columns: Sequence[str]) -> Iterator[tuple[Value, ...]]:
        """These columns of all runs, ordered by algorithm, then as they were written."""
        return self._rows(f"SELECT {_names(columns)} FROM {BENCH} ORDER BY alg, rowid")

    def types(self) -> dict[str, set[str]]:
        """The types of what stands in each column, without `null`."""
        found = {}
        for column in self.columns():
            rows = self._rows(f"SELECT DISTINCT typeof({_name(column)}) FROM {BENCH}")
            found[column] = {str(kind) for (kind,) in rows} - {"null"}
        return found

    def claim(self, title: str, identities: Mapping[str, str]) -> None:
        """Be the only one who adds results, and say what those of each series of an experiment depend on.
        `DecentralError` if another process adds some, or if there are some that depend on other things."""
        self._lock = self._lock_path.open("wb")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # which ends with the process, however that ends
        except OSError:
            self._lock.close()
            self._lock = None
            raise DecentralError(f"another process is writing results to {self._path}", code="DECENTRAL-082") from None
        before = dict(self._rows("SELECT series, identity FROM experiment"))
        for series, identity in identities.items():
            if before.get(series, identity) != identity:
                raise DecentralError(
                    f"{self._path} has results of an experiment with other settings",
                    hint="choose another file for the results, or delete it",
                    code="DECENTRAL-082",
                )
        self._connection.executemany(
            "INSERT OR REPLACE INTO experiment VALUES (?, ?, ?)",
            [(series, identity, title) for series, identity in identities.items()],
        )

    def title(self) -> str:
        """What the experiment is called."""
        row = next(self._rows("SELECT title FROM experiment ORDER BY rowid DESC LIMIT 1"), None)
        return self._path.stem if row is None else str(row[0])

    def _create(self) -> None:
        keys = ", ".join(f"{name} NOT NULL" for name in RunKey._fields)
        unique = f"UNIQUE ({_names(RunKey._fields)})"
        # What was written outlives the process without waiting for the disk each time.
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute(f"CREATE TABLE IF NOT EXISTS {BENCH} ({keys}, {unique})")
        self._connection.execute(f"CREATE TABLE IF NOT EXISTS failed ({keys}, message TEXT NOT NULL, {unique})")
        self._connection.execute(
            "CREATE TABLE IF NOT EXISTS experiment (series PRIMARY KEY, identity TEXT NOT NULL, title TEXT NOT NULL)"
        )
        self._connection.execute("COMMIT")

    def _insert(self, rows: Iterable[Row]) -> None:
        for columns, alike in groupby(rows, key=lambda row: tuple(row[1])):
            for column in columns:
                if column.lower() not in self._columns:  # names of columns are alike to SQLite in either case
                    self._connection.execute(f"ALTER TABLE {BENCH} ADD COLUMN {_name(column)}")
                    self._columns.add(column.lower())
            every = (*RunKey._fields, *columns)
            self._connection.executemany(
                f"INSERT INTO {BENCH} ({_names(every)}) VALUES ({_marks(every)})",
                [(*run, *measured.values()) for run, measured in alike],
            )

    def _rows(self, query: str) -> Iterator[Any]:
        """What a query gives; `DecentralError` if the database is damaged."""
        try:
            yield from self._connection.execute(query)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self._refused(error) from error

    def _refused(self, error: Exception) -> DecentralError:
        return DecentralError(f"cannot use {self._path} for results: {error}", code="DECENTRAL-082")


def write_parquet(store: Store, path: Path, *, rows_at_once: int = 50_000) -> int:
    """Write all runs as a Parquet file; how many. Needs the extra `trace`."""
    from mopsus.events.trace.arrow import require

    pa, parquet = (require(name, "a Parquet file") for name in ("pyarrow", "pyarrow.parquet"))
    kinds = {frozenset({"integer"}): pa.int64(), frozenset({"real"}): pa.float64(), frozenset(): pa.null()}
    kinds[frozenset({"integer", "real"})] = pa.float64()
    types = {name: kinds.get(frozenset(found), pa.string()) for name, found in store.types().items()}
    schema = pa.schema(list(types.items()))
    texts = [number for number, kind in enumerate(types.values()) if kind == pa.string()]
    written = 0
    with parquet.ParquetWriter(path, schema) as writer:
        selected = store.select(list(types))
        while block := [list(row) for _, row in zip(range(rows_at_once), selected, strict=False)]:
            for row in block:
                for number in texts:
                    row[number] = None if row[number] is None else str(row[number])
            columns = [
                pa.array(column, kind) for column, kind in zip(zip(*block, strict=True), schema.types, strict=True)
            ]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))
            written += len(block)
    return written


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _names(columns: Iterable[str]) -> str:
    return ", ".join(map(_name, columns))


def _marks(columns: Sequence[str]) -> str:
    return ", ".join("?" * len(columns))


def _each_is(columns: Iterable[str]) -> str:
    return " AND ".join(f"{_name(column)} = ?" for column in columns)
