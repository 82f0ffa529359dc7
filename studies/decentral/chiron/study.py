"""The study as an experiment: runs are played into a folder, and measured by algorithm and specification."""

from __future__ import annotations

import shutil
from collections import defaultdict
from pathlib import Path

import msgspec

from mopsus.decentral.algorithms.split import split_formula
from mopsus.decentral.experiment.settings import Experiment, load_experiment
from mopsus.decentral.load import load_specification
from mopsus.decentral.traces import system_of, write_run
from studies.decentral.chiron import NAMES, SPECS
from studies.decentral.chiron.traces import generate_run
from studies.decentral.experiments import Advance, carry_out, rows
from studies.decentral.results import Chiron
from studies.decentral.summary import Totals

RUNS = 100
SEQUENTIAL = "chor, in turn"
"""Choreography with monitors that begin at a timestamp only when they are done with the one before."""


def prepare(folder: Path, runs: int = RUNS) -> Experiment:
    """The experiment in a folder, with its traces."""
    shutil.copytree(SPECS, folder / "specs")
    for number in range(runs):
        write_run(folder / "traces", number, generate_run(number))
    file = Path(shutil.copy(SPECS.with_name("experiment.toml"), folder))
    experiment = load_experiment(file)
    series = [msgspec.structs.replace(each, runs=runs) for each in experiment.settings.series]
    return Experiment(msgspec.structs.replace(experiment.settings, series=series), file)


def run(experiment: Experiment, processes: int, advance: Advance) -> Chiron:
    """Carry out all runs. `StudyError` if one fails."""
    cells: defaultdict[str, Totals] = defaultdict(Totals)
    verdicts: defaultdict[str, set[str]] = defaultdict(set)
    for each in (experiment, _sequential(experiment)):
        carry_out(each, processes, advance)
        for measures in rows(each):
            spec = Path(str(measures["spec"])).stem
            algorithm = measures["alg"] if each is experiment else SEQUENTIAL
            cells[f"{algorithm}/{spec}"].add(measures)
            verdicts[spec].add("?" if measures["verdict"] is None else str(bool(measures["verdict"])).lower())
    return Chiron(
        runs=sum(totals.count for totals in cells.values()),
        cells={name: totals.means() for name, totals in cells.items()},
        verdicts={name: ", ".join(sorted(verdicts[name])) for name in NAMES},
        edges={name: _references(name) for name in NAMES},
    )


def _sequential(experiment: Experiment) -> Experiment:
    settings = msgspec.structs.replace(
        experiment.settings,
        algorithms=["chor"],
        options={"chor": {"respawn": "sequential"}},
        results="sequential.db",
    )
    return Experiment(settings, experiment.file)


def _references(name: str) -> int:
    """How many verdicts the choreography of a specification tells at each timestamp."""
    (monitor,) = load_specification(SPECS / f"{name}.toml").specification.monitors.values()
    assert monitor.formula is not None
    choreography = split_formula(monitor.formula, system_of(generate_run(0)))
    return sum(len(part.receivers) for part in choreography.parts.values())
