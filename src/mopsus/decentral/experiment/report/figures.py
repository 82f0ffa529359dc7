"""The figures by which algorithms are compared, and their distribution over the runs of an experiment.

Most are divided by the length of the run, because algorithms need different numbers of rounds for the same trace.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from typing import NamedTuple

from mopsus.decentral.errors import DecentralError
from mopsus.decentral.measures.points import Value
from mopsus.decentral.measures.store import Failure, Store
from mopsus.logics.text import suggestion

ALGORITHMS = ("orch", "migr", "migrr", "chor", "general")
"""In the order in which they are shown; others follow."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A number for each run: a column, maybe divided by another one."""

    key: str
    title: str
    short: str
    """For the head of a table."""
    column: str
    divisor: str | None = None

    def of(self, value: Value, divisor: Value) -> float | None:
        """The number; None if it was not measured. Where nothing was counted, the mean is 0."""
        if not isinstance(value, int | float):
            return None
        if self.divisor is None:
            return float(value)
        if not isinstance(divisor, int | float):
            return None
        return value / divisor if divisor else 0.0


FIGURES = (
    Figure("delay_gap", "Delay: timestamps between known states", "delay (gap)", "delay_gap_sum", "delay_gap_num"),
    Figure("delay_batch", "Delay: timestamps known at once", "delay (batch)", "delay_batch_sum", "delay_batch_num"),
    Figure("delay_age", "Delay: rounds until a state is known", "delay (age)", "delay_age_sum", "delay_age_num"),
    Figure("delay_verdict", "Delay: rounds until the verdict is reported", "delay (verdict)", "delay_verdict"),
    Figure("messages", "Messages per round", "messages", "msg_num", "run_len"),
    Figure("data", "Data per round", "data", "msg_data", "run_len"),
    Figure("simplifications_max", "Most simplifications of a monitor in a round", "simp. (max)", "simp_max"),
    Figure("simplifications", "Critical simplifications per round", "simp. (crit)", "simp_crit", "run_len"),
    Figure("convergence_s", "Convergence of simplifications", "conv. (simp.)", "conv_s", "run_len"),
    Figure("convergence_e", "Convergence of evaluations", "conv. (eval.)", "conv_e", "run_len"),
)


@dataclass(frozen=True, slots=True)
class Distribution:
    """Of a figure over many runs."""

    count: int
    mean: float
    deviation: float
    quantiles: tuple[float, float, float, float, float]
    """5 %, 25 %, 50 %, 75 % and 95 % of the runs have at most these."""


Group = tuple[Value, ...]
"""An algorithm, and what else runs are told apart by."""


class Verdicts(NamedTuple):
    """How many runs of an algorithm found what."""

    true: int
    false: int
    unknown: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """All that a report shows."""

    by: tuple[str, ...]
    """The columns by which runs of an algorithm are told apart."""
    groups: tuple[Group, ...]
    figures: dict[str, dict[Group, Distribution]]
    """By the key of the figure; those that were not measured are missing."""
    verdicts: dict[Group, Verdicts]
    disagreements: int
    """Specifications and traces for which algorithms have found different verdicts."""
    failures: tuple[Failure, ...]


def compare(store: Store, by: Sequence[str] = ("comps",)) -> Comparison:
    """Compare the algorithms of an experiment. `DecentralError` if there are no runs, or no such columns, or values
    that no run has."""
    try:
        return _compare(store, by)
    except (ArithmeticError, TypeError) as error:
        raise DecentralError(f"the results have values that no run has: {error}", code="DECENTRAL-082") from error


def _compare(store: Store, by: Sequence[str]) -> Comparison:
    columns = store.columns()
    for column in by:
        if column not in columns:
            raise DecentralError(f"runs have no '{column}'", hint=suggestion(column, columns), code="DECENTRAL-083")
    measured = [each for each in FIGURES if {each.column, each.divisor or each.column} <= set(columns)]
    values: dict[str, dict[Group, list[float]]] = {each.key: defaultdict(list) for each in measured}
    needed = [name for each in measured for name in (each.column, each.divisor or each.column)]
    for row in store.select(["alg", *by, *needed]):
        group, numbers = row[: 1 + len(by)], iter(row[1 + len(by) :])
        for figure in measured:
            number = figure.of(next(numbers), next(numbers))
            if number is not None:
                values[figure.key][group].append(number)
    verdicts, disagreements = _verdicts(store, by)
    if not verdicts:
        raise DecentralError("no run is stored", hint="run the experiment first", code="DECENTRAL-083")
    return Comparison(
        tuple(by),
        tuple(sorted(verdicts, key=_order)),
        {key: {group: distribution(each) for group, each in found.items()} for key, found in values.items() if found},
        verdicts,
        disagreements,
        tuple(store.failures()),
    )


def distribution(numbers: Sequence[float]) -> Distribution:
    """Of at least one number."""
    ordered = sorted(numbers)
    count = len(ordered)
    mean = fsum(ordered) / count
    deviation = sqrt(fsum((number - mean) ** 2 for number in ordered) / count)

    def quantile(share: float) -> float:
        place = share * (count - 1)
        low = int(place)
        high = min(low + 1, count - 1)
        return ordered[low] + (ordered[high] - ordered[low]) * (place - low)

    low, first, middle, third, high = map(quantile, (0.05, 0.25, 0.5, 0.75, 0.95))
    return Distribution(count, mean, deviation, (low, first, middle, third, high))


def _verdicts(store: Store, by: Sequence[str]) -> tuple[dict[Group, Verdicts], int]:
    if "verdict" not in store.columns():
        return {row: Verdicts(0, 0, 0) for row in store.select(["alg", *by])}, 0
    found: Counter[tuple[Group, Value]] = Counter()
    known: dict[Group, set[Value]] = defaultdict(set)
    for series, spec, trace, verdict, *group in store.select(["series", "spec", "trace", "verdict", "alg", *by]):
        found[tuple(group), verdict] += 1
        if verdict is not None:
            known[series, spec, trace].add(verdict)
    groups = {group for group, _ in found}
    counted = {group: Verdicts(*(found[group, verdict] for verdict in (1, 0, None))) for group in groups}
    return counted, sum(len(verdicts) > 1 for verdicts in known.values())


def _order(group: Group) -> tuple[int, tuple[tuple[bool, bool, Value], ...]]:
    algorithm = group[0]
    place = ALGORITHMS.index(algorithm) if algorithm in ALGORITHMS else len(ALGORITHMS)
    return place, tuple((each is not None, isinstance(each, str), each if each is not None else 0) for each in group)
