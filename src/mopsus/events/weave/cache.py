"""Stage 4: rewritten code kept from one run to the next.

Beside the compiled code of modules that Python keeps there is, in the user's cache folder, that of rewritten ones:
one file for each source file, plan of rewriting and version of Python. It is valid as Python's own files are: as long
as the source has the same size and time. That a source has nothing to rewrite is told by a link to nowhere, which is
read more quickly than a file. What cannot be read, is damaged or belongs to somebody else counts as
absent, and failing to write is no failure.
"""

from __future__ import annotations

import hashlib
import importlib.util
import marshal
import os
import stat
import struct
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from types import CodeType
from typing import TypeAlias

from mopsus.events.weave.sites import Place

_HEADER = struct.Struct("<8sqq8s")
_MAGIC = b"mopsus01"


Rewritten: TypeAlias = tuple[frozenset[Place], CodeType | None]
"""The sites that code refers to, and the code; None: there is nothing to rewrite."""


_NOTHING: Rewritten = (frozenset(), None)


def _nothing(name: str, mtime: int, size: int) -> Rewritten | None:
    """That there is nothing to rewrite, if that was stored."""
    with suppress(OSError):
        return _NOTHING if os.readlink(name) == _stamp(mtime, size) else None
    return None


def _stamp(mtime: int, size: int) -> str:
    return f"{mtime}.{size}"


class CodeCache:
    """Rewritten code by source file and plan."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._trusted: bool | None = None

    def load(self, path: str, plan: str, mtime: int, size: int) -> Rewritten | None:
        """What was stored; None if that is not valid."""
        if not self._is_trusted():
            return None
        name = self._file(path, plan)
        try:
            handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return _nothing(name, mtime, size)
        try:
            with open(handle, "rb", buffering=0) as file:
                data = memoryview(file.readall())
            magic, its_mtime, its_size, check = _HEADER.unpack_from(data)
            payload = data[_HEADER.size :]
            if (magic, its_mtime, its_size) != (_MAGIC, mtime, size) or check != importlib.util.source_hash(payload):
                return None
            places, code = marshal.loads(payload)
        except (OSError, struct.error, ValueError, EOFError, TypeError):
            return None
        return frozenset(map(Place._make, places)), code

    def store(self, path: str, plan: str, mtime: int, size: int, made: Rewritten) -> None:
        """Keep code, unless Python was told to keep none."""
        places, code = made
        if sys.dont_write_bytecode:
            return
        plain = [tuple(place) for place in sorted(places)]
        payload = marshal.dumps((plain, code))
        header = _HEADER.pack(_MAGIC, mtime, size, importlib.util.source_hash(payload))
        with suppress(OSError):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._trusted = None
            if not self._is_trusted():
                return
            # Complete or not there: other processes may read it at any time.
            handle, temporary = tempfile.mkstemp(dir=self.folder)
            try:
                with open(handle, "wb") as file:
                    file.write(header + payload)
                if code is None:
                    os.unlink(temporary)
                    os.symlink(_stamp(mtime, size), temporary)
                os.replace(temporary, self._file(path, plan))
            except OSError:
                Path(temporary).unlink(missing_ok=True)

    @property
    def folder(self) -> Path:
        """Where it is."""
        if self._folder is None:
            base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
            self._folder = Path(base) / "mopsus" / "code"
        return self._folder

    def _is_trusted(self) -> bool:
        """Code is run from there: nobody else may have written it."""
        if self._trusted is None:
            try:
                found = os.stat(self.folder)
                writable = stat.S_IWGRP | stat.S_IWOTH
                self._trusted = found.st_uid == os.getuid() and not found.st_mode & writable
            except (OSError, RuntimeError):  # absent, or no home
                return False
        return self._trusted

    def _file(self, path: str, plan: str) -> str:
        told = f"{sys.implementation.cache_tag}/{sys.flags.optimize}/{plan}/{path}"
        return f"{self.folder}/{hashlib.blake2b(told.encode(), digest_size=16).hexdigest()}"
