"""What a run is about, from files: a specification, and a folder with the traces of its components."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from pathlib import Path

from mopsus.decentral.errors import DecentralError
from mopsus.decentral.load import Loaded
from mopsus.decentral.specification import Specification
from mopsus.decentral.system import System
from mopsus.decentral.traces import Trace, read_run, system_of, trace_path


def load_run(loaded: Loaded, folder: Path, number: int) -> tuple[System, dict[str, Trace]]:
    """The system, and what each component observes in a run. If the file of the specification describes no system, it
    is what the traces show. `DecentralError` if a trace is missing or wrong."""
    if not folder.is_dir():
        raise DecentralError(f"there is no folder {folder}", code="DECENTRAL-040")
    if loaded.system is None:
        run = read_run(folder, number, component_count(folder, number))
        return system_of(run), run
    read = read_run(folder, number, len(loaded.system.components))
    return loaded.system, dict(zip(loaded.system.components, read.values(), strict=True))


def with_root(specification: Specification, root: str | None) -> Specification:
    """The specification with another root, if one is named."""
    return specification if root is None else replace(specification, named_root=root)


def component_count(folder: Path, number: int) -> int:
    """How many components have a trace of a run, from the first on, which must have one."""
    return next(each for each in count(1) if not trace_path(folder, number, each).is_file())
