"""Stage 6: where a report goes: a stream as it is, a file whole or not at all.

A reader of a file never sees half a report, and a run that dies leaves the previous one.
"""

from __future__ import annotations

import errno
import io
import os
import stat
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from mopsus.report.messages import ReportError
from mopsus.whole import WholeFile


class Output:
    """A text destination. Nothing is promised to be there before `commit`."""

    def __init__(self, destination: TextIO | str | os.PathLike[str]) -> None:
        self._file: WholeFile | None = None
        if isinstance(destination, str | os.PathLike):
            self._name = os.fspath(destination)
            with self._errors():
                # A link stays a link: what it points to is replaced.
                self._target = Path(os.path.realpath(self._name))
                if self._target.is_symlink():  # it leads back to itself
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
                self._stream = self._open()
            self._owned = True
        else:
            self._name = str(getattr(destination, "name", "stream"))
            self._stream = destination
            self._owned = False

    @property
    def stream(self) -> TextIO:
        """The open stream, to ask what it is; write through `write`."""
        return self._stream

    def write(self, text: str) -> None:
        """Append text; what the stream's encoding lacks is written as an escape."""
        with self._errors():
            try:
                self._stream.write(text)
            except UnicodeEncodeError as error:
                self._stream.write(text.encode(error.encoding, "backslashreplace").decode(error.encoding))

    def flush(self) -> None:
        """Hand on what was written so far."""
        with self._errors():
            self._stream.flush()

    def commit(self) -> None:
        """The report is complete: flush the stream, or put the file in its place."""
        with self._errors():
            self._stream.flush()
            if self._file is not None:
                self._file.commit()
            if self._owned:
                self._stream.close()

    def _open(self) -> TextIO:
        mode = 0o666
        if self._target.exists():
            status = self._target.stat()
            if not stat.S_ISREG(status.st_mode):  # a device or a pipe is written to, never replaced
                device = self._target.open("w", encoding="utf-8", newline="\n")
                weakref.finalize(self, _abandon, device)
                return device
            mode = stat.S_IMODE(status.st_mode)
        self._file = WholeFile(self._target, mode)
        return io.TextIOWrapper(self._file.file, encoding="utf-8", newline="\n")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError as error:
            raise ReportError(f"nobody reads {self._name} any more", code="REPORT-004") from error
        except (OSError, ValueError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            raise ReportError(
                f"cannot write the report to {self._name}: {reason}",
                hint="check that the folder exists and may be written, and that the disk has room",
                code="REPORT-001",
            ) from error


def _abandon(device: TextIO) -> None:
    """The report may never have been completed, and nobody reads what else would be said about it."""
    with suppress(OSError):
        device.close()
