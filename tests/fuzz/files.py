"""A folder for targets whose readers want files, one for each process; below that of `tools/fuzz`, which removes it."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path


@cache
def folder() -> Path:
    """The folder of this process, empty at first."""
    found = tempfile.mkdtemp(prefix="mopsus-fuzz-")
    atexit.register(shutil.rmtree, found, ignore_errors=True)
    return Path(found)


def file_of(name: str, data: bytes) -> Path:
    """A file of that name with this in it."""
    path = folder() / name
    path.write_bytes(data)
    return path
