"""Stage 4: the batches of a log that is still being written."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from mopsus.events.trace.batches import BatchBuilder, Origin, TraceBatch
from mopsus.events.trace.follow import Follower, Whole
from mopsus.events.trace.likeness import likeness
from mopsus.events.trace.needs import ColumnTypes, Needs
from mopsus.events.trace.read import absent_columns, placed
from mopsus.events.trace.rotation import Mark
from mopsus.events.trace.rows import parse_header
from mopsus.events.trace.sources import BOM, Format, UnreadableError
from mopsus.events.trace.survey import Survey
from mopsus.events.trace.text import CsvReader, JsonReader, TextReader

_LAST_ROW = 1 << 53


class LogReader:
    """Iterates over the rows that a CSV or JSON-lines file has and gets, until `stop` is set.

    Rows count from 1 in each file that takes the place of the log, and again after a truncation. The header of the
    first CSV file holds for all of them; one that repeats it may.
    """

    def __init__(
        self,
        log: Path,
        needs: Needs,
        *,
        format: Format | None = None,
        skip: bool = False,
        stop: threading.Event | None = None,
        poll_s: float,
    ) -> None:
        self.survey = Survey(needs)
        self.types = ColumnTypes(needs)
        self.builder = BatchBuilder(skip=skip)
        self._log = log
        self._needs = needs
        self._skip = skip
        self.settled: Callable[[], object] = lambda: None
        """Called when everything that was given has been taken: `snapshot` is then right."""
        self.heard: Callable[[Whole, Format | None], object] = lambda whole, format: None
        """Called with everything that is read, before it is given."""
        self._given = 0  # bytes of rows that may not have been taken as a whole
        self._follower = Follower(log, format=format, stop=stop, poll_s=poll_s, idle=lambda: self.settled())
        self._reader: TextReader | None = None
        self._header: tuple[str, ...] = ()
        self._like = ""
        self._row = 1
        self._place = self._follower.start, self._row  # where the next run is to go on, and the row there

    def snapshot(self) -> dict[str, Any]:
        """How far the log was read, and what was found out about it, as plain data."""
        return {
            "mark": self._place[0].to_data(),
            "row": self._place[1],
            "format": None if self._follower.format is None else self._follower.format.value,
            "header": None if self._reader is None else list(self._header),
            "types": self.types.all_decided(),
        }

    def restore(self, data: Mapping[str, Any]) -> None:
        """Go on where `snapshot` was taken. Before the first row."""
        self._row = int(data["row"])
        if not 0 < self._row < _LAST_ROW:
            raise ValueError(f"there is no row {self._row}")
        self.types.settle(data["types"])
        if data["format"] is not None:
            self._follower.format = Format(data["format"])
        if data["header"] is not None:
            self._header = self._follower.header = tuple(data["header"])
            self._reader = self._make_reader()
        self._follower.start = Mark.of_data(data["mark"])
        self._place = self._follower.start, self._row

    @property
    def lost(self) -> bool:
        """Was the place where it was to go on nowhere to be found?"""
        return self._follower.lost

    @property
    def is_settled(self) -> bool:
        """Has everything been taken that was given? What is left in the midst of a block is not."""
        return not self._given

    @property
    def unread(self) -> int:
        """How many bytes the log has that were not taken, if it was left before its end."""
        return self._given + self._follower.unread

    def __iter__(self) -> Iterator[TraceBatch]:
        origin = Origin(str(self._log))
        try:
            for whole in self._follower:
                self.heard(whole, self._follower.format)
                self._given = len(whole.rows)
                self._row = 1 if whole.begins else self._row
                rows = self._begin(whole) if whole.begins else whole.rows
                if rows and self._reader is not None:
                    if self._follower.format is Format.JSONL:
                        self.survey.see_objects(str(self._log), rows, self._like)
                    origin = Origin(str(self._log), absent_columns(self._needs, self._reader.present), self._like)
                    self._reader.sample(rows)
                    parsed = self._reader.parse(rows, stop=not self._skip)
                    yield from self.builder.build(parsed, origin, self._row)
                    self._row += parsed.count
                if rows:  # by its header alone a file is not known again: all begin with it
                    self._place = whole.mark, self._row
                self._given = 0
                self.settled()
        except (UnreadableError, OSError) as error:
            reason = error if isinstance(error, UnreadableError) else UnreadableError(error.strerror or str(error))
            raise placed(reason, origin.name, self._row) from None

    def _begin(self, whole: Whole) -> bytes:
        """The rows at the beginning of a file, without its header."""
        if self._follower.format is Format.JSONL:
            self._like = likeness(whole.rows)
            self._reader = self._reader or self._make_reader()
            return whole.rows.removeprefix(BOM)
        header, rest = parse_header(whole.rows)
        if self._reader is None:
            self._header = header
            self._like = likeness(whole.rows)
            self._reader = self._make_reader()
        return rest if header == self._header else whole.rows

    def _make_reader(self) -> TextReader:
        if self._follower.format is Format.JSONL:
            return JsonReader(self._needs, self.types)
        self.survey.see_table(str(self._log), self._header, self._like)
        return CsvReader(self._header, self._needs, self.types, self._like)
