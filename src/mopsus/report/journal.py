"""Stage 6: verdicts appended to a file, one to a line, each of them once, however often the run is killed.

Every verdict has the number that it is of those of its spec. A run that goes on from a state that is older than the end
of the file comes upon the same verdicts once more, and knows them by their numbers.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mopsus.model import UNDECODABLE, Verdict
from mopsus.report.json import json_verdict
from mopsus.report.messages import ReportError

if TYPE_CHECKING:
    from mopsus.report.summary import Summary

_encode = json.JSONEncoder(allow_nan=False).encode
_PIECE = 1 << 16


class Journal:
    """The file, which is this run's alone until `close`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._numbers: Counter[str] = Counter()
        """By spec, how many verdicts there were."""
        self._known: Counter[str] = Counter()
        """By spec, how many are in the file."""
        with self._errors():
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
            if not stat.S_ISREG(os.fstat(self._file).st_mode):
                raise ReportError(f"{path} is no file that could be appended to", code="REPORT-001")
            self._claim()
            self._cut_off()

    def close(self) -> None:
        """Let others have the file."""
        os.close(self._file)

    def is_new(self, verdict: Verdict) -> bool:
        """Is the next verdict one that the file does not have? To be asked once for each."""
        self._numbers[verdict.spec] += 1
        return self._numbers[verdict.spec] > self._known[verdict.spec]

    def add(self, verdict: Verdict) -> None:
        """Append a verdict that is new."""
        line = f"{_encode({'number': self._numbers[verdict.spec], **json_verdict(verdict)})}\n".encode()
        with self._errors():
            while line:
                line = line[os.write(self._file, line) :]

    def finish(self, summary: Summary) -> None:
        """Nothing is left to write: each verdict is in the file since it came."""

    def snapshot(self) -> Mapping[str, Any]:
        """What is in the file, which is on the disk by then."""
        with self._errors():
            os.fsync(self._file)
            size = os.fstat(self._file).st_size
        # While the monitors catch up with what an earlier run has found, the file has more verdicts than they.
        return {"size": size, "numbers": dict(self._numbers), "known": dict(self._known | self._numbers)}

    def restore(self, data: Mapping[str, Any]) -> None:
        """Go on from `snapshot`: what has been appended since is known."""
        if not all(type(number) is int for each in ("numbers", "known") for number in data[each].values()):
            raise ReportError(f"what is known of {self._path} is damaged")
        self._numbers = Counter(data["numbers"])
        self._known = Counter(data["known"])
        with self._errors():
            for line in self._lines_from(int(data["size"])):
                try:
                    found = json.loads(line)
                    spec, number = str(found["spec"]), int(found["number"])
                except (*UNDECODABLE, KeyError, TypeError, OverflowError):
                    hint = "nothing else may write there; give another file"
                    raise ReportError(f"{self._path} has lines that are no verdicts", hint=hint) from None
                self._known[spec] = max(self._known[spec], number)

    def _lines_from(self, at: int) -> Iterator[bytes]:
        rest = b""
        while piece := os.pread(self._file, _PIECE, at):
            at += len(piece)
            *lines, rest = (rest + piece).split(b"\n")
            yield from lines

    def _claim(self) -> None:
        """What another run is just writing must not be cut off. The claim goes with the process."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            hint = "give each its own file"
            raise ReportError(f"another `mopsus watch` writes its verdicts to {self._path}", hint=hint) from None
        except OSError as error:
            if error.errno not in (errno.ENOLCK, errno.ENOTSUP):  # not every file system has locks
                raise

    def _cut_off(self) -> None:
        """A line that a run was killed in the midst of comes once more."""
        size = end = os.fstat(self._file).st_size
        while end:
            start = max(0, end - _PIECE)
            place = os.pread(self._file, end - start, start).rfind(b"\n")
            if place >= 0:
                end = start + place + 1
                break
            end = start
        if end < size:
            os.ftruncate(self._file, end)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            hint = "check that the folder exists and may be written, and that the disk has room"
            raise ReportError(f"cannot write verdicts to {self._path}: {reason}", hint=hint) from error
