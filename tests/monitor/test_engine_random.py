"""The engine against Algorithm C on random specs and traces, through every way into it.

`MOPSUS_CASES` is the number of pairs of a spec and a trace that are compared in all.
"""

from __future__ import annotations

import os
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from monitor.ways import WAYS, Way
from oracle.compiled import subject_of
from oracle.slicing import AlgorithmB, AlgorithmC, Subject, run
from oracle.strategies import Case, drawn, random_case, random_spec, random_trace, smallest

from mopsus.model import BindingMode, Spec

CASES = int(os.environ.get("MOPSUS_CASES", "5000"))
TRACES_PER_SPEC = 8
SHARES = 4
"""Each way's cases come in so many tests, so that they can run side by side."""


def agrees(way: Way, subject: Subject, case: Case, seed: int) -> bool:
    return way.reports(case, Random(seed)) == run(AlgorithmC, subject, case.trace)


def explain(way: Way, case: Case, seed: int) -> str:
    """The smallest case like this one on which the engine errs, and how."""

    def fails(smaller: Case) -> bool:
        return not agrees(way, subject_of(smaller.spec), smaller, seed)

    least = smallest(case, fails)
    expected = run(AlgorithmC, subject_of(least.spec), least.trace)
    found = way.reports(least, Random(seed))
    missing = [report for report in expected if report not in found]
    invented = [report for report in found if report not in expected]
    return f"by {way}, seed {seed}\n{least}\nmissing: {missing}\ninvented: {invented}\nall found: {found}"


def spec_and_traces(way: Way, seed: int) -> list[Case]:
    rng = Random(seed)
    spec = random_spec(rng, parameters=rng.choice((1, 2, 4)))
    events = {event.name: event.parameters for event in spec.events}
    return [
        Case(spec, random_trace(rng, events, way.values, threads=spec.modifiers.perthread, noise=way.noise))
        for _ in range(TRACES_PER_SPEC)
    ]


@pytest.mark.parametrize("share", range(SHARES))
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_engine_reports_what_algorithm_c_reports(way, share):
    specs = -(-CASES // (len(WAYS) * TRACES_PER_SPEC * SHARES))
    for seed in range(share * specs, (share + 1) * specs):
        cases = spec_and_traces(way, seed)
        subject = subject_of(cases[0].spec)
        for case in cases:
            if not agrees(way, subject, case, seed):
                pytest.fail(explain(way, case, seed))


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_engine_reports_what_algorithm_c_reports_and_hypothesis_shrinks(way):
    @given(drawn(lambda rng: random_case(rng, way.values, noise=way.noise)))
    @settings(max_examples=60, deadline=None)
    def compare(case: Case) -> None:
        assert way.reports(case, Random(0)) == run(AlgorithmC, subject_of(case.spec), case.trace)

    compare()


def declared_everywhere(spec: Spec) -> Spec:
    return replace(spec, events=tuple(replace(event, creation=True) for event in spec.events))


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_engine_reports_what_algorithm_b_reports_if_every_event_creates(way):
    for seed in range(40):
        rng = Random(seed)
        case = random_case(rng, way.values, noise=way.noise)
        case = Case(declared_everywhere(case.spec), case.trace)
        assert way.reports(case, rng) == run(AlgorithmB, subject_of(case.spec), case.trace), f"seed {seed}\n{case}"


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_engine_reports_everything_that_algorithm_b_reports(way):
    for seed in range(60):
        rng = Random(seed)
        case = random_case(rng, way.values, noise=way.noise)
        declared = any(event.creation for event in case.spec.events)
        modifiers = case.spec.modifiers
        if declared or modifiers.suffix or modifiers.binding is BindingMode.MAXIMAL:
            continue  # what creates instances then decides who reports
        everything = run(AlgorithmB, subject_of(case.spec), case.trace)
        assert set(everything) <= set(way.reports(case, rng)), f"seed {seed}\n{case}"
