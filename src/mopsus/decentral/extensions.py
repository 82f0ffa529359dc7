"""What users add to experiments in Python: found by entry point, or in a file that stands beside what names it."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Iterable
from importlib.metadata import entry_points
from pathlib import Path

from mopsus.decentral.errors import DecentralError
from mopsus.logics.text import suggestion


def load_object(name: str, folder: Path, group: str, others: Iterable[str]) -> object:
    """What `file.py:Name` or the name of an entry point stands for; `others` are names that would also do.

    The code of a file is run: whoever names one trusts it.
    """
    file, colon, attribute = name.rpartition(":")
    if colon:
        return _from_file(folder / file, attribute)
    points = entry_points(group=group)
    for point in points:
        if point.name == name:
            try:
                return point.load()
            except Exception as error:  # it may fail in any way while it is imported
                raise _broken(name, error) from error
    known = [*others, *(point.name for point in points)]
    raise DecentralError(
        f"there is no '{name}'",
        hint=suggestion(name, known) or f"there is: {', '.join(known)}; or file.py:Name",
        code="DECENTRAL-084",
    )


def _from_file(path: Path, attribute: str) -> object:
    if not path.is_file():
        raise DecentralError(f"there is no file {path}", code="DECENTRAL-084")
    # Files of one name in different folders are different modules; a file that is named twice is one.
    module_name = f"mopsus_added_{path.stem}_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:8]}"
    if module_name not in sys.modules:
        spec = importlib.util.spec_from_file_location(module_name, path)
        if spec is None or spec.loader is None:
            raise DecentralError(f"{path} is no Python file", code="DECENTRAL-084")
        module = importlib.util.module_from_spec(spec)
        sys.modules[module_name] = module
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            del sys.modules[module_name]
            raise _broken(str(path), error) from error
    found = getattr(sys.modules[module_name], attribute, None)
    if found is None:
        raise DecentralError(f"{path} has no '{attribute}'", code="DECENTRAL-084")
    return found


def _broken(what: str, error: Exception) -> DecentralError:
    return DecentralError(f"{what} cannot be loaded: {type(error).__name__}: {error}", code="DECENTRAL-084")
