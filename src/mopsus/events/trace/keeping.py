"""Stage 4: the state of a run that follows a log, kept in a file, so that another run can go on where it ended.

The file is written whole, to the disk, and has a checksum; it is refused if it is damaged or about something else.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import stat
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from mopsus.model import UNDECODABLE, Diagnostic, MopsusError, TraceError
from mopsus.whole import WholeFile

VERSION = 1
INTERVAL_S = 10.0
SHARE = 20
"""Keeping the state takes at most one part in so many of the time."""


class Kept(Protocol):
    """Something whose state is kept."""

    def snapshot(self) -> Mapping[str, Any]:
        """The state, as data that JSON has."""

    def restore(self, data: Mapping[str, Any], /) -> None:
        """Take it over."""


class Keeper:
    """Keeps the state of a run in a file, every so often.

    `about` says what the run is about; a state about something else is refused. The `journal` is what is written while
    the run goes on, if its state is to be kept as well.
    """

    def __init__(
        self, path: Path, about: Mapping[str, Any], *, journal: Kept | None = None, interval_s: float = INTERVAL_S
    ) -> None:
        self._path = path
        self._about = dict(about)
        self._journal = journal
        self._interval_s = interval_s
        self._parts: dict[str, Kept] = {}
        self._next = 0.0
        self._lock: socket.socket | None = None
        self._written: bytes = b""

    def begin(self, reader: Kept, session: Kept) -> Sequence[Diagnostic]:
        """Take over the state of an earlier run, if there was one; what there is to say about that."""
        self._claim()
        self._parts = {"reader": reader, "session": session}
        if self._journal is not None:
            self._parts["journal"] = self._journal
        kept = self._read()
        if kept is not None:
            try:
                for name, part in self._parts.items():
                    part.restore(kept[name])
            except TraceError:
                raise
            except (MopsusError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
                raise self._refusal(f"the state cannot be taken over: {error}") from None
        # Before the first verdict: a run that is killed early must not leave verdicts that no state knows of.
        self.keep()
        if kept is None:
            return []
        message = f"went on from the state in {self._path}; what was found before is not in this report"
        return [Diagnostic("TRACE-016", message, warning=True)]

    def consider(self) -> None:
        """Everything that was read has been monitored: keep the state if it is time."""
        if time.monotonic() >= self._next:
            self.keep()

    def keep(self) -> None:
        """Keep the state as it is now."""
        started = time.monotonic()
        state = {name: part.snapshot() for name, part in self._parts.items()}
        body = json.dumps({"about": self._about, **state}, separators=(",", ":")).encode()
        if body != self._written:  # nothing has happened since
            try:
                file = WholeFile(self._path, 0o600)
                file.file.write(_heading(body) + body)
                file.commit(durable=True)
            except OSError as error:
                reason = error.strerror or str(error)
                raise TraceError(
                    f"the state cannot be written: {reason}",
                    file=str(self._path),
                    hint="check that the folder exists and may be written, and that the disk has room",
                    code="TRACE-014",
                ) from None
            self._written = body
        took = time.monotonic() - started
        self._next = started + max(self._interval_s, SHARE * took)

    def _read(self) -> dict[str, Any] | None:
        try:
            if not stat.S_ISREG(self._path.stat().st_mode):
                raise self._refusal("the state is no file")
            data = self._path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._refusal(f"the state cannot be read: {error.strerror or error}") from None
        heading, _, body = data.partition(b"\n")
        if heading + b"\n" != _heading(body):
            if heading.startswith(f"mopsus watch {VERSION} ".encode()):
                raise self._refusal("the state is damaged")
            raise self._refusal("this is no state, or one of another version")
        try:
            kept = json.loads(body)
        except UNDECODABLE:
            raise self._refusal("the state is damaged") from None
        about = kept.get("about") if isinstance(kept, dict) else None
        if not isinstance(about, dict):
            raise self._refusal("the state is damaged")
        for key, value in self._about.items():
            if about.get(key) != value:
                raise self._refusal(f"the state is of a run with another {key}")
        if about.keys() != self._about.keys():
            raise self._refusal("the state is of another run")
        return dict(kept)

    def _refusal(self, message: str) -> TraceError:
        hint = "use the log, specs and options that it was made with, or remove it to begin from the log's beginning"
        return TraceError(message, file=str(self._path), hint=hint, code="TRACE-014")

    def _claim(self) -> None:
        """Two runs with one state would each lose what the other has kept. The name goes with the process."""
        self._lock = socket.socket(socket.AF_UNIX)
        name = hashlib.sha256(os.fsencode(os.path.realpath(self._path))).hexdigest()
        try:
            self._lock.bind(f"\0mopsus-state-{name}")
        except OSError:
            self._lock.close()
            message = "another `mopsus watch` has this state"
            hint = "give each its own file"
            raise TraceError(message, file=str(self._path), hint=hint, code="TRACE-014") from None

    def close(self) -> None:
        """Let others have the state."""
        if self._lock is not None:
            self._lock.close()


def _heading(body: bytes) -> bytes:
    return f"mopsus watch {VERSION} {hashlib.sha256(body).hexdigest()}\n".encode()
