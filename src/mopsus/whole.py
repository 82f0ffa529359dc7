"""A file that is whole or not there, however the process that writes it ends.

Where the system can, it has no name until it is complete, so that even a process that is killed leaves nothing behind.
"""

from __future__ import annotations

import os
import weakref
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO


class WholeFile:
    """What is written takes the place of `target` at `commit`; a reader sees the old file or the new one."""

    def __init__(self, target: Path, mode: int = 0o666) -> None:
        self._target = target
        self._hidden = target.with_name(f".mopsus-{os.urandom(8).hex()}")
        self._named = False
        try:
            handle = os.open(target.parent, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, mode)
        except (OSError, AttributeError):  # not on this file system, or not to be written at all
            handle = os.open(self._hidden, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
            self._named = True
        self.file: BinaryIO = os.fdopen(handle, "wb")
        self._abandon = weakref.finalize(self, _abandon, self.file, self._hidden if self._named else None)

    def commit(self, *, durable: bool = False) -> None:
        """Put the file in its place; if it is `durable`, it is there even if the machine stops."""
        self.file.flush()
        handle = self.file.fileno()
        if durable:
            os.fsync(handle)
        if not self._named:
            # With a folder given, the link is followed to the file that has no name.
            os.link(f"/proc/self/fd/{handle}", self._hidden, src_dir_fd=handle, follow_symlinks=True)
        try:
            os.replace(self._hidden, self._target)
        except OSError:
            os.unlink(self._hidden)
            raise
        self._abandon.detach()
        self.file.close()
        if durable:
            folder = os.open(self._target.parent, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)


def _abandon(file: BinaryIO, hidden: Path | None) -> None:
    """It may never have been completed: take back what was written."""
    with suppress(OSError):
        file.close()
    if hidden is not None:
        with suppress(OSError):
            hidden.unlink()
