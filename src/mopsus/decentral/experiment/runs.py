"""A whole experiment: specifications are checked, then every run that has no result yet is carried out.

Results are written every so often, whole runs at a time. An experiment that was killed goes on where its results end:
no run is in them twice, and one that was going on when the experiment ended is begun anew.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias, TypeVar

from mopsus.decentral.errors import DecentralError
from mopsus.decentral.experiment.keep import write_lists
from mopsus.decentral.experiment.pool import Failed, carry_out
from mopsus.decentral.experiment.runner import Runner
from mopsus.decentral.experiment.settings import Experiment
from mopsus.decentral.measures.points import Value
from mopsus.decentral.measures.store import Failure, Row, RunKey, Store
from mopsus.stopping import STOPPING

Item = TypeVar("Item")

BATCH = 50
"""Runs that a process is given at once: enough that it never waits, few enough that all have something to do."""

WRITE_EVERY_S = 1.0
WRITE_AT_ONCE = 200
"""Results are written after that time, or when there are so many."""

Advance: TypeAlias = "Callable[[int, int], object]"
"""Called with how many are done, and how many there are."""


def ignore(done: int, total: int) -> None:
    """Nobody wants to know how far it is."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What came of an experiment."""

    runs: int
    """All runs of the experiment."""
    before: int
    """Those of them that had a result when it began."""
    failures: tuple[Failure, ...]
    left: int = 0
    """Runs that were not carried out, because a signal came."""

    @property
    def finished(self) -> int:
        """Runs that have a result now."""
        return self.runs - len(self.failures) - self.left


def check_specs(experiment: Experiment, processes: int, advance: Advance = ignore) -> dict[str, str]:
    """The specifications that are not worth running, and why."""
    if experiment.settings.check.skip:
        return {}
    specs = list(dict.fromkeys(spec for each in experiment.specs for spec in each))
    reasons = dict.fromkeys(specs, "")
    answers = carry_out(_batches(specs, processes, BATCH), partial(_open_checks, experiment), processes)
    for done, (spec, answer) in enumerate(answers, 1):
        reasons[spec] = answer.message if isinstance(answer, Failed) else answer
        advance(done, len(specs))
    if experiment.settings.check.write:
        write_lists(experiment, reasons)
    return {spec: reason for spec, reason in reasons.items() if reason}


def run_missing(
    experiment: Experiment, discarded: Mapping[str, str], processes: int, advance: Advance = ignore
) -> Summary:
    """Carry out the runs that have no result. `DecentralError` if that cannot begin; runs that fail are in the
    summary."""
    runs = list(_runs(experiment, discarded))
    if not runs:
        raise DecentralError(
            "no specification is left to run",
            hint="; ".join(f"{spec}: {reason}" for spec, reason in list(discarded.items())[:3]),
            code="DECENTRAL-083",
        )
    with Store(experiment.results) as store:
        store.claim(experiment.title, experiment.identities())
        finished = store.finished()
        missing = [run for run in runs if run not in finished]
        answers = carry_out(_batches(missing, processes, BATCH), partial(_open_runs, experiment), processes)
        done, failures = _write_all(store, answers, lambda done: advance(done, len(missing)))
    return Summary(len(runs), len(runs) - len(missing), tuple(sorted(failures)), len(missing) - done)


def _runs(experiment: Experiment, discarded: Mapping[str, str]) -> Iterator[RunKey]:
    """All runs; those that have the same specification are near each other."""
    for series, specs in zip(experiment.settings.series, experiment.specs, strict=True):
        for spec in specs:
            if spec in discarded:
                continue
            for algorithm in experiment.settings.algorithms:
                for trace in range(series.first, series.first + series.runs):
                    yield RunKey(series.name, spec, trace, algorithm)


def _write_all(
    store: Store, answers: Iterable[tuple[RunKey, dict[str, Value] | Failed]], advance: Callable[[int], object]
) -> tuple[int, list[Failure]]:
    """Store answers as they come, until a signal does; how many came, and which of them are failures."""
    done = 0
    rows: list[Row] = []
    failures: list[Failure] = []
    known_failures = 0
    written_at = time.monotonic()
    try:
        for done, (run, answer) in enumerate(answers, 1):
            if isinstance(answer, Failed):
                failures.append(Failure(run, answer.message))
            else:
                rows.append((run, answer))
            if len(rows) >= WRITE_AT_ONCE or time.monotonic() - written_at > WRITE_EVERY_S:
                store.write(rows, failures[known_failures:])
                rows, known_failures, written_at = [], len(failures), time.monotonic()
            advance(done)
    except KeyboardInterrupt:
        if not STOPPING.is_set():
            raise
        STOPPING.heed()
    finally:  # also when it is interrupted
        store.write(rows, failures[known_failures:])
    return done, failures


def _batches(items: Sequence[Item], processes: int, most: int) -> Iterable[Sequence[Item]]:
    """Batches so small that every process gets several of them."""
    size = max(1, min(most, len(items) // (processes * 4)))
    return (items[start : start + size] for start in range(0, len(items), size))


def _open_checks(experiment: Experiment) -> Callable[[str], str]:
    return Runner(experiment).check


def _open_runs(experiment: Experiment) -> Callable[[RunKey], dict[str, Value]]:
    return Runner(experiment).run
