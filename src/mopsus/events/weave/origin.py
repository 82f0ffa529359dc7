"""Stage 4: whose code a module is: the program's own, installed, or ours, which is never watched."""

from __future__ import annotations

import site
import sysconfig
from collections.abc import Iterable
from pathlib import Path


def is_ours(module: object) -> bool:
    """Is this the name of a module of Mopsus?"""
    return isinstance(module, str) and module.partition(".")[0] == "mopsus"


def is_own(path: str) -> bool:
    """Does a file belong to the program, rather than to the standard library or an installed package?"""
    return not path.startswith(_INSTALLED)


def _folders() -> Iterable[str]:
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    yield from (sysconfig.get_path(name) for name in names)
    yield from site.getsitepackages()
    yield site.getusersitepackages()


_INSTALLED = tuple({str(Path(folder)) + "/" for folder in _folders()})
