"""The benchmark as an experiment: formulas are drawn, all runs carried out, and their measures summed up."""

from __future__ import annotations

import shutil
from collections import defaultdict
from pathlib import Path

import msgspec

from mopsus.decentral.experiment.settings import Experiment, load_experiment
from mopsus.decentral.generate.formulas import fill_template, generate_formulas
from mopsus.decentral.traces import default_components
from studies.decentral.experiments import Advance, carry_out, rows
from studies.decentral.results import Synthetic
from studies.decentral.summary import Totals
from studies.error import StudyError

HERE = Path(__file__).parent
SIZES = (3, 4, 5, 6)
FORMULAS = 100
TOLD_APART = 6
"""The number of components for which distributions are told apart."""


def prepare(folder: Path, *, formulas: int = FORMULAS, traces: int | None = None) -> Experiment:
    """The experiment in a folder, with formulas drawn; with fewer of them, or fewer traces of each distribution, it is
    smaller than that of the thesis."""
    folder.mkdir(parents=True, exist_ok=True)
    file = Path(shutil.copy(HERE / "experiment.toml", folder))
    template = (HERE / "template.xml").read_text(encoding="utf-8")
    for size in SIZES:
        specs = folder / "specs" / str(size)
        specs.mkdir(parents=True)
        for number, formula in enumerate(generate_formulas(formulas, default_components(size, 2), seed=size)):
            (specs / f"{number}.xml").write_text(fill_template(template, formula), encoding="utf-8")
    experiment = load_experiment(file)
    if traces is None:
        return experiment
    fewer = [msgspec.structs.replace(series, runs=traces) for series in experiment.settings.series]
    return Experiment(msgspec.structs.replace(experiment.settings, series=fewer), file)


def run(experiment: Experiment, processes: int, advance: Advance) -> Synthetic:
    """Carry out all runs. `StudyError` if one fails, or if algorithms contradict each other."""
    seconds = carry_out(experiment, processes, advance)
    sizes: defaultdict[str, Totals] = defaultdict(Totals)
    distributions: defaultdict[str, Totals] = defaultdict(Totals)
    verdicts: defaultdict[tuple[object, ...], set[object]] = defaultdict(set)
    runs = undecided = 0
    for measures in rows(experiment):
        verdicts[measures["series"], measures["spec"], measures["trace"]].add(measures["verdict"])
        sizes[f"{measures['alg']}/{measures['comps']}"].add(measures)
        if measures["comps"] == TOLD_APART:
            distributions[f"{measures['alg']}/{measures['profile']}"].add(measures)
        runs += 1
        undecided += measures["verdict"] is None
    for case, found in verdicts.items():
        if len(found - {None}) > 1:
            raise StudyError(f"algorithms contradict each other: {case}")
    return Synthetic(
        cases=len(verdicts),
        agreed=sum(len(found) == 1 for found in verdicts.values()),
        formulas=len(experiment.specs[0]),
        traces=sum(series.runs for series in experiment.settings.series) // len(SIZES),
        runs=runs,
        seconds=round(seconds, 1),
        cores=processes,
        undecided=round(undecided / runs, 4),
        sizes={name: totals.means() for name, totals in sizes.items()},
        distributions={name: totals.means() for name, totals in distributions.items()},
    )
