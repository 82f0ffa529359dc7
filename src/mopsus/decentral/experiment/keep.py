"""The test that specifications must pass before an experiment runs them, and the lists of which did."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias, cast

from mopsus.decentral.analysis.monitorability import monitorability
from mopsus.decentral.errors import DecentralError
from mopsus.decentral.experiment.settings import Experiment
from mopsus.decentral.extensions import load_object
from mopsus.decentral.specification import Specification

Oracle: TypeAlias = Callable[[Specification], bool | str]
"""Is a specification worth running? True, or a text that says why not; False says nothing."""

REFUSED = "the oracle refuses it"


def is_monitorable(specification: Specification) -> bool | str:
    """Is it proven that its monitors can always reach a verdict?"""
    found = monitorability(specification)
    return found.proven or "; ".join(found.reasons())


ORACLES: Mapping[str, Oracle] = {"monitorable": is_monitorable}


def load_oracle(name: str, folder: Path) -> Oracle:
    """The oracle of a name, of an entry point in `mopsus.oracles`, or in a file."""
    if name in ORACLES:
        return ORACLES[name]
    found = load_object(name, folder, "mopsus.oracles", ORACLES)
    if not callable(found):
        raise DecentralError(f"the oracle '{name}' cannot be called", code="DECENTRAL-084")
    return cast(Oracle, found)


def reason_against(oracle: Oracle, specification: Specification) -> str:
    """Why a specification is not worth running; empty if it is."""
    answer = oracle(specification)
    return "" if answer is True else answer if isinstance(answer, str) else REFUSED


def write_lists(experiment: Experiment, reasons: Mapping[str, str]) -> None:
    """Write which specifications are kept, and which not and why, beside what names them: `.keep` and `.discard`."""
    lists: dict[Path, dict[str, str]] = {}
    for series, specs in zip(experiment.settings.series, experiment.specs, strict=True):
        lists.setdefault(experiment.list_of(series), {}).update((spec, reasons[spec]) for spec in specs)
    for path, judged in lists.items():
        kept = [spec for spec, reason in judged.items() if not reason]
        discarded = [f"{spec}  # {' '.join(reason.split())}" for spec, reason in judged.items() if reason]
        for suffix, lines in ((".keep", kept), (".discard", discarded)):
            path.with_name(path.name + suffix).write_text("".join(f"{line}\n" for line in lines), "utf-8")
