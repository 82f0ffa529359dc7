"""Studies that are experiments: every run must succeed, and what was measured is read from the results."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator

from mopsus.decentral.experiment.runs import check_specs, run_missing
from mopsus.decentral.experiment.settings import Experiment
from studies.decentral.summary import Measures
from studies.error import StudyError

Advance = Callable[[int, int], object]
"""Called with how many runs are done, and how many there are."""


def carry_out(experiment: Experiment, processes: int, advance: Advance) -> float:
    """Carry out all runs of an experiment that was not begun before; how many seconds that takes.

    `StudyError` if a specification or a run is refused.
    """
    start = time.perf_counter()
    discarded = check_specs(experiment, processes)
    summary = run_missing(experiment, discarded, processes, advance)
    seconds = time.perf_counter() - start
    for spec, reason in discarded.items():
        raise StudyError(f"{spec} is not run: {reason}")
    for failure in summary.failures:
        raise StudyError(f"{failure.run} has failed: {failure.message}")
    if summary.before:
        raise StudyError(f"{summary.before} runs were there before", hint=f"delete {experiment.results}")
    return seconds


def rows(experiment: Experiment) -> Iterator[Measures]:
    """The measures of all runs."""
    with sqlite3.connect(experiment.results) as connection:
        connection.row_factory = sqlite3.Row
        for row in connection.execute("SELECT * FROM bench"):
            yield dict(row)
