"""Stage 4: whose code a module is: the program's own, installed, or ours, which is never watched."""

from __future__ import annotations

from mopsus.installed import is_installed


def is_ours(module: object) -> bool:
    """Is this the name of a module of Mopsus?"""
    return isinstance(module, str) and module.partition(".")[0] == "mopsus"


def is_own(path: str) -> bool:
    """Does a file belong to the program, rather than to the standard library or an installed package?"""
    return not is_installed(path)
