"""Tries an algorithm on random runs, and shows the simplest one on which it is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mopsus.decentral.algorithms.algorithm import Algorithm, Option, set_up
from mopsus.decentral.automaton import VERDICT_NAMES
from mopsus.decentral.errors import DecentralError
from mopsus.decentral.simulate.run import simulate
from mopsus.decentral.testing.cases import Case, draw_cases

MOST_TRIES = 300
"""How many simpler runs are tried once one is found that goes wrong."""


class WrongVerdictError(DecentralError, AssertionError):
    """An algorithm has not done what it promises; `case` is the simplest run that was found on which it has not."""

    code = "DECENTRAL-061"

    def __init__(self, message: str, case: Case) -> None:
        super().__init__(f"{message}\n{case.describe()}")
        self.case = case


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of the runs that were tried; all were right."""

    runs: int
    found: int
    """Runs in which the algorithm found the verdict."""
    open: int
    """Runs whose verdict nobody can know."""

    @property
    def missed(self) -> int:
        """Runs in which it might have been found, and was not."""
        return self.runs - self.found - self.open


def check_algorithm(
    algorithm: Algorithm,
    *,
    runs: int = 200,
    seed: int = 0,
    complete: bool = True,
    references: bool = False,
    circles: bool = False,
    pauses: bool = False,
    faults: bool = True,
    options: Mapping[str, Option] | None = None,
) -> Checked:
    """Try an algorithm on random formulas, systems, traces and networks.

    Whatever it finds must be the verdict of whoever sees everything at once. If it is `complete`, it must also find
    that verdict wherever everything that is sent arrives in the end; if not, it may always say nothing. With
    `references`, specifications are monitors that refer to each other, with `circles` also in a circle. With
    `pauses`, there are timestamps at which nobody observes anything, and nothing moves then. `WrongVerdictError`, which
    is also an `AssertionError`, if something is not so; equal arguments try the same.
    """
    found = unknown = 0
    cases = draw_cases(runs, seed=seed, references=references, circles=circles, pauses=pauses, faults=faults)
    for case in cases:
        try:
            verdict = check_case(algorithm, case, complete=complete, options=options)
        except WrongVerdictError as error:
            simplest = _simplest(algorithm, error, complete, options)
            raise simplest from simplest.__cause__
        found += verdict is not None
        unknown += case.expected is None
    return Checked(runs, found, unknown)


def check_case(
    algorithm: Algorithm, case: Case, *, complete: bool = True, options: Mapping[str, Option] | None = None
) -> bool | None:
    """Try one run, and give the verdict that was found in it. Errors as those of `check_algorithm`."""
    task = case.task(options or {})
    try:
        parts = set_up(algorithm, task)
        outcome = simulate(
            parts,
            task,
            case.traces,
            algorithm=algorithm,
            network=case.faults(parts),
            limit=case.limit(parts),
            seed=case.seed,
        )
    except Exception as error:  # an algorithm may fail in any way
        raise WrongVerdictError(f"the algorithm failed: {type(error).__name__}: {error}", case) from error
    if outcome.verdict == case.expected:
        return outcome.verdict
    if outcome.verdict is None and not (complete and case.reliable):
        return None
    found, expected = VERDICT_NAMES[outcome.verdict], VERDICT_NAMES[case.expected]
    raise WrongVerdictError(f"the algorithm found '{found}', but whoever sees everything finds '{expected}'", case)


def _simplest(
    algorithm: Algorithm, error: WrongVerdictError, complete: bool, options: Mapping[str, Option] | None
) -> WrongVerdictError:
    """The error of the simplest run that goes wrong, found by leaving out one thing after the other."""
    tries = 0
    again = True
    while again:
        again = False
        for case in error.case.simpler():
            tries += 1
            if tries > MOST_TRIES:
                break
            try:
                check_case(algorithm, case, complete=complete, options=options)
            except WrongVerdictError as simpler:
                error, again = simpler, True
                break
    return error
