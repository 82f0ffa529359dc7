"""The events of a monitor as a trace that `mopsus check` reads: CSV, or JSON lines by the suffix `.jsonl`.

The trace is that of the course that the program took in the end: when a checkpoint is restored, what came after it is
cut off.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TextIO
from weakref import ref

from mopsus.interactive.debugger import DebuggerError, Where
from mopsus.model import Address, Spec, Unavailable

JSON_SUFFIXES = frozenset({".jsonl", ".ndjson", ".json"})
_PLACE = ("time", "thread", "location")
_PLAIN = (int, float, str, bool, type(None))


class Recorder:
    """Writes the events of one monitor, each at once: what is told of a program that dies must be there."""

    def __init__(self, path: Path, spec: Spec) -> None:
        names = dict.fromkeys(name for event in spec.events for name in event.names)
        self.path = path
        self._columns = ("event", *names, *(name for name in _PLACE if name not in names))
        self._parameters = frozenset(parameter.name for parameter in spec.parameters)
        self._objects = _Names()
        try:
            self._file: TextIO = path.open("w", encoding="utf-8", newline="", buffering=1)
        except OSError as error:
            raise DebuggerError(f"cannot write the record {path}: {error.strerror}") from error
        self._line: Callable[[Mapping[str, object]], str] = _json_line
        if path.suffix not in JSON_SUFFIXES:
            self._line = self._csv_line
            self._file.write(self._csv_line(dict(zip(self._columns, self._columns, strict=True))))

    @classmethod
    def beside(cls, record: str, spec: Spec, others: Collection[Recorder]) -> Recorder:
        """For the only monitor the file itself; the others have the name of their property before the suffix."""
        path = Path(record)
        if others:
            path = path.with_name(f"{path.stem}.{spec.name}{path.suffix}")
        taken = {each.path for each in others}
        number = 2
        while path in taken:
            path = path.with_name(f"{Path(record).stem}.{spec.name}-{number}{path.suffix}")
            number += 1
        return cls(path, spec)

    def write(self, event: str, values: Mapping[str, object], where: Where) -> None:
        """One event."""
        row: dict[str, object] = {"time": where.time, "thread": where.thread, "location": where.location}
        row |= {"event": event, **{name: self._plain(name, value) for name, value in values.items()}}
        self._file.write(self._line(row))

    def mark(self) -> int:
        """Where the trace is now."""
        return self._file.tell()

    def rewind(self, mark: int) -> None:
        """Cut off all that came after the mark."""
        self._file.seek(mark)
        self._file.truncate()

    def close(self) -> None:
        self._file.close()

    def _csv_line(self, row: Mapping[str, object]) -> str:
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow([row.get(column) for column in self._columns])
        return line.getvalue()

    def _plain(self, name: str, value: object) -> object:
        if value is None and name in self._parameters:
            return "None"  # a trace has no other way to say that a parameter has this value
        if type(value) in _PLAIN:
            return value
        if isinstance(value, Unavailable):
            return None
        if isinstance(value, Address):
            return int(value)
        if isinstance(value, bytes):
            return value.decode("utf-8", "backslashreplace")
        return self._objects[value]


class _Names:
    """Names for objects: the same one for as long as the object lives."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[str, object]] = {}
        self._count = 0

    def __getitem__(self, value: object) -> str:
        key = id(value)
        if key not in self._known:
            self._count += 1
            try:
                guard: object = ref(value, lambda _: self._known.pop(key, None))
            except TypeError:
                guard = value  # it cannot be watched, so it is kept, lest another takes its place
            self._known[key] = (f"{type(value).__name__}#{self._count}", guard)
        return self._known[key][0]


def _json_line(row: Mapping[str, object]) -> str:
    return json.dumps({name: value for name, value in row.items() if value is not None}, ensure_ascii=False) + "\n"
