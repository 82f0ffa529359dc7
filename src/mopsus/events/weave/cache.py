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

from mopsus.events.weave.sites import NOTHING, Place, Rewritten
from mopsus.kept import KeptFolder


class CodeCache:
    """Rewritten code by source file and plan."""

    def __init__(self, folder: Path | None = None) -> None:
        self._kept = KeptFolder("code", folder)

    def load(self, path: str, plan: str, mtime: int, size: int) -> Rewritten | None:
        """What was stored; None if that is not valid."""
        name = _name(path, plan)
        data = self._kept.read(name)
        if data is None:
            return NOTHING if self._kept.linked(name) == _stamp(mtime, size) else None
        try:
            stamp, given, code, original = marshal.loads(data)
            places = tuple(map(Place._make, given))
        except (EOFError, RecursionError, TypeError, ValueError):
            return None
        texts = [text for place in places for text in place]
        if stamp != _stamp(mtime, size) or not all(isinstance(text, str) for text in texts):
            return None
        if not isinstance(code, CodeType) or not isinstance(original, bytes):
            return None
        return Rewritten(places, code, original)

    def store(self, path: str, plan: str, mtime: int, size: int, made: Rewritten) -> None:
        """Keep code that has not been bound, unless Python was told to keep none."""
        name, stamp = _name(path, plan), _stamp(mtime, size)
        if made is NOTHING:
            self._kept.link(name, stamp)
        else:
            places = [tuple(place) for place in made.places]
            self._kept.write(name, marshal.dumps((stamp, places, made.code, made.original)))


def _name(path: str, plan: str) -> str:
    told = f"{sys.implementation.cache_tag}/{sys.flags.optimize}/{plan}/{path}"
    return hashlib.blake2b(told.encode(), digest_size=16).hexdigest()


def _stamp(mtime: int, size: int) -> str:
    return f"{mtime}.{size}"
