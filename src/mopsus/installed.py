"""Where Python and packages are installed: code of the program's own is what lies nowhere there.

Folders are compared with, not names of folders: a project may lie in one that is called `site-packages`.
"""

from __future__ import annotations

import os
import site
import sysconfig
from collections.abc import Iterable
from functools import cache

from mopsus import untouched


def is_installed(path: str) -> bool:
    """Does a file belong to the standard library or an installed package?"""
    return path.startswith(_FOLDERS) or _is_below(path.rpartition(os.sep)[0])


def installed_below(folder: str) -> tuple[str, ...]:
    """Where packages are installed below a folder, such as that of the standard library: their code is not its code."""
    own = tuple(os.path.join(folder, name, "") for name in ("site-packages", "dist-packages"))
    return (*own, *(each for each in _FOLDERS if each.startswith(folder) and each != folder))


@cache
def _is_below(folder: str) -> bool:
    """Is it one of them by another name, through a symbolic link?"""
    return f"{untouched.realpath(folder).rstrip(os.sep)}{os.sep}".startswith(_FOLDERS)


def _folders() -> Iterable[str]:
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    yield from (sysconfig.get_path(name) for name in names)
    yield from site.getsitepackages()
    yield site.getusersitepackages()


def _spellings(folder: str) -> set[str]:
    return {os.path.join(os.path.abspath(folder), ""), os.path.join(os.path.realpath(folder), "")}


_FOLDERS = tuple(sorted(set[str]().union(*map(_spellings, _folders()))))
