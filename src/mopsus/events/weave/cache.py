"""Stage 4: rewritten code kept from one run to the next.

Beside the compiled code of modules that Python keeps there is, in the user's cache folder, that of rewritten ones:
one file for each source file, plan of rewriting and version of Python. It is valid as Python's own files are: as long
as the source has the same size and time. That a source has nothing to rewrite is told by a link to nowhere, which is
read more quickly than a file.
"""

from __future__ import annotations

import hashlib
import marshal
import sys
from pathlib import Path
from types import CodeType
from typing import TypeAlias

from mopsus.events.weave.sites import Place
from mopsus.kept import KeptFolder

Rewritten: TypeAlias = tuple[frozenset[Place], CodeType | None]
"""The sites that code refers to, and the code; None: there is nothing to rewrite."""

_NOTHING: Rewritten = (frozenset(), None)


class CodeCache:
    """Rewritten code by source file and plan."""

    def __init__(self, folder: Path | None = None) -> None:
        self._kept = KeptFolder("code", folder)

    def load(self, path: str, plan: str, mtime: int, size: int) -> Rewritten | None:
        """What was stored; None if that is not valid."""
        name = _name(path, plan)
        data = self._kept.read(name)
        if data is None:
            return _NOTHING if self._kept.linked(name) == _stamp(mtime, size) else None
        try:
            stamp, places, code = marshal.loads(data)
        except (ValueError, EOFError, TypeError):
            return None
        return (frozenset(map(Place._make, places)), code) if stamp == _stamp(mtime, size) else None

    def store(self, path: str, plan: str, mtime: int, size: int, made: Rewritten) -> None:
        """Keep code, unless Python was told to keep none."""
        name, stamp, (places, code) = _name(path, plan), _stamp(mtime, size), made
        if code is None:
            self._kept.link(name, stamp)
        else:
            self._kept.write(name, marshal.dumps((stamp, [tuple(place) for place in sorted(places)], code)))


def _name(path: str, plan: str) -> str:
    told = f"{sys.implementation.cache_tag}/{sys.flags.optimize}/{plan}/{path}"
    return hashlib.blake2b(told.encode(), digest_size=16).hexdigest()


def _stamp(mtime: int, size: int) -> str:
    return f"{mtime}.{size}"
