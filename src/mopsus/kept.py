"""What is kept from one run to the next, so that it need not be made again: files in the user's cache folder.

Such files are a convenience and never a source of faults. What cannot be read, is damaged or belongs to somebody else
counts as absent, and failing to write is no failure.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib.util import source_hash
from threading import get_ident

from mopsus import untouched

_CHECK_SIZE = 8


class KeptFolder:
    """One folder of such files, by name; its own part of the cache folder, or one that is given."""

    def __init__(self, part: str, path: str | os.PathLike[str] | None = None) -> None:
        self._part = part
        self._path = os.fspath(path) if path is not None else None
        self._trusted: bool | None = None

    def read(self, name: str) -> memoryview | None:
        """What was written under a name; None if there is nothing, or nothing to be relied on."""
        if not self.is_trusted():
            return None
        try:
            handle = untouched.open_descriptor(self.file(name), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            with untouched.open_file(handle, "rb", buffering=0) as file:
                data = memoryview(file.readall())
        except OSError:
            return None
        payload = data[_CHECK_SIZE:]
        return payload if data[:_CHECK_SIZE] == source_hash(payload) else None

    def write(self, name: str, payload: bytes) -> None:
        """Keep it under a name, unless Python was told to keep nothing."""

        def make(temporary: str) -> None:
            with untouched.open_file(temporary, "xb") as file:
                file.write(source_hash(payload) + payload)

        self._replace(name, make)

    def linked(self, name: str) -> str | None:
        """What was said by a link; None if nothing was."""
        if not self.is_trusted():
            return None
        try:
            return untouched.readlink(self.file(name))
        except OSError:
            return None

    def link(self, name: str, told: str) -> None:
        """Say a short text by a link that leads nowhere: it is read more quickly than a file."""
        self._replace(name, lambda temporary: untouched.symlink(told, temporary))

    def _replace(self, name: str, make: Callable[[str], None]) -> None:
        if sys.dont_write_bytecode:
            return
        with suppress(OSError, RuntimeError):
            self._trusted = None
            if not self.is_trusted():
                untouched.makedirs(self.path, mode=0o700, exist_ok=True)
                self._trusted = None
                if not self.is_trusted():
                    return
            # Complete or not there: other processes may read it at any time.
            temporary = self.file(f"{name}.{untouched.getpid()}.{get_ident()}")
            try:
                make(temporary)
                untouched.rename_over(temporary, self.file(name))
            except OSError:
                untouched.unlink(temporary)

    def file(self, name: str) -> str:
        """Where something of a name is, if it is."""
        return f"{self.path}/{name}"

    @property
    def path(self) -> str:
        """Where the folder is; `RuntimeError` if the user has no home."""
        if self._path is None:
            base = untouched.environ.get("XDG_CACHE_HOME") or untouched.expanduser("~/.cache")
            if not untouched.isabs(base):
                raise RuntimeError("there is no home")
            self._path = f"{base}/mopsus/{self._part}"
        return self._path

    def is_trusted(self) -> bool:
        """Code is run from there: nobody else may have written it."""
        if self._trusted is None:
            try:
                found = untouched.stat(self.path)
            except (OSError, RuntimeError):
                return False
            writable = stat.S_IWGRP | stat.S_IWOTH
            self._trusted = found.st_uid == untouched.getuid() and not found.st_mode & writable
        return self._trusted
