"""Stage 4: Parquet and Arrow IPC, decoded by a child process (see `decode`) and streamed through a pipe.

Measured on a Parquet file of ten million rows with two columns, the detour takes half a second
where reading directly takes a tenth: half of it is the start of the child, the rest is checking
and copying, and goes on while the parent monitors.
"""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO

from mopsus import _core
from mopsus.events.trace.arrow import Batch, column_type, require, without_timestamps
from mopsus.events.trace.columns import convert_value
from mopsus.events.trace.needs import EVENT, ColumnTypes, Needs
from mopsus.events.trace.rows import Answer, Parsed, RowByRow
from mopsus.events.trace.sources import Format, UnreadableError
from mopsus.events.trace.text import fields_of, missing_event_column

DECODER = Path(__file__).with_name("decode.py")
STREAM_MAGIC = b"\xff\xff\xff\xff"


class Decoding:
    """A running child process: the file's columns, its number of rows if known, and its batches."""

    def __init__(self, format: Format, path: Path | None, pieces: Iterable[bytes], columns: Sequence[str]) -> None:
        """Decode the file at `path`, or else the bytes that `pieces` give."""
        self._pa = require("pyarrow", "a Parquet or Arrow trace")
        self._format = format
        self._closing = ExitStack()
        pieces = iter(pieces)
        head = b"" if path is not None else next(pieces, b"")
        streamed = format is Format.ARROW and head.startswith(STREAM_MAGIC)
        if path is None and not streamed:
            path = self._spool(head, pieces)
        self._complaints: IO[bytes] = self._closing.enter_context(tempfile.TemporaryFile())  # noqa: SIM115  # closed with the rest
        self._child = subprocess.Popen(
            [sys.executable, "-P", str(DECODER), format.value, str(path or "-"), json.dumps(list(columns))],
            stdin=subprocess.PIPE if streamed else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            process_group=0,  # a signal to all is for whoever asks us
        )
        self._closing.callback(self._end_child)
        self._feed_error: UnreadableError | None = None
        if streamed:
            self._feeder = threading.Thread(target=self._feed, args=(head, pieces), daemon=True)
            self._feeder.start()
        try:
            self._stream = self._pa.ipc.open_stream(self._child.stdout)
        except (self._pa.ArrowException, OSError):
            failure = self._failure()
            self.close()
            raise failure from None
        about = self._stream.schema.metadata
        self.rows = int(about[b"rows"])
        self.columns: tuple[str, ...] = tuple(json.loads(about[b"columns"]))

    def _spool(self, head: bytes, pieces: Iterator[bytes]) -> Path:
        """Both formats keep their index at the end, so that a stream of one has to be on disk first."""
        folder = tempfile.mkdtemp(prefix="mopsus-")
        self._closing.callback(shutil.rmtree, folder, ignore_errors=True)
        path = Path(folder, "trace")
        with path.open("wb") as file:
            file.write(head)
            file.writelines(pieces)
        return path

    def _feed(self, head: bytes, pieces: Iterator[bytes]) -> None:
        assert self._child.stdin is not None
        with suppress(BrokenPipeError), self._child.stdin as pipe:
            try:
                pipe.write(head)
                for piece in pieces:
                    pipe.write(piece)
            except UnreadableError as error:
                self._feed_error = error

    def __iter__(self) -> Iterator[Batch]:
        """The batches; `UnreadableError` when the file is damaged, after every batch before the damage."""
        while True:
            try:
                batch = self._stream.read_next_batch()
            except StopIteration:
                break
            except (self._pa.ArrowException, OSError):
                raise self._failure() from None
            if batch.num_rows:
                yield batch
        if self._child.wait() != 0 or self._feed_error is not None:
            raise self._failure()

    def _failure(self) -> UnreadableError:
        status = self._child.wait()
        name = "Parquet" if self._format is Format.PARQUET else "Arrow"
        if self._feed_error is not None:
            return self._feed_error
        if status < 0:
            return UnreadableError(
                f"decoding crashed ({signal.Signals(-status).name}): the {name} data is damaged",
                "write the file again, or get an undamaged copy of it",
            )
        self._complaints.seek(0)
        last = self._complaints.read()[-4096:].rpartition(b"\n")[2]
        try:
            message = json.loads(last)["message"]
        except (ValueError, KeyError, TypeError):
            message = last.decode(errors="replace") or f"the decoder ended with status {status}"
        return UnreadableError(f"not readable as {name}: {message}", "get an undamaged copy, or check `--format`")

    def close(self) -> None:
        """End the child, whether it is done or not, and remove what was spooled."""
        self._closing.close()

    def _end_child(self) -> None:
        self._child.kill()
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()
        self._child.wait()


class BinaryReader:
    """Turns decoded batches into columns of the types that the run has settled on."""

    def __init__(self, decoding: Decoding, needs: Needs, types: ColumnTypes) -> None:
        self._types = types
        self.present = tuple(name for name in needs.columns if name in decoding.columns)
        if needs.named_only and EVENT not in decoding.columns:
            raise missing_event_column(decoding.columns)

    def parse(self, batch: Batch, *, stop: bool) -> Parsed:
        """The rows of a batch; with `stop`, nothing after the first bad one."""
        open_columns = self._types.undecided(self.present)
        self._types.decide(
            {
                name: column_type(batch.schema.field(name).type)
                for name in open_columns
                if batch.column(name).null_count < batch.num_rows
            }
        )
        odd = RowByRow(self.present, self._types, stop=stop, end=batch.num_rows)

        def read(at: int, offset: int) -> Answer:
            row = batch.slice(at, 1)
            values = [without_timestamps(row.column(name)).to_pylist()[0] for name in self.present]
            return odd.convert(offset, at + 1, values, convert_value)

        found, count = _core.read_arrow(batch, fields_of(self.present, self._types), read)
        return Parsed(found, count, tuple(odd.bad))
