"""How monitors are set up to come to one verdict: algorithms by name."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from mopsus.decentral.algorithms.algorithm import Algorithm, AlgorithmError
from mopsus.decentral.extensions import load_object

GROUP = "mopsus.algorithms"
"""The entry points under which packages add algorithms."""

BUILT_IN = {
    "orch": "orchestration:Orchestration",
    "migr": "migration:EarliestObligation",
    "migrr": "migration:RoundRobin",
    "chor": "choreography:Choreography",
    "general": "general:General",
}


def load_algorithm(name: str, folder: Path | None = None) -> Algorithm:
    """The algorithm of that name, or `file.py:Name`, the file being in `folder`. `DecentralError` if there is none."""
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(":")
        found: object = getattr(import_module(f"{__name__}.{module}"), attribute)
    else:
        found = load_object(name, folder or Path(), GROUP, BUILT_IN)
    if isinstance(found, type) and issubclass(found, Algorithm):
        found = found()
    if not isinstance(found, Algorithm):
        raise AlgorithmError(f"'{name}' is not an algorithm", hint="it must be a subclass of Algorithm")
    return found
